-- part
-- The steps of the scripts that request a lock. After shared.lua and enqueue.lua.

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
