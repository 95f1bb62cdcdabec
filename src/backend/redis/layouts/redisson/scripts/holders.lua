-- Reads who holds the lock. KEYS: the lock.
-- {what is left of the lease in ms, owner, its holds, ...} | {} nobody, or no such lock
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return {} end
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then return {} end
local out = redis.call('HGETALL', KEYS[1])
table.insert(out, 1, redis.call('PTTL', KEYS[1]))
return out
