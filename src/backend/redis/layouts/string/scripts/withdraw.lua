-- include: lock grant shared members
-- Removes a claim from the queue, or from a lock that was handed to it meanwhile. The timer that
-- it kept on the lock moves to the next waiter.
-- Source: docs/safety.md (rule 3: a claim whose outcome is unknown is withdrawn). Repeatable.
-- ARGV: id. {1 withdrawn | 3 ask again, time}
local id = ARGV[1]
local was_first = first_waiter() == id
remove_waiter(id)
local now = server_time()
redis.call('HDEL', M, writer_of(id))  -- of a reader whose downgrade never arrived
if is_shared() then remove_member(id) end
redis.call('ZREM', R, id)  -- of a lock that has ended
if after_waiter_left(id, was_first, now) == nil then return {again, now} end
return {1, now}
