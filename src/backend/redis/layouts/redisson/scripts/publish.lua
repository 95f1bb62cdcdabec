-- part
-- In a cluster the client puts "sharded " in front of a channel. Redisson subscribes to it with
-- SSUBSCRIBE there if the server has that command (Redis 7.0 or later), and only SPUBLISH reaches
-- such subscribers. PUBLISH is for older servers, and for a user without the right to SPUBLISH.
local function publish(channel, message)
  local told
  if string.sub(channel, 1, 8) == 'sharded ' then
    channel = string.sub(channel, 9)
    told = redis.pcall('SPUBLISH', channel, message)
  end
  if type(told) == 'number' then return told end
  return redis.call('PUBLISH', channel, message)
end
