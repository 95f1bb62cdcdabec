-- Compares the stamp and writes a newer one, many in one call: each stands for itself.
-- KEYS: the locks. ARGV, for each: its stamp, that of a renewal without an answer, the newer one.
-- {for each: 1 renewed | 0 another stamp | 2 none}
local out = {}
for i, lock in ipairs(KEYS) do
  local stamp = redis.pcall('GET', lock)
  out[i] = stamp and 0 or 2
  if stamp == ARGV[3 * i - 2] or stamp == ARGV[3 * i - 1] then
    redis.call('SET', lock, ARGV[3 * i])
    out[i] = 1
  end
end
return out
