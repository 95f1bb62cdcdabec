-- include: lock grant shared members
-- Releases what a reader or a holder of permits has, and admits waiters. Repeatable: the answer
-- stays.
-- Source: docs/safety.md (rule 4: a release compares the owner).
-- ARGV: id. {1 released | 0 it was no member any more | 3 ask again, time}
local id = ARGV[1]
redis.call('HDEL', M, id, writer_of(id))
local now = server_time()
local done, rest = 0, true
local ends = is_shared() and tonumber(redis.call('ZSCORE', R, id))
if ends then
  local last = tonumber(redis.call('ZRANGE', R, -1, -1, 'WITHSCORES')[2])
  if ends > now then done = 1 end
  remove_member(id)
  rest = after_member_left(now, ends >= last)
else
  if owner == writer_of(id) then done = 1 end
  -- Its request may have been sent twice: the first grant has expired, and the second enqueued
  -- it.
  local was_first = first_waiter() == id
  redis.call('ZREM', R, id)  -- of a lock that ended before this request arrived
  if redis.call('ZREM', Q, id) == 1 or done == 1 or is_shared() or not owner then
    rest = after_waiter_left(id, was_first, now)
  end
end
return {rest == nil and again or done, now}
