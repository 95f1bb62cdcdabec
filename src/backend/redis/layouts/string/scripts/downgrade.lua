-- include: lock grant shared
-- Makes the exclusive holder the first reader of a group, under the same number, and admits the
-- readers at the head of the queue. Repeatable: the answer stays.
-- Source: ReentrantReadWriteLock's lock downgrading, in one step at the server.
-- ARGV: id, number. {1 it is a reader | 0 another owner or none, time}
local id, n = ARGV[1], ARGV[2]
local reader = 'hfs:' .. string.sub(id, 5)
local now = server_time()
if owner ~= id then
  local is_reader = owner and kind_of(owner) == 'hfg:' and redis.call('ZSCORE', R, reader)
  return {is_reader and 1 or 0, now}
end
local left = math.max(redis.call('PTTL', K), 1)
remove_group()
-- The member first: a group without a member is free. Where one of these is refused, the writer
-- holds the lock alone.
add_member(reader, now + left * 1000)
redis.call('PEXPIRE', R, left + 60000)
owner = 'hfg:' .. n
redis.call('SET', K, owner, 'PX', left)
local note = redis.call('HGET', M, id)
if note then
  redis.call('HSET', M, reader, note)
  redis.call('HDEL', M, id)
end
if admit_waiters(now) == 0 and first_waiter() then notify_wanted() end
extend_group(now, true)
return {1, now}
