-- Renews the leases of readers and holders of permits, as renew.lua does of exclusive holders.
-- Source: docs/safety.md (rule 4). A reader whose downgrade has not arrived yet is a writer here.
-- What the server refuses to one member ends the renewal of no other.
-- KEYS: K, R, M of each lock. ARGV and the answer: as renew.lua.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local out = {now}
local is_replica = false
local function renew(K, R, M, id, ttl, about)
  local owner = redis.pcall('GET', K)
  if type(owner) ~= 'string' then return owner and 0 or 2 end
  local kind, what = string.sub(id, 1, 4), string.sub(owner, 1, 4)
  local alone = kind == 'hfs:' and owner == 'hf1:' .. string.sub(id, 5)
  local ends
  if not alone then
    if what ~= (kind == 'hfs:' and 'hfg:' or 'hfp:') then return 0 end
    ends = redis.pcall('ZSCORE', R, id)
    if type(ends) == 'table' then return -1 end
    if not ends or tonumber(ends) <= now then return 0 end
  end
  local done = redis.pcall('PEXPIRE', K, math.max(ttl, redis.call('PTTL', K)))
  if type(done) == 'table' then
    is_replica = string.find(done.err, 'READONLY', 1, true)
    return -1
  end
  if not alone then
    ends = math.max(ends, now + ttl * 1000)
    local added = redis.pcall('ZADD', R, string.format('%.0f', ends), id)
    local last = redis.call('ZRANGE', R, -1, -1, 'WITHSCORES')[2]
    local left = math.floor((last - now) / 1000) + 1
    redis.call('PEXPIRE', K, left)
    redis.call('PEXPIRE', R, left + 60000)
    if type(added) == 'table' then return -1 end
  end
  if about ~= '' then
    redis.pcall('HSET', M, id, about)
    redis.pcall('PEXPIRE', M, 31626000000)
  end
  return 1
end
for i = 1, #KEYS, 3 do
  out[#out + 1] = renew(KEYS[i], KEYS[i + 1], KEYS[i + 2], ARGV[i], ARGV[i + 1], ARGV[i + 2])
  if is_replica then return redis.error_reply('READONLY the server is a replica') end
end
return out
