-- part
-- KEYS of each lock: how many permits are available; its permits, each with the time of its end in
-- ms. A claim's permits are its id of 12 bytes and a number in 4.
local never = 922337203685477
local claim_max, lapsed_max = 1000, 1000  -- a script goes through each

local function other_type(count, permits)
  local of_count = redis.call('TYPE', count).ok
  local of_permits = redis.call('TYPE', permits).ok
  local is_count = of_count == 'none'
  if of_count == 'string' then is_count = string.find(redis.call('GET', count), '^%-?%d+$') end
  if is_count and (of_permits == 'none' or of_permits == 'zset') then return nil end
  return redis.error_reply('HFTYPE the key holds no semaphore of Redisson')
end

-- Gives n permits back and tells the waiters.
local function give_back(count, channel, n)
  if n > 0 then publish(channel, redis.call('INCRBY', count, n)) end
end

-- Those whose end has come.
local function reclaim(count, permits, channel, now)
  local n = 0
  local all = redis.call('ZRANGE', permits, 0, lapsed_max - 1, 'WITHSCORES')
  for i = 1, #all, 2 do
    if tonumber(all[i + 1]) > now then break end
    n = n + redis.call('ZREM', permits, all[i])
  end
  give_back(count, channel, n)
end

local function permit(claim, i)
  return claim .. string.char(math.floor(i / 16777216) % 256, math.floor(i / 65536) % 256,
                              math.floor(i / 256) % 256, i % 256)
end

-- Those of a claim that are there.
local function permits_of(claim, permits, n)
  local out = {}
  for i = 0, n - 1 do
    local one = permit(claim, i)
    if redis.call('ZSCORE', permits, one) then out[#out + 1] = one end
  end
  return out
end

-- Or until its present end, if that is later: two requests of one claim may arrive in the other
-- order.
local function hold_until(ends, permits, one)
  local before = redis.call('ZSCORE', permits, one) or 0
  redis.call('ZADD', permits, string.format('%.0f', math.max(ends, before)), one)
end

local function remove(count, permits, channel, those)
  for _, one in ipairs(those) do redis.call('ZREM', permits, one) end
  give_back(count, channel, #those)
end
