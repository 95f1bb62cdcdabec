-- part
-- The next number, and a grant to a waiter. After lock.lua.
local add_member, remove_member  -- of shared.lua; only called for readers and holders of permits
local AHEAD = 'AHEAD the counter is more than a second ahead of the server clock'

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
