-- Renews the leases of exclusive holders, many in one call; each stands for itself.
-- Source: compare-and-PEXPIRE, as in redis.io's "Making the algorithm more reliable: Extending
-- the lock".
-- No lease becomes shorter: two renewals of one claim may arrive in the other order, and the client
-- relies on the longer one. It is written all the same, which only a master does.
-- KEYS: K, M of each lock. ARGV, for each: id, ttl in ms, the note of the holder for M or ''.
-- {time, for each: 1 renewed | 0 another owner | 2 no owner | -1 not now}, or the error of a
-- replica, which the client leaves for its master.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local out = {now}

-- A note of another holder (it has a '|') is of one that is lost: a lock that was acquired
-- without a script may have many. Removes at most four a call.
local function remove_lost_holders(M, id)
  local fields = redis.pcall('HSCAN', M, string.format('%.0f', now), 'COUNT', 8)[2] or {}
  local count, gone = #fields / 2, 0
  for i = 1, math.min(count, 16) do
    local at = (now + i) % count * 2 + 1
    if gone < 4 and fields[at] ~= id and string.find(fields[at + 1], '|', 1, true) then
      redis.pcall('HDEL', M, fields[at])
      gone = gone + 1
    end
  end
end

for i = 1, #KEYS, 2 do
  local at = (i - 1) / 2 * 3
  local id, ttl, about = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local owner = redis.pcall('GET', KEYS[i])
  local state = owner and 0 or 2
  if owner == id then
    state = redis.pcall('PEXPIRE', KEYS[i], math.max(ttl, redis.call('PTTL', KEYS[i])))
    if type(state) == 'table' then
      if string.find(state.err, 'READONLY', 1, true) then
        return redis.error_reply('READONLY the server is a replica')
      end
      state = -1
    elseif about ~= '' then
      remove_lost_holders(KEYS[i + 1], id)
      redis.pcall('HSET', KEYS[i + 1], id, about)
      redis.pcall('PEXPIRE', KEYS[i + 1], 31626000000)
    end
  end
  out[#out + 1] = state
end
return out
