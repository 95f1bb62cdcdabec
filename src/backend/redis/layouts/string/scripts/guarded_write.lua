-- include: guard
-- Writes a value if the guard beside it admits the token or the owner.
-- Source: fencing tokens, Kleppmann's "How to do distributed locking".
-- KEYS: the guard's hash, the key. ARGV: ordered, exact or set; token, owner, value.
-- {1 done | 0 refused}
local how, token, owner = ARGV[1], ARGV[2], ARGV[3]
if how == 'set' then
  redis.call('HSET', KEYS[1], 'owner', owner)
  return {1}
end
local admitted
if how == 'exact' then
  admitted = holdfast_expects(KEYS[1], owner)
else
  admitted = holdfast_admits(KEYS[1], token, owner)
end
if not admitted then return {0} end
redis.call('SET', KEYS[2], ARGV[4])
return {1}
