-- What became of a try_lock that was never answered? KEYS: the lock. ARGV: owner, ttl in ms.
-- {1} it is ours, and the lease begins now | {0} another's, or nobody's
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return {0} end
redis.call('PEXPIRE', KEYS[1], math.max(ARGV[2], redis.call('PTTL', KEYS[1])))
return {1}
