-- Releases locks that nobody is known to wait for and of which M has no notes, many in one call.
-- Source: redis.io's compare-and-delete.
-- KEYS: K of each lock, then Q of each. ARGV: id of each.
-- For one lock, or for all when all are released, or {for each}: 1 released | 0 another owner or
-- none | 3 a client waits: to be released by release.lua
local count = #ARGV
local function release(lock, line, id)
  if redis.pcall('GET', lock) ~= id then return 0 end
  if redis.call('EXISTS', line) == 1 then return 3 end
  redis.call('DEL', lock)
  return 1
end
if count == 1 then return release(KEYS[1], KEYS[2], ARGV[1]) end
-- Mostly all owners match and nobody waits: one command for all queues, one for all locks.
local at_once = count < 1000 and redis.call('EXISTS', unpack(KEYS, count + 1)) == 0
for i = 1, count do at_once = at_once and redis.pcall('GET', KEYS[i]) == ARGV[i] end
if at_once then
  redis.call('DEL', unpack(KEYS, 1, count))
  return 1
end
local out = {}
for i, id in ipairs(ARGV) do out[i] = release(KEYS[i], KEYS[count + i], id) end
return out
