-- The usual hand-over between clients that all keep asking: the lock goes to the first in line, and
-- the next claim of who lets go gets in line behind, which then looks when the window is over. The
-- same as release.lua and join.lua do, in the fewest steps; what is out of the usual is left to them.
-- KEYS: K, Q, M, N. ARGV: id, next id, its window in ms, '1' when M may know id.
-- {1, time, window} | {3} release it in full, the next was not lined up
local K, Q, M, N = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.pcall('GET', K) ~= ARGV[1] then return {3} end
local first = redis.call('ZPOPMIN', Q)
local id = first[1]
if not id then return {3} end
if string.sub(id, 1, 4) ~= 'hf1:' then
  redis.call('ZADD', Q, first[2], id)
  return {3}
end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local n = redis.call('INCR', N)
if n > now + 1000000 then
  redis.call('ZADD', Q, first[2], id)
  return {3}
elseif n < now - 1000000 then
  n = now
  redis.call('SET', N, string.format('%.0f', n))
end
local window = redis.call('HGET', M, id)
if window then redis.call('HDEL', M, id) else window = 250 end
local grant = string.format('grant|%.0f|%.0f|%s|1|%s|%s', n, now, window, id, K)
redis.call('SET', K, id, 'PX', window)
if redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), grant) == 0 then
  redis.call('SET', K, ARGV[1], 'PX', 1000)  -- until it is released in full
  return {3}
end
redis.call('ZADD', Q, string.format('%.0f', now), ARGV[2])
if ARGV[3] ~= '250' then redis.call('HSET', M, ARGV[2], ARGV[3]) end
if ARGV[4] == '1' then redis.call('HDEL', M, ARGV[1]) end
return {1, now, tonumber(window)}
