-- include: shared
-- Acquires as a writer or as a reader. Repeatable: an owner has one hold, however often it asks, and
-- its lease begins with the last request.
-- KEYS: the lock, the counter of numbers, the owner's hold. ARGV: owner, ttl in ms, read or write,
-- what all holds begin with. {1, number} | {0, what is left of the longest hold in ms; -1: no end}
local lock, counter, hold = KEYS[1], KEYS[2], KEYS[3]
local owner, ttl, wanted, holds = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Above all earlier ones, and not below the clock: it grows also when the counter was lost. The
-- holders of a grant that lasts have its number, which is the last one. A table: an error.
local function number_of(grant_lasts)
  local last = redis.pcall('GET', counter)
  if type(last) == 'table' and not string.find(last.err, 'WRONGTYPE') then return last end
  local is_number = not last
    or type(last) == 'string' and string.find(last, '^%d+$') and tonumber(last) < 9007199254740991
  if not is_number then return redis.error_reply('BADTOKEN the key is ' .. counter) end
  if last and grant_lasts then return tonumber(last) end
  local t = redis.call('TIME')
  local n = math.max((tonumber(last) or 0) + 1, t[1] * 1000000 + t[2])
  redis.call('SET', counter, string.format('%.0f', n))
  return n
end

local mode = mode_of(lock)
if mode == nil then
  local kind = redis.call('TYPE', lock).ok
  if kind ~= 'hash' then return redis.error_reply('BADTYPE the key of the lock is a ' .. kind) end
  return redis.error_reply('OTHERKIND the hash of the lock has no mode')
end
local is_writer = mode == 'write' and redis.call('HEXISTS', lock, owner .. ':write') == 1
if mode == 'write' and not (is_writer and wanted == 'write') then
  return {0, redis.call('PTTL', lock)}
end
local most, with_ours
if mode == 'read' then most, with_ours = remove_dead(lock, holds) end
if most and wanted == 'write' then return {0, most} end

-- As long as one of the readers is holdfast's, no other number is drawn: they have one together.
local n = number_of(is_writer or with_ours)
if type(n) == 'table' then return n end
if wanted == 'write' then
  redis.call('HSET', lock, 'mode', 'write', owner .. ':write', 1)
else
  redis.call('HSET', lock, 'mode', 'read', owner, 1)
  redis.call('SET', hold, 1, 'PX', math.max(ttl, redis.call('PTTL', hold)))
end
if most then live_for(lock, ttl) else extend(lock, ttl) end
return {1, n}
