-- include: redisson/publish shared
-- Ends all holds of the owner that somebody saw, on the side where it was seen, and wakes all who
-- wait when that lets others in. With the number of a group of readers: ends those of all its
-- readers that are holdfast's.
-- KEYS: the lock, the counter of numbers. ARGV: the owner, with :write behind a writer's; number of
-- a group, or ''; what all holds begin with; channel. 1 ended | 0 another owner, or none
local lock, counter = KEYS[1], KEYS[2]
local seen, number, holds, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local mode = mode_of(lock)
if not mode or seen == 'mode' then return 0 end

local function end_reader(owner)
  local n = tonumber(redis.call('HGET', lock, owner)) or 0
  for i = 1, math.min(n, 1000) do redis.call('DEL', hold_key(holds, owner, i)) end
  return redis.call('HDEL', lock, owner)
end

if number == '' and string.sub(seen, -6) == ':write' then
  if mode == 'read' or redis.call('HEXISTS', lock, seen) == 0 then return 0 end
  end_writer(lock, holds, seen)
  publish(channel, 1)
  return 1
end
local ended = 0
if number == '' then
  ended = end_reader(seen)
elseif mode == 'read' and redis.call('GET', counter) == number then
  for _, owner in ipairs(redis.call('HKEYS', lock)) do
    if #owner == 56 then ended = ended + end_reader(owner) end
  end
end
if ended == 0 then return 0 end
if mode == 'write' then return 1 end
remove_dead(lock, holds, true)
publish(channel, 1)
return 1
