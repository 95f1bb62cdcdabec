-- Compare, delete, and tell those who wait. KEYS: the lock. ARGV: owner, channel, message.
-- 1 it was deleted | 3 deleted, and another client was told | 0 another's | 2 nobody's.
local owner = redis.pcall('GET', KEYS[1])
if owner ~= ARGV[1] then return owner and 0 or 2 end
redis.call('DEL', KEYS[1])
return redis.call('PUBLISH', ARGV[2], ARGV[3]) > 0 and 3 or 1
