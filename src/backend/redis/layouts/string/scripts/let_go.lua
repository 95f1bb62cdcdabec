-- Locks that nobody is known to wait for, and of which the server keeps no notes: freed, many in one
-- call. KEYS: K of each lock, then Q of each. ARGV: id of each.
-- Of one lock, or of all when they are free, or {for each}: 1 free | 0 another owner or none |
-- 3 somebody waits: release it in full
local count = #ARGV
local function let_go(lock, line, id)
  if redis.pcall('GET', lock) ~= id then return 0 end
  if redis.call('EXISTS', line) == 1 then return 3 end
  redis.call('DEL', lock)
  return 1
end
if count == 1 then return let_go(KEYS[1], KEYS[2], ARGV[1]) end
-- Mostly all are theirs and nobody waits: one question for all lines, one command for all locks.
local at_once = count < 1000 and redis.call('EXISTS', unpack(KEYS, count + 1)) == 0
for i = 1, count do at_once = at_once and redis.pcall('GET', KEYS[i]) == ARGV[i] end
if at_once then
  redis.call('DEL', unpack(KEYS, 1, count))
  return 1
end
local out = {}
for i, id in ipairs(ARGV) do out[i] = let_go(KEYS[i], KEYS[count + i], id) end
return out
