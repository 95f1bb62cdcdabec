-- Locks that nobody is known to wait for, and of which the server keeps no notes: freed, many in one
-- call. KEYS: K, Q of each lock. ARGV: id of each.
-- {for each: 1 free | 0 another owner or none | 3 somebody waits: release it in full}
local out = {}
for i, id in ipairs(ARGV) do
  local lock = KEYS[2 * i - 1]
  if redis.pcall('GET', lock) ~= id then
    out[i] = 0
  elseif redis.call('EXISTS', KEYS[2 * i]) == 1 then
    out[i] = 3
  else
    redis.call('DEL', lock)
    out[i] = 1
  end
end
return out
