-- Reads the owner of the lock. KEYS: the lock.
-- {owner, what is left of its lease in ms} | {} nobody. A key of another type excludes everybody as
-- a lock does: its type is shown as the owner.
local owner = redis.pcall('GET', KEYS[1])
if not owner then return {} end
if type(owner) == 'table' then owner = redis.call('TYPE', KEYS[1]).ok end
return {owner, redis.call('PTTL', KEYS[1])}
