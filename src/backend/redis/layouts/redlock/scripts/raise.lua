-- Raises the server's number to that of a grant, as long as the lock is ours here: who comes later
-- gets a larger one. KEYS: the lock, the server's own record. ARGV: owner, number.
-- {1} it has that number, or a larger one | {0} the lock is another's, or nobody's.
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return {0} end
local number = tonumber(redis.call('HGET', KEYS[2], 'number') or '0')
if number < tonumber(ARGV[2]) then redis.call('HSET', KEYS[2], 'number', ARGV[2]) end
return {1}
