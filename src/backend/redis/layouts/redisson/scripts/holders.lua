-- Reads the holders of the lock and the number of waiters.
-- KEYS: the lock, and its queue, if it has one.
-- {what is left of the lease in ms, waiters; -1: not known, owner, its holds, ...} | {} nobody
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then return {} end
if kind ~= 'hash' then return redis.error_reply('BADTYPE the key of the lock is a ' .. kind) end
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return redis.error_reply('OTHERKIND a read-write lock has this name')
end
local waiting = KEYS[2] and redis.pcall('LLEN', KEYS[2])
local out = redis.call('HGETALL', KEYS[1])
table.insert(out, 1, type(waiting) == 'number' and waiting or -1)
table.insert(out, 1, redis.call('PTTL', KEYS[1]))
return out
