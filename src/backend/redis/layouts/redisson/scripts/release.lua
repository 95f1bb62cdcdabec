-- include: publish
-- Compares the owner, ends all of its holds and tells a waiter of each client. Needs no latch: once
-- it is released, another release by the same owner finds nothing.
-- KEYS: the lock. ARGV: owner, channel ('': nobody listens).
-- 1 it was released | 3 and somebody was told | 0 another owner | 2 no lock
local gone = redis.pcall('HDEL', KEYS[1], ARGV[1])
if type(gone) == 'table' and not string.find(gone.err, '^WRONGTYPE') then return gone end
if gone ~= 1 then return redis.call('EXISTS', KEYS[1]) == 1 and 0 or 2 end
if ARGV[2] == '' or redis.call('EXISTS', KEYS[1]) == 1 then return 1 end
local told = publish(ARGV[2], '0')
return told > 0 and 3 or 1
