-- Makes it the owner's until the end of the lease: its hash is {owner -> 1}, and the counter of
-- RFencedLock counts a number. Granted to the same owner again, neither the hold nor a number is
-- counted: a request may arrive twice.
-- {1, the number}, or an error
local function grant(lock, counter, owner, ttl, is_again)
  local number = redis.pcall('GET', counter)
  if type(number) == 'table' and not string.find(number.err, '^WRONGTYPE') then return number end
  local is_number = not number or type(number) == 'string' and
      string.find(number, '^%d+$') and tonumber(number) < 9007199254740991
  if not is_number then return redis.error_reply('BADTOKEN the key is ' .. counter) end
  number = tonumber(number or 0)
  if not is_again or number == 0 then number = redis.call('INCR', counter) end
  if not is_again then redis.call('HSET', lock, owner, 1) end
  redis.call('PEXPIRE', lock, ttl)
  return {1, number}
end
