-- Leases that go on, many in one call: each stands for itself. KEYS: K, M of each lock.
-- ARGV, for each: id, ttl in ms, and what M is to tell of the holder, or ''.
-- {time, for each: 1 renewed | 0 another owner or none | -1 not now}
local t = redis.call('TIME')
local out = {t[1] * 1000000 + t[2]}
for i = 1, #KEYS, 2 do
  local at = (i - 1) / 2 * 3
  local id, ttl, about = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local owner = redis.pcall('GET', KEYS[i])
  local state = 0
  if owner == id then
    state = redis.pcall('PEXPIRE', KEYS[i], ttl)
    if type(state) == 'table' then
      state = -1
    elseif about ~= '' then
      redis.pcall('HSET', KEYS[i + 1], id, about)
      redis.pcall('PEXPIRE', KEYS[i + 1], 31626000000)
    end
  end
  out[#out + 1] = state
end
return out
