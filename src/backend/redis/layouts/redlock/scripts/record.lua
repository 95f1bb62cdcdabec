-- The server's own record. KEYS: the record. ARGV: the process. {number, the longest ttl in ms, run_id
-- of the server that it was begun at} | {nil, for how long it is known in ms that the record is gone,
-- run_id: nil, since when}. What another process has found out is no knowledge of this one: a server
-- that was a replica has the time of its master.
local record = redis.call('HMGET', KEYS[1], 'number', 'max-ttl', 'begun-at')
if record[1] then return record end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local gone = redis.call('HMGET', KEYS[1], 'gone-since', 'gone-at')
local since = gone[1]
if not since or gone[2] ~= ARGV[1] then
  since = string.format('%.0f', now)
  redis.call('HSET', KEYS[1], 'gone-since', since, 'gone-at', ARGV[1])
end
return {false, now - since, false, since}
