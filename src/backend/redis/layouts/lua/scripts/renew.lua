-- Compare and PEXPIRE, many in one call: each stands for itself, and no lease becomes shorter.
-- KEYS: the locks.
-- ARGV, for each: owner, ttl in ms. {for each: 1 renewed | 0 another owner | 2 no owner}
local out = {}
for i, lock in ipairs(KEYS) do
  local owner = redis.pcall('GET', lock)
  out[i] = owner and 0 or 2
  if owner == ARGV[2 * i - 1] then
    out[i] = redis.call('PEXPIRE', lock, math.max(ARGV[2 * i], redis.call('PTTL', lock)))
  end
end
return out
