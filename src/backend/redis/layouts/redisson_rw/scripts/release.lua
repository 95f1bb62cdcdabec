-- include: redisson/publish shared
-- Ends the owner's hold, as a writer or as a reader, and publishes when that lets others in: 1 wakes
-- all who wait, 0 one of each client of Redisson.
-- KEYS: the lock, the owner's hold. ARGV: owner, what all holds begin with, channel.
-- 1 released | 3 and a waiter got the message | 0 it was not the owner | 2 nobody has the lock
local lock, hold = KEYS[1], KEYS[2]
local owner, holds, channel = ARGV[1], ARGV[2], ARGV[3]
local mode = mode_of(lock)
if mode == false then return 2 end
if mode == nil then return 0 end
if redis.call('HEXISTS', lock, owner .. ':write') == 1 then
  end_writer(lock, holds, owner .. ':write')
  return publish(channel, 1) > 0 and 3 or 1
end
if redis.call('HDEL', lock, owner) == 0 then return 0 end
local rest = redis.call('PTTL', hold)
redis.call('DEL', hold)
if mode == 'write' then return 1 end
-- A writer that waits for the longest hold asks anew when that was this one: the readers that are
-- left may be dead, and end earlier.
local most = remove_dead(lock, holds, true)
local wakes = not most or most >= 0 and rest > most
return wakes and publish(channel, 0) > 0 and 3 or 1
