-- Compare and PEXPIRE; no lease becomes shorter. KEYS: the lock. ARGV: owner, ttl in ms.
-- 1 renewed | 0 another's | 2 nobody's.
local owner = redis.pcall('GET', KEYS[1])
if owner ~= ARGV[1] then return owner and 0 or 2 end
return redis.call('PEXPIRE', KEYS[1], math.max(ARGV[2], redis.call('PTTL', KEYS[1])))
