-- include: redisson/publish shared
-- Compares the owner, ends its hold and wakes the head of the queue. Needs no latch: once the lock
-- is released, another release by the same owner finds nothing. A lock that had ended before wakes
-- the head all the same.
-- KEYS: the lock, its queue, their times. ARGV: owner, window in ms, channel.
-- 1 it was released | 0 another owner | 2 no lock
if redis.pcall('HEXISTS', lock, ARGV[1]) == 1 then
  redis.call('HDEL', lock, ARGV[1])
  wake_if_free(tonumber(ARGV[2]), ARGV[3])
  return 1
end
if redis.call('EXISTS', lock) == 1 then return 0 end
wake_if_free(tonumber(ARGV[2]), ARGV[3])
return 2
