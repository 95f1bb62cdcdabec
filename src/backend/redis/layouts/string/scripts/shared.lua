-- part
-- The steps that the scripts about one lock share: its queue, its members and the hand-over.
-- After lock.lua and grant.lua.

local function is_shared()
  return owner and (kind_of(owner) == 'hfg:' or kind_of(owner) == 'hfp:')
end
local function is_ours() return kind_of(owner) == 'hf1:' or is_shared() end
local function first_waiter() return redis.call('ZRANGE', Q, 0, 0)[1] end

-- Notifies the holder, or all members, that another client waits.
local function notify_wanted()
  if not is_shared() then return send_message(owner, 'wanted', '') end
  for _, id in ipairs(redis.call('ZRANGE', R, 0, -1)) do send_message(id, 'wanted', '') end
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
function add_member(id, ends)
  add_above_one(permits_of(id) - 1)
  redis.call('ZADD', R, decimal(ends), id)
end

-- True when the id was a member.
function remove_member(id)
  if redis.call('ZREM', R, id) == 0 then return false end
  redis.call('HDEL', M, id)
  add_above_one(1 - permits_of(id))
  return true
end

-- Makes K last as long as the last of its members. With `looks` the first waiter gets the timer:
-- it looks when what it waits for ends, or at once when there is room for it.
local function extend_group(now, looks)
  local last = redis.call('ZRANGE', R, -1, -1, 'WITHSCORES')[2]
  local left = math.max(1, math.floor((last - now) / 1000) + 1)
  redis.call('PEXPIRE', K, left)
  redis.call('PEXPIRE', R, left + 60000)
  local id = looks and first_waiter()
  if not id then return end
  if has_room(id) then
    pass_timer(now)
  elseif kind_of(owner) == 'hfp:' then
    pass_timer(tonumber(redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')[2]))
  else
    pass_timer(tonumber(last))
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
