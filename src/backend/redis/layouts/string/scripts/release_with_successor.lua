-- Releases the lock, hands it to the first waiter and enqueues the releaser's next claim, in one
-- step. The next claim gets the timer for the end of the window.
-- Source: release.lua and lock_or_queue.lua in the fewest steps, for the usual hand-over between
-- clients that all keep requesting; every other case is left to those two.
-- KEYS: K, Q, M, N. ARGV: id, next id, its window in ms, '1' when M may have a note of id, stamp.
-- {1, time, window} | {3} to be released by release.lua; the next claim was not enqueued
local K, Q, M, N = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.pcall('GET', K) ~= ARGV[1] then return {3} end
local first = redis.call('ZPOPMIN', Q)
local id = first[1]
if not id then return {3} end
-- Leaves the queue as it was: for cases of release.lua, and for what the server refuses.
local function give_up(answer)
  redis.call('ZADD', Q, first[2], id)
  return answer
end
if string.sub(id, 1, 4) ~= 'hf1:' then return give_up({3}) end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local n = redis.pcall('INCR', N)
if type(n) == 'table' then return give_up(n) end
if n > now + 1000000 then return give_up({3}) end
if n < now - 1000000 then
  n = now
  local done = redis.pcall('SET', N, string.format('%.0f', n))
  if done.err then return give_up(done) end
end
local noted = redis.call('HGET', M, id)
local window = noted or 250
local grant = string.format('grant|%.0f|%.0f|%s|1|%s|%s|%s', n, now, window, ARGV[5], id, K)
local done = redis.pcall('SET', K, id, 'PX', window)
if done.err then return give_up(done) end
if noted then redis.call('HDEL', M, id) end
local heard = redis.pcall('PUBLISH', 'hf:' .. string.sub(id, 5, 20), grant)
if type(heard) == 'table' then
  redis.call('SET', K, ARGV[1], 'PX', 1000)
  if noted then redis.call('HSET', M, id, noted) end
  return give_up(heard)
end
if heard == 0 then
  redis.call('SET', K, ARGV[1], 'PX', 1000)  -- until release.lua frees it
  return {3}
end
redis.call('ZADD', Q, string.format('%.0f', now), ARGV[2])
if ARGV[3] ~= '250' then redis.call('HSET', M, ARGV[2], ARGV[3]) end
if ARGV[4] == '1' then redis.call('HDEL', M, ARGV[1]) end
return {1, now, tonumber(window)}
