-- Reads the stamp of the lock, and the server's clock. KEYS: the lock.
-- {stamp, ms since 1970} | {} nobody
local stamp = redis.pcall('GET', KEYS[1])
if not stamp then return {} end
if type(stamp) == 'table' then return stamp end  -- a key of another type
local time = redis.call('TIME')
return {stamp, time[1] * 1000 + math.floor(time[2] / 1000)}
