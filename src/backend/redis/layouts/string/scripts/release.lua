-- include: lock grant hand_to_first_waiter shared
-- Releases the lock and hands it to the first waiter. Repeatable: the answer stays.
-- Source: redis.io's compare-and-delete, with the hand-over of docs/safety.md.
-- ARGV: id. {1 released | 0 another owner or none | 3 ask again, 0}
if timer_at then  -- the waiter behind the new owner does not listen
  pass_timer(timer_at)
  return {1, 0}
end
if owner ~= id then
  -- The request was sent twice: the first grant has expired, and the second one enqueued the
  -- claim.
  if redis.call('ZREM', Q, id) == 1 then
    if owner then
      pass_timer(server_time() + math.max(redis.call('PTTL', K), 0) * 1000)
    elseif hand_over(nil) == nil then
      return {again, 0}
    end
  end
  return {0, 0}
end
return {hand_over(nil) == nil and again or 1, 0}
