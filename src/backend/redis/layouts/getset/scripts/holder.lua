-- Reads the stamp of the lock, and the server's clock. KEYS: the lock.
-- {stamp, ms since 1970} | {} nobody, or no lock
local stamp = redis.pcall('GET', KEYS[1])
if type(stamp) ~= 'string' then return {} end
local time = redis.call('TIME')
return {stamp, time[1] * 1000 + math.floor(time[2] / 1000)}
