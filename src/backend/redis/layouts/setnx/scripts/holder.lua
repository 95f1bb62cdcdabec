-- Reads the owner of the lock. KEYS: the lock.
-- {owner, what is left of its lease in ms} | {} nobody, or no lock
local owner = redis.pcall('GET', KEYS[1])
if type(owner) ~= 'string' then return {} end
return {owner, redis.call('PTTL', KEYS[1])}
