-- include: redisson/grant redisson/publish shared
-- Acquires the free lock, if nobody is before this owner; else takes a place in the queue, or keeps
-- it. May arrive twice: an owner is granted the lock once, and has one place.
-- KEYS: the lock, its queue, their times, the counter of RFencedLock.
-- ARGV: owner, ttl in ms, window in ms, channel, 1 it may queue, 1 it had a place,
-- the longest ttl in ms that may end before the next waiter's heartbeat.
-- {1, the number} it is ours | {0, ms until another try can succeed; -1: not known}
local counter, owner, ttl = KEYS[4], ARGV[1], ARGV[2]
local window, channel = tonumber(ARGV[3]), ARGV[4]
local may_queue, had_place = ARGV[5] == '1', ARGV[6] == '1'

for key, kind in pairs({[lock] = 'hash', [queue] = 'list', [times] = 'zset'}) do
  local found = redis.call('TYPE', key).ok
  if found ~= kind and found ~= 'none' then
    return redis.error_reply('BADTYPE the key ' .. key .. ' is a ' .. found)
  end
end
if redis.call('HEXISTS', lock, 'mode') == 1 then
  return redis.error_reply('OTHERKIND a read-write lock has this name')
end

if redis.call('HEXISTS', lock, owner) == 1 then
  return grant(lock, counter, owner, ttl, true)
end
local now = now_in_ms()
local is_free, evicted = evict(now, window)
local line = redis.call('LRANGE', queue, 0, -1)
local place = place_in(line, owner)

-- A waiter that was taken for dead was at the head then: its place is before all other waiters, and
-- among returning waiters of holdfast in the order of their first requests.
local function free_place()
  local at = 1
  if not had_place then return #line + 1 end
  while line[at] and is_ours(line[at]) and string.sub(line[at], 38) < string.sub(owner, 38) do
    at = at + 1
  end
  return at
end

if is_free and (place or free_place()) == 1 then
  local answer = grant(lock, counter, owner, ttl)
  if answer.err or not place then return answer end
  redis.call('LPOP', queue)
  redis.call('ZREM', times, owner)
  move_times(line, 2, -window)
  -- The next waiter knows the end of the lease before this one. When this lease is longer than a
  -- heartbeat, the waiter sends its request in time and learns the new end.
  if tonumber(ttl) <= tonumber(ARGV[7]) then wake_head(channel) end
  return answer
end

local left = redis.call('PTTL', lock)

local function take_place()
  place = free_place()
  if line[place] then
    redis.call('LINSERT', queue, 'BEFORE', line[place], owner)
    table.insert(line, place, owner)
    -- Its grant, or its end, takes a window off their times. Without one more, the next waiter would
    -- count as dead then.
    move_times(line, place + 1, window, is_ours)
  else
    redis.call('RPUSH', queue, owner)
    line[place] = owner
  end
end

-- Of a new waiter: a window after the owner before it, or after the end of the lease. One that asks
-- again needs a window for itself and one for each before it, whose grant takes one off; behind
-- waiters of Redisson, whose windows are their own, it keeps what it has.
local function keep_time()
  local time, least = time_of(owner), now + place * window
  if not time then
    local before = place > 1 and time_of(line[place - 1]) or now + math.max(left, 0)
    return set_time(owner, had_place and least or math.max(before + window, least))
  end
  for ahead = 1, place - 1 do
    if not is_ours(line[ahead]) then return time < least and set_time(owner, least) end
  end
  if time ~= least then set_time(owner, least) end
end

if may_queue then
  if not place then take_place() end
  keep_time()
end
-- A waiter behind the head may be the next before its next request: it asks when this lease ends.
if not is_free then return {0, left} end
if evicted and place ~= 1 then wake_head(channel) end
-- The head may acquire it now and end, with a lease that nobody knows yet.
return {0, line[1] and math.min(time_of(line[1]) - now, tonumber(ttl)) or -1}
