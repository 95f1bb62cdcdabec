-- include: redisson/publish shared
-- Makes the writer a reader, for what is left of its lease, and wakes the readers that wait.
-- Repeatable: the answer stays.
-- KEYS: the lock, the owner's hold. ARGV: owner, ttl in ms, channel.
-- 1 it is a reader | 0 it is not the owner | 2 nobody has the lock
local lock, hold = KEYS[1], KEYS[2]
local owner, ttl, channel = ARGV[1], ARGV[2], ARGV[3]
local mode = mode_of(lock)
if mode == false then return 2 end
if mode == nil then return 0 end
if redis.call('HEXISTS', lock, owner .. ':write') == 0 then
  return redis.call('HEXISTS', lock, owner)
end
local rest = redis.call('PTTL', lock)
publish(channel, 1)  -- first: where it is refused, the writer stays one
-- In this order: where one of them is refused, it is a writer still.
redis.call('SET', hold, 1, 'PX', rest < 0 and ttl or math.max(rest, 1))
redis.call('HSET', lock, 'mode', 'read', owner, 1)
redis.call('HDEL', lock, owner .. ':write')
return 1
