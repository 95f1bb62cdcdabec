-- Begins the record of a server that has none: it was never used, or has lost its data.
-- KEYS: the record. ARGV: number, the longest ttl in ms, run_id. 1 begun | 0 it has one already.
if redis.call('HEXISTS', KEYS[1], 'number') == 1 then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'number', ARGV[1], 'max-ttl', ARGV[2], 'begun-at', ARGV[3])
return 1
