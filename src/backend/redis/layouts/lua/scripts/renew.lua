-- Compare and PEXPIRE, many in one call: each stands for itself. KEYS: the locks.
-- ARGV, for each: owner, ttl in ms. {for each: 1 renewed | 0 another owner | 2 no owner}
local out = {}
for i, lock in ipairs(KEYS) do
  local owner = redis.pcall('GET', lock)
  out[i] = owner and 0 or 2
  if owner == ARGV[2 * i - 1] then out[i] = redis.call('PEXPIRE', lock, ARGV[2 * i]) end
end
return out
