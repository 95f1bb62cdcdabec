-- include: redisson/publish shared
-- A claim gives its permits back, those that are left. ARGV: claim, its permits, now, the
-- channel. 1 it had all of them | 0 not any more
local count, permits, channel = KEYS[1], KEYS[2], ARGV[4]
if tonumber(ARGV[2]) > claim_max or other_type(count, permits) then return 0 end
reclaim(count, permits, channel, tonumber(ARGV[3]))
local mine = permits_of(ARGV[1], permits, tonumber(ARGV[2]))
remove(count, permits, channel, mine)
return #mine == tonumber(ARGV[2]) and 1 or 0
