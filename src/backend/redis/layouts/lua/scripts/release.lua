-- Compare and delete. KEYS: the lock. ARGV: owner. 1 it was deleted | 0 another owner, or none
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
