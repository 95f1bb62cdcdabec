-- A reader or a holder of permits lets go. The same answer when repeated. ARGV: id.
-- {1 released | 0 it was no member any more | 3 ask again, time}
local id = ARGV[1]
redis.call('HDEL', M, id)
local now = server_time()
local done, rest = 0, true
local ends = is_open() and tonumber(redis.call('ZSCORE', R, id))
if ends then
  local last = tonumber(redis.call('ZRANGE', R, -1, -1, 'WITHSCORES')[2])
  if ends > now then done = 1 end
  remove_member(id)
  rest = go_on(now, ends >= last)
else
  if owner == writer_of(id) then done = 1 end
  -- It may have asked twice: what it was granted has ended since, and it stands in line again.
  local was_first = next_in_line() == id
  redis.call('HDEL', P, id)
  if redis.call('ZREM', Q, id) == 1 or done == 1 or is_open() then
    rest = pass_on(id, was_first, now)
  end
end
return {rest == nil and again or done, now}
