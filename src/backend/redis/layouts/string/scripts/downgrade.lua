-- Who holds the lock alone holds it as the first reader of a group, under the same number, and
-- readers that are next in line come in. The same answer when repeated. ARGV: id, number.
-- {1 it is a reader | 0 another owner or none, time}
local id, n = ARGV[1], ARGV[2]
local reader = 'hfs:' .. string.sub(id, 5)
local now = server_time()
if owner ~= id then
  local is_reader = owner and kind_of(owner) == 'hfg:' and redis.call('ZSCORE', R, reader)
  return {is_reader and 1 or 0, now}
end
local note, left = redis.call('HGET', M, id), redis.call('PTTL', K)
redis.call('HDEL', M, id)
if note then redis.call('HSET', M, reader, note) end
disband()
owner = 'hfg:' .. n
redis.call('SET', K, owner)
add_member(reader, now + left * 1000)
if let_in(now) == 0 and next_in_line() then want() end
keep_open(now, true)
return {1, now}
