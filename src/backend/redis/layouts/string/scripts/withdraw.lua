-- Removes a claim from the queue, or from a lock that was handed to it meanwhile. The timer that
-- it kept on the lock moves to the next waiter.
-- Source: docs/safety.md (rule 3: a claim whose outcome is unknown is withdrawn). Repeatable.
-- ARGV: id. {1 withdrawn | 3 ask again, time}
local id = ARGV[1]
local was_first = first_waiter() == id
remove_waiter(id)
local now = server_time()
if not (is_shared() and remove_member(id)) then redis.call('HDEL', P, id) end
if after_waiter_left(id, was_first, now) == nil then return {again, now} end
return {1, now}
