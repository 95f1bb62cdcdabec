-- The server's own record. KEYS: the record. {number, the longest ttl in ms, run_id of the server
-- that it was begun at} | {nil, for how long it is known in ms that the record is gone, run_id: nil,
-- since when}
local record = redis.call('HMGET', KEYS[1], 'number', 'max-ttl', 'begun-at')
if record[1] then return record end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSETNX', KEYS[1], 'gone-since', string.format('%.0f', now))
local since = redis.call('HGET', KEYS[1], 'gone-since')
return {false, now - since, false, since}
