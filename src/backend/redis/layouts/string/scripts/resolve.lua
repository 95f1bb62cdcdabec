-- include: lock grant
-- What became of a try_lock whose reply was lost. A grant is renewed, and gets a new number.
-- Source: docs/safety.md (rule 3: an unknown acquire is resolved).
-- ARGV: id, ttl in ms. {1 it holds, and the lease begins now | 0 it does not, number, time,
-- others}
local now = server_time()
if owner ~= ARGV[1] then return {0, 0, now, 0} end
redis.call('PEXPIRE', K, math.max(ARGV[2], redis.call('PTTL', K)))
local n = next_number(now)
if not n then return redis.error_reply(AHEAD) end
return {1, n, now, redis.call('EXISTS', Q)}
