-- include: redisson/publish shared
-- Claims keep their permits for longer. Each stands for itself: one that has lost a permit gives
-- the others back. ARGV: now, then for each: claim, its permits, its end, the channel.
-- {for each: 1 renewed | not any more: 0 others have permits, 2 nobody has}
local out = {}
local now = tonumber(ARGV[1])
for i = 1, #KEYS / 2 do
  local count, permits = KEYS[2 * i - 1], KEYS[2 * i]
  local claim, n, ends, channel = unpack(ARGV, 4 * i - 2, 4 * i + 1)
  n = tonumber(n)
  out[i] = 2
  if not other_type(count, permits) then
    reclaim(count, permits, channel, now)
    local mine = permits_of(claim, permits, n)
    if #mine == n then
      for _, one in ipairs(mine) do hold_until(ends, permits, one) end
      out[i] = 1
    else
      remove(count, permits, channel, mine)
      if redis.call('ZCARD', permits) > 0 then out[i] = 0 end
    end
  end
end
return out
