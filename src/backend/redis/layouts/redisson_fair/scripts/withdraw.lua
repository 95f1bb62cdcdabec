-- include: redisson/publish shared
-- Gives up a place in the queue, or the lock where it was granted meanwhile. As Redisson's
-- acquireFailedAsync(), but the next waiter is woken.
-- KEYS: the lock, its queue, their times. ARGV: owner, window in ms, channel, 1 only the place.
-- 1 it had one of the two | 2 neither
local owner, window = ARGV[1], tonumber(ARGV[2])
local was_held = ARGV[4] ~= '1' and redis.pcall('HEXISTS', lock, owner) == 1
if was_held then redis.call('HDEL', lock, owner) end
local line = redis.pcall('LRANGE', queue, 0, -1)
local place = not line.err and place_in(line, owner)
if place then
  redis.call('LREM', queue, 0, owner)
  redis.call('ZREM', times, owner)
  move_times(line, place + 1, -window)
end
if was_held or place == 1 then wake_if_free(window, ARGV[3]) end
return (was_held or place) and 1 or 2
