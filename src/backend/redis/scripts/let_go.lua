-- Locks that nobody is known to wait for, and of which the server keeps no notes: freed, many in one
-- call. KEYS: K, Q of each lock. ARGV: id of each.
-- {for each: 1 free | 0 another owner or none | 3 somebody waits: release it in full}
local out, free = {}, {}
-- Of several: one question for all lines, one command for all locks.
local at_once = #ARGV > 1 and #ARGV < 1000
local some_wait = true
if at_once then
  local lines = {}
  for i = 1, #ARGV do lines[i] = KEYS[2 * i] end
  some_wait = redis.call('EXISTS', unpack(lines)) > 0
end
for i, id in ipairs(ARGV) do
  local lock = KEYS[2 * i - 1]
  if redis.pcall('GET', lock) ~= id then
    out[i] = 0
  elseif some_wait and redis.call('EXISTS', KEYS[2 * i]) == 1 then
    out[i] = 3
  else
    out[i] = 1
    if at_once then
      free[#free + 1] = lock
    else
      redis.call('DEL', lock)
    end
  end
end
if #free > 0 then redis.call('DEL', unpack(free)) end
return out
