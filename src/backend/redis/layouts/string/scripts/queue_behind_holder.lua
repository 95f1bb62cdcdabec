-- part
-- The usual request for a busy lock: one other claim holds it. It is answered here, as the rest of
-- lock_or_queue.lua would answer it. After enqueue.lua.
local id, ttl, looks = ARGV[1], ARGV[2], ARGV[5] == '1'
local now = server_time()
if owner and owner ~= id and kind_of(owner) == 'hf1:' and not looks then
  local place = enqueue(id, ARGV[3], ARGV[4], now)
  local rank, left = redis.call('ZRANK', Q, id), redis.call('PTTL', K)
  if rank == 0 then send_message(owner, 'wanted', '') end
  return {queued, place, now, rank, left, 1, 0}
end
