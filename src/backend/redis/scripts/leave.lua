-- A claim goes, wherever it stands: out of the line, or out of a lock that it was handed meanwhile.
-- What it was to watch over is passed on. ARGV: id. {1 gone | 3 ask again, time}
local id = ARGV[1]
local was_first = redis.call('ZRANGE', Q, 0, 0)[1] == id
drop(id)
local now = server_time()
if owner == id or (not owner and was_first) then
  if handover(now) == nil then return {again, now} end
elseif owner then
  -- A foreign holder tells nobody when it goes: who is next begins to ask.
  local left = is_ours(owner) and redis.call('PTTL', K) or 0
  next_looks(now + math.max(left, 0) * 1000)
end
return {1, now}
