-- What every script about one lock begins with.
--   K  the lock, a string: hf1:<client>:<claim>, who holds it alone; hfg:<number>, a group of readers
--      with this number; hfp:<total>, a semaphore of so many permits
--   Q  those who wait: a sorted set id -> arrival    N  the server's counter
--   M  a hash: of who waits the window in ms, unless it is 250, of who holds the note
--   R  the members of a group or a semaphore: a sorted set id -> when the lease ends, in us of the
--      server's clock. K lasts as long as the last of them
--   P  of a semaphore, a hash: '#' the total, id -> permits of who wants or has more than one, and
--      '' how many above one each the members have in all
-- A claim is hf1:<client>:<claim>, as a reader hfs:..., as a holder of permits hfp:...; its client
-- listens on the channel hf:<client>.
--
-- In every script the first write is a ZREM, ZPOPMIN, HDEL or DEL: at maxmemory the server refuses
-- a script whose first write takes memory, and what a script has published cannot be taken back.
-- Numbers are written with %.0f: Lua's own way would round them.
local K, Q, M, N, R, P = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local owner = redis.pcall('GET', K)
if type(owner) == 'table' then
  return redis.error_reply('BADTYPE the key of the lock holds something else')
end

local function kind_of(id) return string.sub(id, 1, 4) end
local function is_open() return owner and (kind_of(owner) == 'hfg:' or kind_of(owner) == 'hfp:') end
local function is_ours() return kind_of(owner) == 'hf1:' or is_open() end
local function whole(n) return string.format('%.0f', n) end
local function next_in_line() return redis.call('ZRANGE', Q, 0, 0)[1] end

local function tell(id, what, text)
  return redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), what .. '|' .. text .. '|' .. id .. '|' .. K)
end

-- Those who have the lock are told that somebody waits.
local function want()
  if not is_open() then return tell(owner, 'wanted', '') end
  for _, id in ipairs(redis.call('ZRANGE', R, 0, -1)) do tell(id, 'wanted', '') end
end

local function server_time()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- The number of a new grant: above all earlier ones, and not far below the clock, so that it grows
-- even when the counter is lost: each connection has lifted it to the clock before it asked for
-- anything. A group's number is not below the clock at all: readers who come later cannot tell
-- whether it proves anything. Nil when the counter is more than a second ahead of the clock.
local function next_number(now, is_group)
  local n = redis.call('INCR', N)
  if n > now + 1000000 then return nil end
  if n < (is_group and now or now - 1000000) then
    n = now
    redis.call('SET', N, whole(n))
  end
  return n
end

local function drop(id)
  redis.call('ZREM', Q, id)
  redis.call('HDEL', M, id)
end

local function permits_of(id) return tonumber(redis.call('HGET', P, id)) or 1 end

local function has_room(id, more)
  if not owner then return false end
  if kind_of(id) == 'hfs:' then return kind_of(owner) == 'hfg:' end
  if kind_of(id) ~= 'hfp:' or kind_of(owner) ~= 'hfp:' then return false end
  local used = redis.call('ZCARD', R) + (tonumber(redis.call('HGET', P, '')) or 0)
  return used + (more or permits_of(id)) <= tonumber(string.sub(owner, 5))
end

-- The one who is next in line is to look at the lock by `at`: from here on it keeps the timer.
local function next_looks(at)
  for _ = 1, 64 do
    local id = next_in_line()
    if not id or tell(id, 'look', whole(at)) > 0 then return end
    drop(id)
    if kind_of(id) == 'hfp:' then redis.call('HDEL', P, id) end
    -- The next one may have had no room but for the one that is gone: it looks now.
    id = next_in_line()
    if id and has_room(id) then at = 0 end
  end
end

local function add_member(id, ends)
  redis.call('ZADD', R, whole(ends), id)
  local more = kind_of(id) == 'hfp:' and permits_of(id) - 1 or 0
  if more > 0 then redis.call('HINCRBY', P, '', more) end
end

-- True when it was one.
local function remove_member(id)
  if redis.call('ZREM', R, id) == 0 then return false end
  redis.call('HDEL', M, id)
  if kind_of(id) == 'hfp:' then
    local permits = permits_of(id)
    redis.call('HDEL', P, id)
    if permits > 1 then redis.call('HINCRBY', P, '', 1 - permits) end
  end
  return true
end

-- The waiter has the lock, or a part of it, for its window. Returns that, and whether others wait;
-- nil when its client does not listen: a waiter that was killed costs nothing. What was granted is
-- written first: a waiter that was told of a grant which the server then refused to write would hold
-- beside another, and one that had left the line before it would wait where nobody sees it.
local function hand_to(id, n, now, others)
  local noted = redis.call('HGET', M, id)
  local window = noted or 250
  local alone = kind_of(id) == 'hf1:'
  if alone then
    redis.call('SET', K, id, 'PX', window)
  else
    add_member(id, now + window * 1000)
  end
  redis.call('ZREM', Q, id)
  if noted then redis.call('HDEL', M, id) end
  others = others or redis.call('EXISTS', Q)
  local grant = string.format('%.0f|%.0f|%s|%d', n, now, window, others)
  if tell(id, 'grant', grant) > 0 then return tonumber(window), others end
  if not alone then remove_member(id) end
end

-- K lasts as long as the last of its members. If it `looks`, who is next in line gets the timer: on
-- the end of what it waits for, or on nothing when it may come in itself.
local function keep_open(now, looks)
  local first = redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')
  local last = redis.call('ZRANGE', R, -1, -1, 'WITHSCORES')
  local left = math.max(1, math.floor((last[2] - now) / 1000) + 1)
  redis.call('PEXPIRE', K, left)
  redis.call('PEXPIRE', R, left + 60000)
  local id = looks and next_in_line()
  if not id then return end
  if has_room(id) then
    next_looks(now)
  else
    next_looks(tonumber(kind_of(owner) == 'hfp:' and first[2] or last[2]))
  end
end

-- Readers at the head of the line, up to the first who is none. Returns how many of them live.
local function let_in_readers(now)
  local readers = {}
  for _, id in ipairs(redis.call('ZRANGE', Q, 0, 63)) do
    if kind_of(id) ~= 'hfs:' then break end
    readers[#readers + 1] = id
  end
  if #readers == 0 then return 0 end
  local id = redis.call('ZRANGE', Q, #readers, #readers)[1]
  local others = id and kind_of(id) ~= 'hfs:' and 1 or 0
  if others == 1 then want() end  -- those who came before
  local came, n = 0, tonumber(string.sub(owner, 5))
  for _, reader in ipairs(readers) do
    if hand_to(reader, n, now, others) then came = came + 1 end
  end
  return came
end

-- Those at the head of the line come into the open group or semaphore, each for its window; permits
-- while they fit: small wishes do not pass a large one. Returns how many came.
local ahead = false
local function let_in(now)
  if kind_of(owner) == 'hfg:' then return let_in_readers(now) end
  local came = 0
  for _ = 1, 64 do
    local id = next_in_line()
    if not id or not has_room(id) then break end
    local n = next_number(now)
    if not n then  -- it finds that out by asking
      ahead = true
      next_looks(now)
      break
    end
    if hand_to(id, n, now) then came = came + 1 end
  end
  return came
end

-- What an earlier group or semaphore has left goes; those who wait stay.
local function disband()
  for _, id in ipairs(redis.call('ZRANGE', R, 0, -1)) do
    redis.call('HDEL', M, id)
    redis.call('HDEL', P, id)
  end
  redis.call('DEL', R)
  redis.call('HDEL', P, '')
end

-- The lock, which is free, becomes a group or a semaphore for who is next in line and all who may
-- come in with it. Nil when none of them lives; false when the counter is ahead of the clock.
local function open_for(id, now)
  disband()
  if kind_of(id) == 'hfp:' then
    owner = 'hfp:' .. (redis.call('HGET', P, '#') or 1)
  else
    local n = next_number(now, true)
    if not n then return false end
    owner = 'hfg:' .. whole(n)
  end
  redis.call('SET', K, owner, 'PX', 1000)
  if let_in(now) == 0 then
    if ahead then return false end
    return nil
  end
  keep_open(now, true)
  return owner
end

-- Hands the lock to the first in line whose client listens, for its window, and to those who share
-- it. Returns whom and the number; false when nobody waits and the lock is free; nil when there were
-- more dead waiters than one call goes through: ask again. Somebody who lives is to look when the
-- window is over: who is next.
local function handover(now)
  local before = owner
  for _ = 1, 64 do
    local id = next_in_line()
    if not id then
      redis.call('DEL', K, M, R, P)
      return false
    end
    now = now or server_time()
    local alone = kind_of(id) == 'hf1:'
    local n = false
    if alone then
      n = next_number(now)
    else
      local whom = open_for(id, now)
      if whom then return whom end
      n = whom == nil
    end
    if not n then  -- those who wait find it out by asking, one after the other
      redis.call('DEL', K)
      next_looks(now)
      return false
    end
    if alone then
      local window, others = hand_to(id, n, now)
      if window then
        if others == 1 then next_looks(now + window * 1000) end
        return id, n
      end
    end
  end
  if before then redis.call('SET', K, before, 'PX', 1000) else redis.call('DEL', K) end
  return nil
end

-- What M tells of holders that were killed, or lost the lock without a release: it goes, at most
-- four of them at a time. For a lock that was free, and is asked for by `id`.
local function forget_the_lost(id, now)
  local found = redis.pcall('HSCAN', M, whole(now), 'COUNT', 8)
  local fields = found[2] or {}
  local count, gone = #fields / 2, 0
  for i = 1, math.min(count, 16) do  -- a small hash is told whole: from another place each time
    local field = fields[(now + i) % count * 2 + 1]
    local is_known = field == id or redis.call('ZSCORE', Q, field) or redis.call('ZSCORE', R, field)
    if not is_known and gone < 4 then gone = gone + redis.call('HDEL', M, field) end
  end
end

local AHEAD = 'AHEAD the counter is more than a second ahead of the server clock'
local busy, granted, queued, again = 0, 1, 2, 3

-- One name is one kind of lock: an error when this one is another, or those who wait for it do.
local function other_kind(id)
  local found = owner or next_in_line()
  if not found or found == id then return nil end
  local is_semaphore, wants_permits = kind_of(found) == 'hfp:', kind_of(id) == 'hfp:'
  if is_semaphore and not wants_permits then
    local total = owner and string.sub(owner, 5) or redis.call('HGET', P, '#') or '?'
    return redis.error_reply('OTHERKIND a semaphore of ' .. total .. ' permits has this name')
  elseif wants_permits and not is_semaphore then
    return redis.error_reply('OTHERKIND a mutex has this name')
  end
end

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

-- At the end of the line, or where it was before; and whether it was not in line.
local function line_up(id, window, arrival, now)
  redis.call('HDEL', M, id)  -- the first write; what follows says it again
  local place = tonumber(redis.call('ZSCORE', Q, id) or arrival) or now
  local is_new = redis.call('ZADD', Q, whole(place), id) == 1
  if window ~= '250' then redis.call('HSET', M, id, window) end
  -- A little longer than the longest ttl: kept while somebody waits, gone when nobody does.
  redis.call('PEXPIRE', Q, 31626000000)
  redis.call('PEXPIRE', M, 31626000000)
  return place, is_new
end

-- How things are for a waiter in line. `looks`: it asks because its timer has ended; the next waiter
-- gets a timer again, and those before it whose clients do not listen leave the line. `at`: when
-- what it waits for ends, unless that is K. `come_in`: what to do when it has room by now.
-- Members are told that others wait when the line begins; who comes in later is told by its grant.
-- To tell thousands at each question would cost more than all else.
local function in_line(id, place, is_new, now, looks, at, come_in)
  local rank, left = redis.call('ZRANK', Q, id) or 0, redis.call('PTTL', K)
  if at and left > 0 then left = math.max(0, math.floor((at - now) / 1000) + 1) end
  local foreign = owner and is_ours() and 0 or 1
  if looks and rank > 0 then
    -- A foreign holder tells nobody when it goes: the next waiter asks at once, and goes on asking.
    next_looks(now + (foreign == 0 and math.max(left, 0) or 0) * 1000)
    rank = redis.call('ZRANK', Q, id) or 0
  end
  if rank == 0 and come_in and has_room(id) then return come_in(true) end
  if rank == 0 and foreign == 0 and (is_new or not is_open()) then want() end
  return {queued, place, now, rank, left, 1, foreign}
end
