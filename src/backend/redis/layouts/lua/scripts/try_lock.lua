-- The documents' older form of an atomic lock: SETNX, and PEXPIRE in the same script.
-- KEYS: the lock. ARGV: owner, ttl in ms.
-- {1} it is ours | {0, what is left of the holder's lease in ms; -1: it has no end}
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1}
end
return {0, redis.call('PTTL', KEYS[1])}
