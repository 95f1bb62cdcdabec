-- Acquires the free lock. May arrive twice: an owner is granted the lock once.
-- KEYS: the lock, the counter of RFencedLock. ARGV: owner, ttl in ms.
-- {1, the number} it is ours | {0, what is left of the holder's lease in ms; -1: it has no end}
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then
  return redis.error_reply('BADTYPE the key of the lock is a ' .. kind)
end
local is_ours = kind == 'hash' and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
if kind == 'hash' and not is_ours then
  if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
    return redis.error_reply('OTHERKIND a read-write lock has this name')
  end
  return {0, redis.call('PTTL', KEYS[1])}
end
return grant(KEYS[1], KEYS[2], ARGV[1], ARGV[2], is_ours)
