-- part
-- The queue of RFairLock: a list of owners, the next one first, and a sorted set of the time (ms
-- since 1970) from which on each is taken for dead, once it is at the head of the list.
local lock, queue, times = KEYS[1], KEYS[2], KEYS[3]
local foreign_window = 300000  -- fairLockWaitTimeout of Redisson, unless it is configured otherwise

-- One clock for all clients of holdfast. Those of Redisson take their own.
local function now_in_ms()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- "<uuid>:<8 * 10^18 + when it began, in us since 1970>": a waiter of holdfast, which asks again
-- within its window.
local function is_ours(owner) return #owner == 56 and string.sub(owner, 37, 40) == ':800' end

local function place_in(line, owner)
  for place, each in ipairs(line) do
    if each == owner then return place end
  end
end

local function time_of(owner)
  local time = redis.call('ZSCORE', times, owner)
  return time and tonumber(time)
end

-- Moves the times of the waiters at `from` and behind: each waits for a window of ours more, or for
-- one less.
local function move_times(line, from, by, is_concerned)
  for place = from, #line do
    if not is_concerned or is_concerned(line[place]) then
      redis.call('ZADD', times, 'XX', 'INCR', by, line[place])
    end
  end
end

local function set_time(owner, time)
  redis.call('ZADD', times, time, owner)
  return time
end

-- Until when the others wait for the head. While the lock is free, a head of ours has one window at
-- the most, whatever lease it was to wait for. Redisson would wait for ever for a head without a
-- time; here it gets one.
local function time_of_head(head, now, window, is_free)
  local time = time_of(head)
  if not time then return set_time(head, now + (is_ours(head) and window or foreign_window)) end
  if is_free and is_ours(head) and time > now + window then return set_time(head, now + window) end
  return time
end

-- Removes dead heads. Redisson leaves the other times as they are; here the waiters of ours behind
-- a removed waiter of ours lose its window, so that waiters that died together go together.
-- Returns whether the lock is free, and whether a head was removed.
local function evict(now, window)
  local is_free, any = redis.call('EXISTS', lock) == 0, false
  local head = redis.call('LINDEX', queue, 0)
  while head and time_of_head(head, now, window, is_free) <= now do
    redis.call('ZREM', times, head)
    redis.call('LPOP', queue)
    if is_ours(head) then
      move_times(redis.call('LRANGE', queue, 0, -1), 1, -window, is_ours)
    end
    any = true
    head = redis.call('LINDEX', queue, 0)
  end
  return is_free, any
end

local function wake_head(channel)
  local head = redis.call('LINDEX', queue, 0)
  if head then publish(channel .. ':' .. head, '0') end
end

-- After a release: the head may try.
local function wake_if_free(window, channel)
  if evict(now_in_ms(), window) then wake_head(channel) end
end
