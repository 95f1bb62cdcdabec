-- part
-- The beginning of every script about one lock: its keys, and what every case needs.
-- The server defines the functions of a script again at each call, which takes as long as its
-- commands. So a script includes only the parts that it needs, and a part that handles the usual
-- case comes before those that only the other cases need.
-- Source: the single-instance lock of redis.io's "Distributed Locks with Redis", with a number
-- for each grant, a queue, and a release that hands the lock to the first waiter
-- (docs/safety.md).
--   K  the lock, a string: hf1:<client>:<claim>, one exclusive holder; hfg:<number>, a group of
--      readers with this number; hfp:<total>, a semaphore of this many permits
--   Q  the waiters: a sorted set id -> arrival    N  the server's counter
--   M  a hash: id -> of a waiter its window in ms, unless that is 250; of a holder its note
--   R  the members of a group or a semaphore: a sorted set id -> end of the lease, in us of the
--      server's clock. K lasts as long as the last of them
--   P  of a semaphore, a hash: '#' -> the total, '' -> the sum of all permits above one that the
--      members have. Where the sum is lost it is counted again from R, whose ids show the permits
-- The last argument of each script is a stamp: the first digits of the run_id of the server that
-- the caller means, or '' where it does not know it. It goes into each grant that is sent.
-- A claim is hf1:<client>:<claim>, as a reader hfs:..., as a holder of permits hfp:...; the second
-- eight of the 32 digits of such a claim are how many permits it wants or has. Its client listens
-- on the channel hf:<client>.
--
-- The first write of every script is a ZREM, ZPOPMIN, HDEL or DEL: at maxmemory the server
-- refuses a script whose first write takes memory, and a message that was published cannot be
-- taken back. Numbers are written with %.0f, since Lua's own format rounds them.
local K, Q, M, N, R, P = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local owner = redis.pcall('GET', K)
if type(owner) == 'table' then
  return redis.error_reply('BADTYPE the key of the lock holds something else')
end
local busy, granted, queued, again = 0, 1, 2, 3

local function kind_of(id) return string.sub(id, 1, 4) end
local function decimal(n) return string.format('%.0f', n) end

local function server_time()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

local function send_message(id, what, text, call)
  local message = what .. '|' .. text .. '|' .. id .. '|' .. K
  return (call or redis.call)('PUBLISH', 'hf:' .. string.sub(id, 5, 20), message)
end
