-- What the scripts about readers and holders of permits begin with, after shared.lua.
-- Those whose leases have ended are no members any more. A group without members is none.
local function purge(now)
  if not is_open() then return end
  while true do
    local first = redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')
    if not first[1] then
      owner = false
      return
    end
    if tonumber(first[2]) > now then return end
    remove_member(first[1])
  end
end

-- A reader that has been a writer: its writer's id.
local function writer_of(id) return kind_of(id) == 'hfs:' and 'hf1:' .. string.sub(id, 5) or id end

-- After somebody has gone from here: who may comes in. Nil: ask again.
local function go_on(now, looks)
  purge(now)
  if not owner then return handover(now) end
  local came = let_in(now)
  keep_open(now, looks or came > 0)
  return true
end

-- After somebody has gone from the line, or from a lock of its own.
local function pass_on(id, was_first, now)
  if is_open() then
    local rest = go_on(now, true)
    if was_first and is_open() and next_in_line() then want() end
    return rest
  end
  if owner == writer_of(id) then redis.call('HDEL', M, owner) end
  if owner == writer_of(id) or (not owner and was_first) then return handover(now) end
  if owner then
    -- A foreign holder tells nobody when it goes: who is next begins to ask.
    local left = is_ours() and redis.call('PTTL', K) or 0
    next_looks(now + math.max(left, 0) * 1000)
    -- Who took it past a line behind a foreign holder has not been told, and who looks does not ask.
    if is_ours() and next_in_line() then want() end
  end
  return true
end
