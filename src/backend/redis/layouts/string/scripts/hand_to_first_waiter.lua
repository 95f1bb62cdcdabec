-- part
-- The usual release of a lock that others wait for: the first waiter is an exclusive claim whose
-- client listens. It is done here, as the rest of release.lua would do it. After grant.lua.
local id = ARGV[1]
redis.call('HDEL', M, id)  -- also when the lease ended before this request arrived
local timer_at  -- set when the lock is handed over and a waiter has to get the timer
if owner == id then
  local first, second = unpack(redis.call('ZRANGE', Q, 0, 1))
  if first and kind_of(first) == 'hf1:' then
    local now = server_time()
    local n = next_number(now)
    local window = n and grant_to_waiter(first, n, now, second and 1 or 0)
    if window then
      timer_at = now + window * 1000
      if not second or send_message(second, 'look', decimal(timer_at)) > 0 then return {1, 0} end
    end
  end
end
