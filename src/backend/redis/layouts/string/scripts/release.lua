-- The owner lets go, and the lock is handed to the first in line. The same answer when repeated.
-- ARGV: id. {1 released | 0 another owner or none | 3 ask again, 0}
local id = ARGV[1]
if owner ~= id then
  -- It asked twice and was granted what has lapsed since: the second question put it in line again.
  if redis.call('ZREM', Q, id) == 1 then
    redis.call('HDEL', M, id)
    if owner then
      next_looks(server_time() + math.max(redis.call('PTTL', K), 0) * 1000)
    elseif handover(nil) == nil then
      return {again, 0}
    end
  end
  return {0, 0}
end
redis.call('HDEL', M, id)
return {handover(nil) == nil and again or 1, 0}
