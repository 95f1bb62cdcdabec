-- include: lock grant shared members
-- Takes the lock from the owner that an administrator saw, and from no other: from all members
-- when that is the group's owner, else from the one member.
-- Source: redis.io's compare-and-delete, by an administrator.
-- ARGV: owner. {1 taken away | 0 another owner or none | 3 ask again}
local seen = ARGV[1]
local now = server_time()
if owner == seen then
  redis.call('HDEL', M, owner)
  remove_group()
  return {hand_over(now) == nil and again or 1}
end
if not is_shared() then return {0} end
local ends = tonumber(redis.call('ZSCORE', R, seen))
remove_member(seen)  -- the first write
if after_member_left(now, true) == nil then return {again} end
return {ends and ends > now and 1 or 0}
