-- Takes the lock away from the owner that somebody saw, and from no other: from all who share it
-- when that is seen, else from the one member. ARGV: owner.
-- {1 it was taken away | 0 another owner or none | 3 ask again}
local seen = ARGV[1]
local now = server_time()
if owner == seen then
  redis.call('HDEL', M, owner)
  disband()
  return {handover(now) == nil and again or 1}
end
if not is_open() then return {0} end
local ends = tonumber(redis.call('ZSCORE', R, seen))
remove_member(seen)  -- the first write
if go_on(now, true) == nil then return {again} end
return {ends and ends > now and 1 or 0}
