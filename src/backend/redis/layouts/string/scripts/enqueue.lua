-- part
-- Puts a claim at the end of the queue, or where it was before. Returns its place, and whether it
-- is new.
local function enqueue(id, window, arrival, now)
  redis.call('HDEL', M, id)  -- the first write; repeated below
  local place = tonumber(arrival) or now
  local is_new = redis.call('ZADD', Q, 'NX', decimal(place), id) == 1
  if not is_new then place = tonumber(redis.call('ZSCORE', Q, id)) end
  if window ~= '250' then redis.call('HSET', M, id, window) end
  -- A little longer than the longest ttl: every waiter extends it, and it ends after the last
  -- one.
  redis.call('PEXPIRE', Q, 31626000000)
  redis.call('PEXPIRE', M, 31626000000)
  return place, is_new
end
