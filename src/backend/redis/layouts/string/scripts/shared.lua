-- part
-- The beginning of every script about one lock: its keys, and the steps that the scripts share.
-- Source: the single-instance lock of redis.io's "Distributed Locks with Redis", with a number
-- for each grant, a queue, and a release that hands the lock to the first waiter
-- (docs/safety.md).
--   K  the lock, a string: hf1:<client>:<claim>, one exclusive holder; hfg:<number>, a group of
--      readers with this number; hfp:<total>, a semaphore of this many permits
--   Q  the waiters: a sorted set id -> arrival    N  the server's counter
--   M  a hash: id -> of a waiter its window in ms, unless that is 250; of a holder its note
--   R  the members of a group or a semaphore: a sorted set id -> end of the lease, in us of the
--      server's clock. K lasts as long as the last of them
--   P  of a semaphore, a hash: '#' -> the total, '' -> the sum of all permits above one that the
--      members have. Where the sum is lost it is counted again from R, whose ids show the permits
-- The last argument of each script is a stamp: the first digits of the run_id of the server that
-- the caller means, or '' where it does not know it. It goes into each grant that is sent.
-- A claim is hf1:<client>:<claim>, as a reader hfs:..., as a holder of permits hfp:...; the second
-- eight of the 32 digits of such a claim are how many permits it wants or has. Its client listens
-- on the channel hf:<client>.
--
-- The first write of every script is a ZREM, ZPOPMIN, HDEL or DEL: at maxmemory the server
-- refuses a script whose first write takes memory, and a message that was published cannot be
-- taken back. Numbers are written with %.0f, since Lua's own format rounds them.
local K, Q, M, N, R, P = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local owner = redis.pcall('GET', K)
if type(owner) == 'table' then
  return redis.error_reply('BADTYPE the key of the lock holds something else')
end

local function kind_of(id) return string.sub(id, 1, 4) end
local function is_shared()
  return owner and (kind_of(owner) == 'hfg:' or kind_of(owner) == 'hfp:')
end
local function is_ours() return kind_of(owner) == 'hf1:' or is_shared() end
local function decimal(n) return string.format('%.0f', n) end
local function first_waiter() return redis.call('ZRANGE', Q, 0, 0)[1] end

local function send_message(id, what, text, call)
  local message = what .. '|' .. text .. '|' .. id .. '|' .. K
  return (call or redis.call)('PUBLISH', 'hf:' .. string.sub(id, 5, 20), message)
end

-- Notifies the holder, or all members, that another client waits.
local function notify_wanted()
  if not is_shared() then return send_message(owner, 'wanted', '') end
  for _, id in ipairs(redis.call('ZRANGE', R, 0, -1)) do send_message(id, 'wanted', '') end
end

local function server_time()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- The number of a new grant: above all earlier ones, and at most a second below the clock, so
-- that it grows even when the counter is lost: each connection has raised the counter to the
-- clock before its first request. A group's number is never below the clock: readers who join
-- later cannot check it. Nil when the counter is more than a second ahead of the clock.
local function next_number(now, is_group)
  local n = redis.call('INCR', N)
  if n > now + 1000000 then return nil end
  if n < (is_group and now or now - 1000000) then
    n = now
    redis.call('SET', N, decimal(n))
  end
  return n
end

local function remove_waiter(id)
  redis.call('ZREM', Q, id)
  redis.call('HDEL', M, id)
end

local function permits_of(id)
  return kind_of(id) == 'hfp:' and math.max(tonumber(string.sub(id, 30, 37), 16) or 1, 1) or 1
end

-- All permits above one that the members have.
local function permits_above_one()
  local sum = redis.call('HGET', P, '')
  if sum then return tonumber(sum) end
  sum = 0
  for _, id in ipairs(redis.call('ZRANGE', R, 0, -1)) do sum = sum + permits_of(id) - 1 end
  redis.pcall('HSET', P, '', sum)
  redis.pcall('PEXPIRE', P, 31626000000)
  return sum
end

-- A sum that was lost is left to permits_above_one().
local function add_above_one(more)
  if more ~= 0 and redis.call('HGET', P, '') then redis.call('HINCRBY', P, '', more) end
end

local function has_room(id)
  if not owner then return false end
  if kind_of(id) == 'hfs:' then return kind_of(owner) == 'hfg:' end
  if kind_of(id) ~= 'hfp:' or kind_of(owner) ~= 'hfp:' then return false end
  local used = redis.call('ZCARD', R) + permits_above_one()
  return used + permits_of(id) <= tonumber(string.sub(owner, 5))
end

-- Tells the first waiter to look at the lock at the time `at`: from here on it keeps the timer.
local function pass_timer(at)
  for _ = 1, 64 do
    local id = first_waiter()
    if not id or send_message(id, 'look', decimal(at)) > 0 then return end
    remove_waiter(id)
    -- The waiter that was just removed may have kept the next one out: that one looks now.
    id = first_waiter()
    if id and has_room(id) then at = 0 end
  end
end

-- The sum first: where one of the two is refused, too few permits are granted, not too many.
local function add_member(id, ends)
  add_above_one(permits_of(id) - 1)
  redis.call('ZADD', R, decimal(ends), id)
end

-- True when the id was a member.
local function remove_member(id)
  if redis.call('ZREM', R, id) == 0 then return false end
  redis.call('HDEL', M, id)
  add_above_one(1 - permits_of(id))
  return true
end

-- Takes back what was granted to a waiter that could not be notified: it is the first again.
local function take_back(id, noted, now)
  if kind_of(id) ~= 'hf1:' then
    remove_member(id)
  elseif owner then
    redis.call('SET', K, owner, 'PX', 1000)  -- as it was, until the request is repeated
  else
    redis.call('DEL', K)
  end
  local first = redis.call('ZRANGE', Q, 0, 0, 'WITHSCORES')[2]
  redis.call('ZADD', Q, decimal((first or now) - 1), id)
  redis.call('PEXPIRE', Q, 31626000000)
  if noted then redis.call('HSET', M, id, noted) end
end

-- Grants the lock, or a part of it, to a waiter for its window. Returns the window, and whether
-- others wait; nil when its client does not listen, so that a waiter that was killed costs
-- nothing. The grant is written before the message is sent: if the server refused the write after
-- the message, two claims would believe that they hold. The waiter leaves the queue last: if the
-- server refused the write after that, nobody would ever grant it the lock.
local function grant_to_waiter(id, n, now, others)
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
  local grant = string.format('%.0f|%.0f|%s|%d|%s', n, now, window, others, ARGV[#ARGV])
  local heard = send_message(id, 'grant', grant, redis.pcall)
  if type(heard) == 'table' then
    take_back(id, noted, now)
    heard = send_message(id, 'look', decimal(now))  -- ends the script with the same error
  end
  if heard > 0 then return tonumber(window), others end
  if not alone then remove_member(id) end
end

-- Makes K last as long as the last of its members. With `looks` the first waiter gets the timer:
-- it looks when what it waits for ends, or at once when there is room for it.
local function extend_group(now, looks)
  local first = redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')
  local last = redis.call('ZRANGE', R, -1, -1, 'WITHSCORES')
  local left = math.max(1, math.floor((last[2] - now) / 1000) + 1)
  redis.call('PEXPIRE', K, left)
  redis.call('PEXPIRE', R, left + 60000)
  local id = looks and first_waiter()
  if not id then return end
  if has_room(id) then
    pass_timer(now)
  else
    pass_timer(tonumber(kind_of(owner) == 'hfp:' and first[2] or last[2]))
  end
end

-- Admits the readers at the head of the queue. Returns how many of their clients listen.
local function admit_readers(now)
  local readers = {}
  for _, id in ipairs(redis.call('ZRANGE', Q, 0, 63)) do
    if kind_of(id) ~= 'hfs:' then break end
    readers[#readers + 1] = id
  end
  if #readers == 0 then return 0 end
  local id = redis.call('ZRANGE', Q, #readers, #readers)[1]
  local others = id and kind_of(id) ~= 'hfs:' and 1 or 0
  if others == 1 then notify_wanted() end  -- the readers who were admitted before
  local came, n = 0, tonumber(string.sub(owner, 5))
  for _, reader in ipairs(readers) do
    if grant_to_waiter(reader, n, now, others) then came = came + 1 end
  end
  return came
end

-- Admits the waiters at the head of the queue to the group or semaphore, each for its window. For
-- a semaphore, while their permits fit: small requests do not pass a large one. Returns how many
-- came.
local ahead = false
local function admit_waiters(now)
  if kind_of(owner) == 'hfg:' then return admit_readers(now) end
  local came = 0
  for _ = 1, 64 do
    local id = first_waiter()
    if not id or not has_room(id) then break end
    local n = next_number(now)
    if not n then  -- the waiter gets the error when it sends its request again
      ahead = true
      pass_timer(now)
      break
    end
    if grant_to_waiter(id, n, now) then came = came + 1 end
  end
  return came
end

-- Removes what an earlier group or semaphore has left; the waiters stay.
local function remove_group()
  for _, id in ipairs(redis.call('ZRANGE', R, 0, -1)) do
    redis.call('HDEL', M, id)
  end
  redis.call('DEL', R)
  redis.call('HDEL', P, '')
end

-- Makes the free lock a group or a semaphore, for the first waiter and all that may be admitted
-- with it. Nil when none of their clients listens; false when that is left to their next requests.
local function open_group(id, now)
  remove_group()
  if kind_of(id) == 'hfp:' then
    local total = redis.call('HGET', P, '#')
    if not total then return false end  -- it was lost; the waiter's next request has it
    owner = 'hfp:' .. total
  else
    local n = next_number(now, true)
    if not n then return false end
    owner = 'hfg:' .. decimal(n)
  end
  redis.call('SET', K, owner, 'PX', 1000)
  if admit_waiters(now) == 0 then
    if ahead then return false end
    return nil
  end
  extend_group(now, true)
  return owner
end

-- Hands the lock to the first waiter whose client listens, for its window, and to those who share
-- it.
-- Returns the new owner and the number; false when nobody waits and the lock is free; nil when
-- there were more dead waiters than one call removes: the caller repeats it. The waiter behind
-- the new owner gets the timer, for the end of the window.
local function hand_over(now)
  local before = owner
  for _ = 1, 64 do
    local id = first_waiter()
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
      local whom = open_group(id, now)
      if whom then return whom end
      n = whom == nil
    end
    if not n then  -- the waiters get the error, one after the other, when they look
      redis.call('DEL', K)
      pass_timer(now)
      return false
    end
    if alone then
      local window, others = grant_to_waiter(id, n, now)
      if window then
        if others == 1 then pass_timer(now + window * 1000) end
        return id, n
      end
    end
  end
  if before then redis.call('SET', K, before, 'PX', 1000) else redis.call('DEL', K) end
  return nil
end

-- Removes notes of holders that were killed, or that lost the lock without a release: at most
-- four a call. For a lock that was free, and is requested by `id`.
local function remove_lost_holders(id, now)
  local found = redis.pcall('HSCAN', M, decimal(now), 'COUNT', 8)
  local fields = found[2] or {}
  local count, gone = #fields / 2, 0
  for i = 1, math.min(count, 16) do  -- HSCAN returns a small hash whole: vary where to begin
    local field = fields[(now + i) % count * 2 + 1]
    local is_known = field == id or redis.call('ZSCORE', Q, field) or redis.call('ZSCORE', R, field)
    if not is_known and gone < 4 then gone = gone + redis.call('HDEL', M, field) end
  end
end

local AHEAD = 'AHEAD the counter is more than a second ahead of the server clock'
local busy, granted, queued, again = 0, 1, 2, 3

-- One name is one kind of lock: an error when the holder or the first waiter is of another kind.
local function other_kind(id)
  local found = owner or first_waiter()
  if not found or found == id then return nil end
  local is_semaphore, wants_permits = kind_of(found) == 'hfp:', kind_of(id) == 'hfp:'
  if is_semaphore and not wants_permits then
    local total = owner and string.sub(owner, 5) or redis.call('HGET', P, '#') or '?'
    return redis.error_reply('OTHERKIND a semaphore of ' .. total .. ' permits has this name')
  elseif wants_permits and not is_semaphore then
    return redis.error_reply('OTHERKIND a mutex has this name')
  end
end

-- Grants the free lock to the caller. {state, number or arrival, time, rank, pttl, others,
-- foreign}
local function grant_to_caller(id, ttl, now)
  remove_waiter(id)
  local n = next_number(now)
  if not n then return redis.error_reply(AHEAD) end
  redis.call('SET', K, id, 'PX', ttl)
  local others = redis.call('EXISTS', Q)
  if others == 1 then pass_timer(now + ttl * 1000) end
  return {granted, n, now, 0, tonumber(ttl), others, 0}
end

-- Puts a claim at the end of the queue, or where it was before. Returns its place, and whether it
-- is new.
local function enqueue(id, window, arrival, now)
  redis.call('HDEL', M, id)  -- the first write; repeated below
  local place = tonumber(redis.call('ZSCORE', Q, id) or arrival) or now
  local is_new = redis.call('ZADD', Q, decimal(place), id) == 1
  if window ~= '250' then redis.call('HSET', M, id, window) end
  -- A little longer than the longest ttl: every waiter extends it, and it ends after the last
  -- one.
  redis.call('PEXPIRE', Q, 31626000000)
  redis.call('PEXPIRE', M, 31626000000)
  return place, is_new
end

-- The reply to a waiter in the queue. `looks`: it sends this because its timer has ended; the
-- first waiter gets a timer again, and those before it whose clients do not listen are removed.
-- `at`: when what it waits for ends, unless that is K. `join_group`: called when there is room
-- for it now. Members are notified that others wait when the queue begins; a later member learns
-- it from its grant. Notifying thousands of them at each request would cost more than everything
-- else.
local function reply_to_waiter(id, place, is_new, now, looks, at, join_group)
  local rank, left = redis.call('ZRANK', Q, id) or 0, redis.call('PTTL', K)
  if at and left > 0 then left = math.max(0, math.floor((at - now) / 1000) + 1) end
  local foreign = owner and is_ours() and 0 or 1
  if looks and rank > 0 then
    -- A foreign holder notifies nobody when it releases: the first waiter polls.
    pass_timer(now + (foreign == 0 and math.max(left, 0) or 0) * 1000)
    rank = redis.call('ZRANK', Q, id) or 0
  end
  if rank == 0 and join_group and has_room(id) then return join_group(true) end
  if rank == 0 and foreign == 0 and (is_new or not is_shared()) then notify_wanted() end
  return {queued, place, now, rank, left, 1, foreign}
end
