-- include: redisson/publish shared
-- The permits that are out, and what is left of each by this server's clock.
-- {available, then each permit and its ms; -1: it does not end}
local count, permits = KEYS[1], KEYS[2]
local wrong = other_type(count, permits)
if wrong then return wrong end
local out = {tonumber(redis.call('GET', count) or 0)}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('ZRANGE', permits, 0, -1, 'WITHSCORES')
for i = 1, #all, 2 do
  out[#out + 1] = all[i]
  local ends = tonumber(all[i + 1])
  out[#out + 1] = ends < never and math.max(ends - now, 0) or -1
end
return out
