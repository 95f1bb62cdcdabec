-- A claim goes, wherever it stands: out of the line, or out of a lock that it was handed meanwhile.
-- What it was to watch over is passed on. ARGV: id. {1 gone | 3 ask again, time}
local id = ARGV[1]
local was_first = next_in_line() == id
drop(id)
local now = server_time()
if not (is_open() and remove_member(id)) then redis.call('HDEL', P, id) end
if pass_on(id, was_first, now) == nil then return {again, now} end
return {1, now}
