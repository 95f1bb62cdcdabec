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
-- What is left to others, or refused by the server, leaves the line as it was.
local function put_back(answer)
  redis.call('ZADD', Q, first[2], id)
  return answer
end
if string.sub(id, 1, 4) ~= 'hf1:' then return put_back({3}) end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local n = redis.pcall('INCR', N)
if type(n) == 'table' then return put_back(n) end
if n > now + 1000000 then return put_back({3}) end
if n < now - 1000000 then
  n = now
  local done = redis.pcall('SET', N, string.format('%.0f', n))
  if done.err then return put_back(done) end
end
local noted = redis.call('HGET', M, id)
local window = noted or 250
local grant = string.format('grant|%.0f|%.0f|%s|1|%s|%s', n, now, window, id, K)
local done = redis.pcall('SET', K, id, 'PX', window)
if done.err then return put_back(done) end
if noted then redis.call('HDEL', M, id) end
if redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), grant) == 0 then
  redis.call('SET', K, ARGV[1], 'PX', 1000)  -- until it is released in full
  return {3}
end
redis.call('ZADD', Q, string.format('%.0f', now), ARGV[2])
if ARGV[3] ~= '250' then redis.call('HSET', M, ARGV[2], ARGV[3]) end
if ARGV[4] == '1' then redis.call('HDEL', M, ARGV[1]) end
return {1, now, tonumber(window)}
