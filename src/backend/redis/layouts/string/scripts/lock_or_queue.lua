-- include: lock enqueue queue_behind_holder grant shared requests
-- Grants the lock if it is free and no other claim is first, else enqueues the claim. Sent again,
-- it changes nothing and answers how things are, also after a try_lock whose reply was lost.
-- Source: the queue of docs/safety.md (rule 4); the grant is redis.io's SET key id PX ttl.
-- ARGV: id, ttl in ms, window in ms, arrival or '', '1' when its timer on the lock has ended.
-- {0 busy | 1 granted | 2 queued | 3 ask again, number or arrival, time, rank, pttl, others,
-- foreign}
if owner == id then
  -- The request was sent twice. A renewal that arrived in between is never shortened.
  return grant_to_caller(id, math.max(tonumber(ttl), redis.call('PTTL', K)), now)
end
local wrong = other_kind(id)
if wrong then
  remove_waiter(id)
  return wrong
end
if not owner then
  remove_lost_holders(id, now)
  local first = first_waiter()
  if not first or first == id then return grant_to_caller(id, ttl, now) end
end
local place, is_new = enqueue(id, ARGV[3], ARGV[4], now)
if not owner then
  local whom, n = hand_over(now)
  if whom == nil then return {again, place, now, 0, 0, 1, 0} end
  if whom == id then
    redis.call('PEXPIRE', K, ttl)
    return {granted, n, now, 0, tonumber(ttl), redis.call('EXISTS', Q), 0}
  end
  owner = whom
  -- No waiter before this one looked when the lock became free: this one keeps the timer, as the
  -- first waiter does.
  local answer = reply_to_waiter(id, place, is_new, now, looks)
  answer[4] = 0
  return answer
end
return reply_to_waiter(id, place, is_new, now, looks)
