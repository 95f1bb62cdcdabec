-- part
-- The beginning of every script of layout `redisson-rw`. The lock is a hash: mode -> read or write,
-- <owner> -> the count of its read holds, <owner>:write -> that of its write holds. Each read hold
-- has a key of its own besides, which lives as long as its lease: without any of them a reader is
-- dead, whatever the hash holds.
-- Source: RedissonReadLock and RedissonWriteLock of Redisson.
-- read, write, false: nobody's; nil: it is another type of lock, or no lock.
local function mode_of(lock)
  local kind = redis.call('TYPE', lock).ok
  if kind == 'none' then return false end
  local mode = kind == 'hash' and redis.call('HGET', lock, 'mode')
  return (mode == 'read' or mode == 'write') and mode or nil
end

local function hold_key(holds, owner, n) return holds .. owner .. ':rwlock_timeout:' .. n end

-- Of the reader's longest hold, in ms; -1: it has no end; nil: all have ended.
local function rest_of(lock, holds, owner, count)
  local n = tonumber(count)
  local is_count = n and n >= 1 and n <= 1000 and n == math.floor(n)
  if not is_count then return redis.call('PTTL', lock) end  -- not a reader's: it lives with the lock
  local most
  for i = 1, n do
    local rest = redis.call('PTTL', hold_key(holds, owner, i))
    if rest == -1 then return -1 end
    if rest >= 0 then most = math.max(most or 0, rest) end
  end
  return most
end

-- Of a lock of readers: removes those that are dead, and the lock with its last one; it lives as
-- long as the longest hold that is left. `ended`: a hold has ended besides. {what is left of the
-- longest hold in ms; -1: one has no end; nil: nobody is left, whether one is holdfast's}.
-- An owner of holdfast ends in 19 digits. Redisson's end in the number of a thread, from 1 on.
local function remove_dead(lock, holds, ended)
  local fields = redis.call('HGETALL', lock)
  local most, is_ours
  for i = 1, #fields, 2 do
    local owner = fields[i]
    local rest = owner ~= 'mode' and rest_of(lock, holds, owner, fields[i + 1])
    if rest then
      most = (rest == -1 or most == -1) and -1 or math.max(most or 0, rest)
      is_ours = is_ours or #owner == 56
    elseif owner ~= 'mode' then
      ended = redis.call('HDEL', lock, owner)
    end
  end
  if not most then
    redis.call('DEL', lock)
  elseif ended and most >= 0 then
    redis.call('PEXPIRE', lock, math.max(most, 1))
  end
  return most, is_ours
end

-- Ends a writer. Where it reads too, it stays a reader. The first write takes no memory, or can be
-- refused without harm.
local function end_writer(lock, holds, field)
  if redis.call('HLEN', lock) == 2 then return redis.call('DEL', lock) end
  redis.call('HSET', lock, 'mode', 'read')
  redis.call('HDEL', lock, field)
  remove_dead(lock, holds, true)
end

-- A key never lives shorter than before: two requests of one owner may arrive in the other order.
-- 0: there is no such key.
local function extend(key, ttl)
  return redis.call('PEXPIRE', key, math.max(ttl, redis.call('PTTL', key)))
end

-- The lock lives at least as long as this hold of it.
local function live_for(lock, ttl)
  local rest = redis.call('PTTL', lock)
  if rest >= 0 and rest < tonumber(ttl) then redis.call('PEXPIRE', lock, ttl) end
end
