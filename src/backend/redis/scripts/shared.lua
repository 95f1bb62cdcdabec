-- What every script about one lock begins with.
--   K  the lock: a string, its owner's id            Q  those who wait: a sorted set id -> arrival
--   M  a hash: of who waits the window in ms, unless it is 250, of who holds the note
--   N  the server's counter
-- An owner of ours is hf1:<client>:<claim>; its client listens on the channel hf:<client>.
--
-- In every script the first write is a ZREM, ZPOPMIN, HDEL or DEL: at maxmemory the server refuses
-- a script whose first write takes memory, and what a script has published cannot be taken back.
-- Numbers are written with %.0f: Lua's own way would round them.
local K, Q, M, N = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner = redis.pcall('GET', K)
if type(owner) == 'table' then
  return redis.error_reply('BADTYPE the key of the lock holds something else')
end

local function is_ours(id) return string.sub(id, 1, 4) == 'hf1:' end

local function tell(id, what, text)
  return redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), what .. '|' .. text .. '|' .. id .. '|' .. K)
end

local function server_time()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- The number of a new grant: above all earlier ones, and not far below the clock, so that it grows
-- even when the counter is lost: each connection has lifted it to the clock before it asked for
-- anything. Nil when the counter is more than a second ahead of the clock.
local function next_number(now)
  local n = redis.call('INCR', N)
  if n > now + 1000000 then return nil end
  if n < now - 1000000 then
    n = now
    redis.call('SET', N, string.format('%.0f', n))
  end
  return n
end

local function drop(id)
  redis.call('ZREM', Q, id)
  redis.call('HDEL', M, id)
end

-- The one who is next in line is to look at the lock by `at`: from here on it keeps the timer.
local function next_looks(at)
  for _ = 1, 64 do
    local id = redis.call('ZRANGE', Q, 0, 0)[1]
    if not id or tell(id, 'look', string.format('%.0f', at)) > 0 then return end
    drop(id)
  end
end

-- Hands the lock to the first in line whose client listens, for its window: a waiter that was
-- killed costs nothing. Returns whom and the number; false when nobody waits and the lock is free;
-- nil when there were more dead waiters than one call goes through: ask again. Somebody who lives
-- is to look when the window is over: who is next.
local function handover(now)
  for _ = 1, 64 do
    local id, place = unpack(redis.call('ZPOPMIN', Q))
    if not id then
      redis.call('DEL', K)
      return false
    end
    now = now or server_time()
    local n = next_number(now)
    if not n then  -- those who wait find it out by asking, one after the other
      redis.call('ZADD', Q, place, id)
      redis.call('DEL', K)
      next_looks(now)
      return false
    end
    local window = redis.call('HGET', M, id)
    if window then redis.call('HDEL', M, id) else window = 250 end
    local others = redis.call('EXISTS', Q)
    local grant = string.format('%.0f|%.0f|%s|%d', n, now, window, others)
    if tell(id, 'grant', grant) > 0 then
      redis.call('SET', K, id, 'PX', window)
      if others == 1 then next_looks(now + window * 1000) end
      return id, n
    end
  end
  return nil
end

local AHEAD = 'AHEAD the counter is more than a second ahead of the server clock'
local granted, queued, again = 1, 2, 3

-- {state, number or arrival, time, rank, pttl, others, foreign}
local function grant_to(id, ttl, now)
  drop(id)
  local n = next_number(now)
  if not n then return redis.error_reply(AHEAD) end
  redis.call('SET', K, id, 'PX', ttl)
  local others = redis.call('EXISTS', Q)
  if others == 1 then next_looks(now + ttl * 1000) end
  return {granted, n, now, 0, tonumber(ttl), others, 0}
end

-- At the end of the line, or where it was before.
local function line_up(id, window, arrival, now)
  local place = tonumber(arrival) or now
  redis.call('ZADD', Q, string.format('%.0f', place), id)
  if window ~= '250' then redis.call('HSET', M, id, window) end
  return place
end

-- Who waits keeps its place: `arrival` is what it was told when it came.
local function join(id, ttl, window, arrival, looks)
  local now = server_time()
  if owner == id then
    -- It asked twice. A renewal may have come between: nothing that it gave is taken back.
    return grant_to(id, math.max(tonumber(ttl), redis.call('PTTL', K)), now)
  end
  if not owner then
    local first = redis.call('ZRANGE', Q, 0, 0)[1]
    if not first or first == id then return grant_to(id, ttl, now) end
  end
  redis.call('HDEL', M, id)  -- the first write; line_up() says it again
  local place = line_up(id, window, redis.call('ZSCORE', Q, id) or arrival, now)
  -- A little longer than the longest ttl: kept while somebody waits, gone when nobody does.
  redis.call('PEXPIRE', Q, 31626000000)
  redis.call('PEXPIRE', M, 31626000000)
  if not owner then
    local whom, n = handover(now)
    if whom == nil then return {again, place, now, 0, 0, 1, 0} end
    if whom == id then
      redis.call('PEXPIRE', K, ttl)
      return {granted, n, now, 0, tonumber(ttl), redis.call('EXISTS', Q), 0}
    end
    owner = whom
  end
  local rank, left = redis.call('ZRANK', Q, id) or 0, redis.call('PTTL', K)
  local foreign = 1
  if owner and is_ours(owner) then
    foreign = 0
    if rank == 0 then tell(owner, 'wanted', '') end
  end
  -- Who looks without being next was left to see to the lock: from here on the next in line does.
  if looks and rank > 0 then next_looks(now + math.max(left, 0) * 1000) end
  return {queued, place, now, rank, left, 1, foreign}
end
