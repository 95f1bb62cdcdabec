-- include: grant
-- Acquires the free lock. May arrive twice: an owner is granted the lock once.
-- KEYS: the lock, the counter of RFencedLock. ARGV: owner, ttl in ms.
-- {1, the number} it is ours | {0, what is left of the holder's lease in ms; -1: it has no end}
local rest, is_ours = redis.call('PTTL', KEYS[1]), false
if rest ~= -2 then
  local found = redis.pcall('HEXISTS', KEYS[1], ARGV[1])
  if type(found) == 'table' then
    if not string.find(found.err, '^WRONGTYPE') then return found end
    return redis.error_reply('BADTYPE the key of the lock is a ' .. redis.call('TYPE', KEYS[1]).ok)
  end
  is_ours = found == 1
  if not is_ours then
    if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
      return redis.error_reply('OTHERKIND a read-write lock has this name')
    end
    return {0, rest}
  end
end
return grant(KEYS[1], KEYS[2], ARGV[1], ARGV[2], is_ours)
