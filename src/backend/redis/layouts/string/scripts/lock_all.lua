-- Grants several locks, all or none. A lock for which a client waits is not granted.
-- Source: redis.io's SET key id NX PX ttl, of several keys in one atomic script.
-- KEYS: N, and K, Q of each lock. ARGV: ttl in ms, and the id of each.
-- The highest of their consecutive numbers, when all are granted | {for each: 0 free | 1 busy |
-- an error text, when it is no mutex}
local count = #ARGV - 1
-- Mostly none of their keys exists: one command instead of two for each.
local is_free = count < 500 and redis.call('EXISTS', unpack(KEYS, 2)) == 0
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
if not is_free then
  -- Whether a waiter's client listens; it is told to look. Notes of dead waiters stay until M
  -- expires.
  local function has_waiter(K, Q)
    local line = redis.call('ZRANGE', Q, 0, 63)
    for _, id in ipairs(line) do
      local look = string.format('look|%.0f|%s|%s', now, id, K)
      if redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), look) > 0 then return true end
      redis.call('ZREM', Q, id)
    end
    return #line == 64
  end
  local function found(K, Q, id)
    local owner = redis.pcall('GET', K)
    if type(owner) == 'table' then return 'BADTYPE the key of the lock holds something else' end
    if not owner then return has_waiter(K, Q) and 1 or 0 end
    if string.sub(owner, 1, 4) == 'hfp:' then
      return 'OTHERKIND a semaphore of ' .. string.sub(owner, 5) .. ' permits has this name'
    end
    return owner == id and 0 or 1
  end
  local taken, out = false, {}
  for i = 1, count do
    out[i] = found(KEYS[2 * i], KEYS[2 * i + 1], ARGV[i + 1])
    taken = taken or out[i] ~= 0
  end
  if taken then return out end
end
-- At maxmemory this command is refused, or none is.
local n = redis.call('INCRBY', KEYS[1], count)
if n - count < now - 1000000 then  -- the counter was lost or set back
  n = now + count
  redis.call('SET', KEYS[1], string.format('%.0f', n))
end
for i = 1, count do redis.call('SET', KEYS[2 * i], ARGV[i + 1], 'PX', ARGV[1]) end
return n
