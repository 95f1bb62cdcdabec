-- Takes the lock away from the owner that somebody saw, and from no other. ARGV: owner.
-- {1 it was taken away | 0 another owner or none | 3 ask again}
if owner ~= ARGV[1] then return {0} end
redis.call('HDEL', M, owner)
if handover(nil) == nil then return {again} end
return {1}
