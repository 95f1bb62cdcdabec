-- include: publish
-- Takes the lock from the owner that an administrator saw, with all of its holds, and notifies a
-- waiter of each client. Leaves a read-write lock as it is: its holds have keys of their own, which
-- layout `redisson-rw` removes.
-- KEYS: the lock. ARGV: owner, channel ('': no waiter listens), queue of the RFairLock of this name.
-- 1 taken away | 0 another owner, or another kind of lock | 2 no lock
local lock, seen, channel, queue = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if redis.pcall('HEXISTS', lock, 'mode') == 1 then return 0 end
if redis.pcall('HEXISTS', lock, seen) ~= 1 then
  return redis.call('EXISTS', lock) == 1 and 0 or 2
end
redis.call('HDEL', lock, seen)
if channel == '' or redis.call('EXISTS', lock) == 1 then return 1 end
publish(channel, '0')
-- The lock may be an RFairLock, whose first waiter listens to a channel of its own. The queue is no
-- key of the call, so that a user without the right to it can break the lock all the same.
local head = redis.pcall('LINDEX', queue, 0)
if type(head) == 'string' then publish(channel .. ':' .. head, '0') end
return 1
