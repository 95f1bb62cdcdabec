-- Begins the record of a server that has none, or one of an earlier process, if it is still as the
-- client has seen it: its data may have been lost again since.
-- KEYS: the record. ARGV: number, the longest ttl in ms, run_id, what was seen. 1 begun | 0 not.
local record = redis.call('HMGET', KEYS[1], 'begun-at', 'gone-since', 'number')
if (record[1] or record[2] or '') ~= ARGV[4] then return 0 end
local number = math.max(tonumber(record[3]) or 0, ARGV[1])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'number', string.format('%.0f', number), 'max-ttl', ARGV[2],
           'begun-at', ARGV[3])
return 1
