-- part
-- The beginning of the scripts about readers and holders of permits, after shared.lua.
-- Removes members whose lease has expired, and the group with its last member.
local function remove_expired(now)
  if not is_shared() then return end
  while true do
    local first = redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')
    if not first[1] then
      owner = false
      return
    end
    if tonumber(first[2]) > now then return end
    remove_member(first[1])
  end
end

-- The id under which a reader was a writer before its downgrade.
local function writer_of(id) return kind_of(id) == 'hfs:' and 'hf1:' .. string.sub(id, 5) or id end

-- After a member has left: admits the waiters for which there is room now. Nil: the caller
-- repeats it.
local function after_member_left(now, looks)
  remove_expired(now)
  if not owner then return hand_over(now) end
  local came = admit_waiters(now)
  extend_group(now, looks or came > 0)
  return true
end

-- After a claim has left the queue, or a lock that it held alone.
local function after_waiter_left(id, was_first, now)
  if is_shared() then
    local rest = after_member_left(now, true)
    if was_first and is_shared() and first_waiter() then notify_wanted() end
    return rest
  end
  if owner == writer_of(id) then redis.call('HDEL', M, owner) end
  -- A free lock for which nobody waits is left without notes and without counts of permits.
  local is_unused = not owner and not first_waiter()
  if owner == writer_of(id) or (not owner and was_first) or is_unused then return hand_over(now) end
  if owner then
    -- A foreign holder notifies nobody when it releases: the first waiter begins to poll.
    local left = is_ours() and redis.call('PTTL', K) or 0
    pass_timer(now + math.max(left, 0) * 1000)
    -- A holder that took the lock past a queue behind a foreign holder was not notified, and the
    -- waiter that looks sends no request that would notify it.
    if is_ours() and first_waiter() then notify_wanted() end
  end
  return true
end
