-- A reader comes into the group, a semaphore's claim gets its permits, or waits in line: the same as
-- join.lua. ARGV: id, ttl in ms, window in ms, arrival or '', '1' when its timer on the lock has
-- ended, '1' when it does not wait, permits, of so many, and what M is to tell of the holder, or ''.
-- As join.lua answers, {0 busy}; and at the end 1 when the number is an earlier one's.
local id, ttl, permits, total = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[7]), ARGV[8]
local is_reader = kind_of(id) == 'hfs:'
local now = server_time()
local wrong = other_kind(id)
if not wrong and not is_reader then
  local found = owner and string.sub(owner, 5) or next_in_line() and redis.call('HGET', P, '#')
  if found and found ~= total then
    wrong = redis.error_reply('OTHERKIND a semaphore of ' .. found .. ' permits has this name')
  end
end
if wrong then
  drop(id)
  redis.call('HDEL', P, id)
  return wrong
end
purge(now)
if not owner then forget_the_lost(id, now) end

local function enter(is_new)
  local n = is_reader and tonumber(string.sub(owner, 5)) or next_number(now)
  if not n then return redis.error_reply(AHEAD) end
  if is_new then
    local was_in_line = redis.call('ZREM', Q, id) == 1
    redis.call('HDEL', M, id)
    if ARGV[9] ~= '' then
      redis.call('HSET', M, id, ARGV[9])
      redis.call('PEXPIRE', M, 31626000000)
    end
    if permits > 1 then redis.call('HSET', P, id, permits) end
    add_member(id, now + ttl * 1000)
    -- Those who came before it have not been told of a writer behind it.
    if let_in(now) == 0 and was_in_line and is_reader and next_in_line() then want() end
  else
    local ends = redis.call('ZSCORE', R, id)
    redis.call('ZADD', R, whole(math.max(tonumber(ends), now + ttl * 1000)), id)
  end
  keep_open(now, true)
  return {granted, n, now, 0, ttl, redis.call('EXISTS', Q), 0, is_reader and 1 or 0}
end

local function found()
  drop(id)
  disband()
  if is_reader then
    local n = next_number(now, true)
    if not n then return redis.error_reply(AHEAD) end
    owner = 'hfg:' .. whole(n)
  else
    owner = 'hfp:' .. total
    redis.call('HSET', P, '#', total)
    redis.call('PEXPIRE', P, 31626000000)
  end
  redis.call('SET', K, owner)
  local answer = enter(true)
  if is_reader then answer[8] = 0 end
  return answer
end

local first, was_free = next_in_line(), not owner
if first and first ~= id then  -- who is next may be dead, or may come in by now
  redis.call('HDEL', M, id)
  if not owner then
    owner = handover(now)
    if owner == nil then return {again, 0, now, 0, 0, 1, 0, 0} end
  elseif let_in(now) > 0 then
    keep_open(now, true)
  end
  first = next_in_line()
end
if is_open() and redis.call('ZSCORE', R, id) then return enter(false) end
if not first or first == id then
  if not owner then return found() end
  if has_room(id, permits) then return enter(true) end
end
if ARGV[6] == '1' then return {busy, 0, now, 0, 0, 1, 0, 0} end
local place, is_new = line_up(id, ARGV[3], ARGV[4], now)
if not is_reader then
  if permits > 1 then redis.call('HSET', P, id, permits) end
  redis.call('HSET', P, '#', total)
  redis.call('PEXPIRE', P, 31626000000)
end
-- Its place may be an earlier one, before those that have no room, or those before it are gone.
local answer = in_line(id, place, is_new, now, ARGV[5] == '1',
  not is_reader and redis.call('ZRANGE', R, 0, 0, 'WITHSCORES')[2], enter)
if was_free and answer[1] == queued then answer[4] = 0 end
return answer
