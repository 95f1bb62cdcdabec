-- include: shared
-- Reads who has the lock, readers each for itself. KEYS: the lock. ARGV: what all holds begin with.
-- {for each: {owner, as a writer with :write behind it, what is left of its lease in ms; -1: no
-- end}}
local lock, holds = KEYS[1], ARGV[1]
local out = {}
local mode = mode_of(lock)
if mode == false then return out end
if not mode then return redis.error_reply('OTHERKIND the key holds another type of lock') end
local fields = redis.call('HGETALL', lock)
for i = 1, #fields, 2 do
  local owner = fields[i]
  local is_writer = string.sub(owner, -6) == ':write'
  local rest = owner ~= 'mode'
    and (is_writer and redis.call('PTTL', lock) or rest_of(lock, holds, owner, fields[i + 1]))
  if rest then out[#out + 1] = {owner, rest} end
end
return out
