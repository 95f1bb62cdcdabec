-- Raises the counter to the clock, and above the numbers that this client has seen: only numbers
-- above the answer are believed on this connection.
-- Source: docs/safety.md (rule 2: numbers are never below the clock).
-- KEYS: N. ARGV: the highest number seen. {number, time}
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local n = tonumber(redis.call('GET', KEYS[1])) or 0
local least = math.max(now, tonumber(ARGV[1]) or 0)
if n < least then
  n = least
  redis.call('SET', KEYS[1], string.format('%.0f', n))
end
return {n, now}
