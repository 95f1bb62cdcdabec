-- Compares the owner and makes its lease last longer, many in one call: each stands for itself.
-- KEYS: the locks. ARGV, for each: owner, ttl in ms. {for each: 1 renewed | 0 another owner | 2 no
-- lock}
local out = {}
for i, lock in ipairs(KEYS) do
  if redis.pcall('HEXISTS', lock, ARGV[2 * i - 1]) == 1 then
    out[i] = redis.call('PEXPIRE', lock, math.max(ARGV[2 * i], redis.call('PTTL', lock)))
  else
    out[i] = redis.call('EXISTS', lock) == 1 and 0 or 2
  end
end
return out
