-- include: redisson/publish shared
-- Permits for a claim, all or none; again for a claim that has them.
-- ARGV: claim, its permits, the total, now, its end, the channel.
-- {1} it has them | {0, ms until the first of the others ends; -1: none does}
local count, permits = KEYS[1], KEYS[2]
local claim, n, total = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now, ends, channel = tonumber(ARGV[4]), ARGV[5], ARGV[6]
if n > claim_max then return redis.error_reply('HFMANY ' .. n .. ' permits at once') end
local fault = other_type(count, permits)
if fault then return fault end
if redis.call('EXISTS', count, permits) == 0 then
  redis.call('SET', count, total)
  publish(channel, total)
end
reclaim(count, permits, channel, now)
local available = tonumber(redis.call('GET', count) or 0)
local there = available + redis.call('ZCARD', permits)
if there ~= total then
  return redis.error_reply('HFTOTAL the semaphore has ' .. there .. ' permits, not ' .. total)
end
local mine = permits_of(claim, permits, n)
if #mine < n then
  remove(count, permits, channel, mine)
  if available + #mine < n then
    local first = redis.call('ZRANGE', permits, 0, 0, 'WITHSCORES')[2]
    local rest = -1
    if first and tonumber(first) < never then rest = tonumber(first) - now end
    return {0, rest}
  end
  redis.call('INCRBY', count, -n)
end
for i = 0, n - 1 do hold_until(ends, permits, permit(claim, i)) end
local lives = redis.call('PTTL', count)
if lives > 0 then redis.call('PEXPIRE', permits, lives) end
return {1}
