-- include: lock enqueue grant shared requests members
-- lock_or_queue.lua of a reader, which joins the group, and of a claim on a semaphore's permits.
-- Source: members and their leases as in docs/safety.md, with one queue for waiters of all kinds.
-- ARGV: id, ttl in ms, window in ms, arrival or '', '1' when its timer on the lock has ended, '1'
-- when it does not wait, total of the semaphore, the note of the holder for M or ''.
-- Answers as lock_or_queue.lua; an eighth part is 1 when the number is that of an earlier reader.
local id, ttl, total, note = ARGV[1], tonumber(ARGV[2]), ARGV[7], ARGV[8]
local is_reader = kind_of(id) == 'hfs:'
local now = server_time()
local wrong = other_kind(id)
if not wrong and not is_reader then
  local found = owner and string.sub(owner, 5) or first_waiter() and redis.call('HGET', P, '#')
  if found and found ~= total then
    wrong = redis.error_reply('OTHERKIND a semaphore of ' .. found .. ' permits has this name')
  end
end
if wrong then
  remove_waiter(id)
  return wrong
end
remove_expired(now)
if not owner then remove_lost_holders(id, now) end

local function join_group(is_new)
  local n = is_reader and tonumber(string.sub(owner, 5)) or next_number(now)
  if not n then return redis.error_reply(AHEAD) end
  if is_new then
    local was_in_line = redis.call('ZREM', Q, id) == 1
    redis.call('HDEL', M, id)
    if note ~= '' then
      redis.call('HSET', M, id, note)
      redis.call('PEXPIRE', M, 31626000000)
    end
    add_member(id, now + ttl * 1000)
    -- The earlier members were not notified of a writer behind this one.
    local came = admit_waiters(now)
    if came == 0 and was_in_line and is_reader and first_waiter() then notify_wanted() end
  else
    local ends = redis.call('ZSCORE', R, id)
    redis.call('ZADD', R, decimal(math.max(tonumber(ends), now + ttl * 1000)), id)
  end
  extend_group(now, true)
  return {granted, n, now, 0, ttl, redis.call('EXISTS', Q), 0, is_reader and 1 or 0}
end

local function create_group()
  remove_waiter(id)
  remove_group()
  if is_reader then
    local n = next_number(now, true)
    if not n then return redis.error_reply(AHEAD) end
    owner = 'hfg:' .. decimal(n)
  else
    owner = 'hfp:' .. total
    redis.call('HSET', P, '#', total, '', 0)
    redis.call('PEXPIRE', P, 31626000000)
  end
  redis.call('SET', K, owner, 'PX', ttl)  -- it expires though the rest be refused
  local answer = join_group(true)
  if is_reader then answer[8] = 0 end
  return answer
end

local first, was_free = first_waiter(), not owner
if first and first ~= id then  -- the first waiter may be dead, or there may be room for it now
  redis.call('HDEL', M, id)
  if not owner then
    owner = hand_over(now)
    if owner == nil then return {again, 0, now, 0, 0, 1, 0, 0} end
  elseif admit_waiters(now) > 0 then
    extend_group(now, true)
  end
  first = first_waiter()
end
if is_shared() and redis.call('ZSCORE', R, id) then return join_group(false) end
if not first or first == id then
  if not owner then return create_group() end
  if has_room(id) then return join_group(true) end
end
if ARGV[6] == '1' then return {busy, 0, now, 0, 0, 1, 0, 0} end
local place, is_new = enqueue(id, ARGV[3], ARGV[4], now)
if not is_reader then
  redis.call('HSET', P, '#', total)
  redis.call('PEXPIRE', P, 31626000000)
end
-- Its place may be an earlier one, before waiters for which there is no room, or those before it
-- left.
local answer = reply_to_waiter(id, place, is_new, now, ARGV[5] == '1',
  not is_reader and redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')[2], join_group)
if was_free and answer[1] == queued then answer[4] = 0 end
return answer
