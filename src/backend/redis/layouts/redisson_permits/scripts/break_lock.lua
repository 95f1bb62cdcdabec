-- include: redisson/publish shared
-- Takes a claim's permits away. ARGV: claim, its first permit, the channel.
-- 1 done | 0 there is no such permit
local count, permits, channel = KEYS[1], KEYS[2], ARGV[3]
if other_type(count, permits) or not redis.call('ZSCORE', permits, ARGV[2]) then return 0 end
local those = {}
for _, one in ipairs(redis.call('ZRANGE', permits, 0, -1)) do
  if string.sub(one, 1, 12) == ARGV[1] then those[#those + 1] = one end
end
remove(count, permits, channel, those)
return 1
