-- An attempt at one server of a Redlock. KEYS: the lock, the server's own record.
-- ARGV: owner, ttl in ms, the run_id in the record that the client has judged. {1, the server's
-- number} it is ours here | {0, owner, what is left of its lease in ms; -1: it has no end} another's
-- | {2} that record is gone, or another server's: the server has lost its data.
local record = redis.call('HMGET', KEYS[2], 'number', 'begun-at')
if not record[1] or record[2] ~= ARGV[3] then return {2} end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local owner = redis.pcall('GET', KEYS[1])
  return {0, type(owner) == 'string' and owner or '', redis.call('PTTL', KEYS[1])}
end
return {1, redis.call('HINCRBY', KEYS[2], 'number', 1)}
