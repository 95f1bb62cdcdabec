-- Acquires the free lock: its hash is {owner -> 1}, and it counts a number. Granted to the same
-- owner again, it counts neither the hold nor a number: a request may arrive twice.
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

local number = redis.pcall('GET', KEYS[2])
if type(number) == 'table' and not string.find(number.err, '^WRONGTYPE') then return number end
local is_number = not number or
    type(number) == 'string' and string.find(number, '^%d+$') and tonumber(number) < 9007199254740991
if not is_number then return redis.error_reply('BADTOKEN the key is ' .. KEYS[2]) end
number = tonumber(number or 0)
if not is_ours or number == 0 then number = redis.call('INCR', KEYS[2]) end
if not is_ours then redis.call('HSET', KEYS[1], ARGV[1], 1) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, number}
