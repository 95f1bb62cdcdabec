-- include: redisson/publish shared
-- Takes the lock from the owner that an administrator saw, and wakes the head of the queue. Leaves a
-- read-write lock as it is: its holds have keys of their own, which layout `redisson-rw` removes.
-- KEYS: the lock, its queue, their times. ARGV: owner, window in ms, channel.
-- 1 taken away | 0 another owner, or another kind of lock | 2 no lock
if redis.pcall('HEXISTS', lock, 'mode') == 1 then return 0 end
if redis.pcall('HEXISTS', lock, ARGV[1]) ~= 1 then
  return redis.call('EXISTS', lock) == 1 and 0 or 2
end
redis.call('HDEL', lock, ARGV[1])
wake_if_free(tonumber(ARGV[2]), ARGV[3])
return 1
