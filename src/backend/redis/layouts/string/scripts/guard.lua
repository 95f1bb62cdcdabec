-- Tokens are 19 decimal digits, compared as text: a number of Lua is exact up to 2^53 only.
local function holdfast_admits(guard, token, owner)
  local seen = redis.call('HMGET', guard, 'token', 'owner')
  local last, last_owner = seen[1] or '', seen[2]
  if token < last or (token == last and owner ~= last_owner) then return false end
  if token ~= last then redis.call('HSET', guard, 'token', token, 'owner', owner) end
  return true
end

local function holdfast_expects(guard, owner)
  return redis.call('HGET', guard, 'owner') == owner
end
