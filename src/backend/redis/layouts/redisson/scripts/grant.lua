-- part
-- Makes it the owner's until the end of the lease: its hash is {owner -> 1}, and the counter of
-- RFencedLock counts a number. Granted to the same owner again, neither the hold nor a number is
-- counted, and its lease becomes no shorter: a request may arrive twice, and late.
-- {1, the number}, or an error
local function grant(lock, counter, owner, ttl, is_again)
  local number = is_again and tonumber(redis.call('GET', counter) or '')
  if not number then
    number = redis.pcall('INCR', counter)
    local is_bad = false
    if type(number) == 'table' then
      local why = number.err
      is_bad = string.find(why, '^WRONGTYPE') or string.find(why, 'integer') or
          string.find(why, 'overflow')
      if not is_bad then return number end
    elseif number < 1 or number > 9007199254740991 then
      redis.call('DECR', counter)
      is_bad = true
    end
    if is_bad then return redis.error_reply('BADTOKEN the key is ' .. counter) end
  end
  if not is_again then redis.call('HSET', lock, owner, 1) end
  redis.call('PEXPIRE', lock, math.max(ttl, redis.call('PTTL', lock)))
  return {1, number}
end
