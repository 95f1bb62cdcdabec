-- Several locks at once, all or none; none either where somebody waits in line.
-- KEYS: N, and K, Q, M of each lock. ARGV: id and ttl in ms of each.
-- {1 granted | 0 not, the lowest of the numbers, which follow each other, for each: 0 | 1 taken |
-- what it is, when that is no mutex}
local count = #ARGV / 2
local taken, out = false, {0, 0}
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
-- Whether somebody who lives is next in line: it is to look.
local function is_awaited(K, Q, M)
  for _ = 1, 64 do
    local id = redis.call('ZRANGE', Q, 0, 0)[1]
    if not id then return false end
    local look = string.format('look|%.0f|%s|%s', now, id, K)
    if redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), look) > 0 then return true end
    redis.call('ZREM', Q, id)
    redis.call('HDEL', M, id)
  end
  return true
end
-- Mostly nothing is there of any of them: one question instead of two for each.
local is_free = count < 500 and redis.call('EXISTS', unpack(KEYS, 2)) == 0
for i = 1, count do
  local K, Q, M = KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1]
  local owner = not is_free and redis.pcall('GET', K)
  local found = 0
  if type(owner) == 'table' then
    found = 'BADTYPE the key of the lock holds something else'
  elseif owner and string.sub(owner, 1, 4) == 'hfp:' then
    found = 'OTHERKIND a semaphore of ' .. string.sub(owner, 5) .. ' permits has this name'
  elseif owner and owner ~= ARGV[2 * i - 1] or not (owner or is_free) and is_awaited(K, Q, M) then
    found = 1
  end
  taken = taken or found ~= 0
  out[#out + 1] = found
end
if taken then return out end
redis.call('DEL', KEYS[3])  -- the first write: at maxmemory all that follow may fail
local n = redis.call('INCRBY', KEYS[1], count)
if n > now + 1000000 then return redis.error_reply('AHEAD the counter is more than a second ahead') end
if n - count < now - 1000000 then
  n = now + count
  redis.call('SET', KEYS[1], string.format('%.0f', n))
end
for i = 1, count do redis.call('SET', KEYS[3 * i - 1], ARGV[2 * i - 1], 'PX', ARGV[2 * i]) end
out[1], out[2] = 1, n - count + 1
return out
