-- Compare and delete, for an operator. KEYS: the lock. ARGV: the owner that was seen.
-- 1 it was deleted | 0 another owner, or none
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
