-- A claim takes the lock if it is free and nobody else is first, else it waits in line. Asking
-- again changes nothing but finds out: how the lock stands, and what became of an unanswered take.
-- ARGV: id, ttl in ms, window in ms, arrival or '', '1' when its timer on the lock has ended.
local id, ttl = ARGV[1], ARGV[2]
local now = server_time()
if owner == id then
  -- It asked twice. A renewal may have come between: nothing that it gave is taken back.
  return grant_to(id, math.max(tonumber(ttl), redis.call('PTTL', K)), now)
end
local wrong = other_kind(id)
if wrong then
  drop(id)
  return wrong
end
if not owner then
  forget_the_lost(id, now)
  local first = next_in_line()
  if not first or first == id then return grant_to(id, ttl, now) end
end
local place, is_new = line_up(id, ARGV[3], ARGV[4], now)
if not owner then
  local whom, n = handover(now)
  if whom == nil then return {again, place, now, 0, 0, 1, 0} end
  if whom == id then
    redis.call('PEXPIRE', K, ttl)
    return {granted, n, now, 0, tonumber(ttl), redis.call('EXISTS', Q), 0}
  end
  owner = whom
  -- Nobody before it looked when the lock became free: it looks again itself, as the next in line.
  local answer = in_line(id, place, is_new, now, ARGV[5] == '1')
  answer[4] = 0
  return answer
end
return in_line(id, place, is_new, now, ARGV[5] == '1')
