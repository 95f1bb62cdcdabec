-- include: shared
-- Extends holds of writers and readers, many in one call: each stands for itself, and extends no
-- other. A hold that has ended stays ended.
-- KEYS, for each: the lock, the owner's hold. ARGV, for each: owner, ttl in ms.
-- {for each: 1 renewed | 0 another owner | 2 no owner}
local out = {}
for i = 1, #KEYS, 2 do
  local lock, hold, owner, ttl = KEYS[i], KEYS[i + 1], ARGV[i], ARGV[i + 1]
  local mode = mode_of(lock)
  out[#out + 1] = mode == false and 2 or 0
  if mode and redis.call('HEXISTS', lock, owner .. ':write') == 1 then
    out[#out] = extend(lock, ttl)
  elseif mode and redis.call('HEXISTS', lock, owner) == 1 then
    out[#out] = extend(hold, ttl) == 1 and 1 or 2
    if out[#out] == 1 then live_for(lock, ttl) end
  end
end
return out
