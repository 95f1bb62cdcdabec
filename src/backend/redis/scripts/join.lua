-- A claim takes the lock if it is free and nobody else is first, else it waits in line. Asking
-- again changes nothing but finds out: how the lock stands, and what became of an unanswered take.
-- ARGV: id, ttl in ms, window in ms, arrival or '', '1' when it was left to see to the lock.
return join(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1')
