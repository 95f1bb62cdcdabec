#include "tests/mutants/register/script_mutants.hpp"

namespace holdfast::mutants {

#ifndef HOLDFAST_WITH_REDIS
std::vector<mutant> script_mutants() { return {}; }
#else
namespace {

mutant in_scripts(const char* name, const char* rule, std::vector<script_edit> edits) {
  return {name, rule, base::mutant::none, std::move(edits)};
}

std::vector<mutant> about_owners_and_numbers() {
  return {
      in_scripts("delete_without_owner", "",
                 {{"string/release", "if owner ~= id then", "if not owner then"},
                  {"string/hand_to_first_waiter", "if owner == id then", "if owner then"},
                  {"string/release_with_successor", "redis.pcall('GET', K) ~= ARGV[1]",
                   "redis.pcall('GET', K) == false"},
                  {"string/release_uncontended", "redis.pcall('GET', lock) ~= id",
                   "redis.pcall('GET', lock) == false"},
                  {"string/release_uncontended", "redis.pcall('GET', KEYS[i]) == ARGV[i]",
                   "redis.pcall('GET', KEYS[i]) ~= false"},
                  {"lua/release", "redis.pcall('GET', KEYS[1]) ~= ARGV[1]",
                   "redis.pcall('GET', KEYS[1]) == false"},
                  {"redisson/release", "redis.pcall('HDEL', KEYS[1], ARGV[1])",
                   "redis.call('DEL', KEYS[1])"}}),
      in_scripts("broken_lock_kept", "A lock that was broken leaves its owner (4)",
                 {{"string/break_lock", "return {hand_over(now) == nil and again or 1}",
                   "return {1}"},
                  {"redisson/break_lock", "redis.call('HDEL', lock, seen)", ""}}),
      in_scripts("renew_without_owner", "",
                 {{"string/renew", "if owner == id then", "if owner then"},
                  {"lua/renew", "if owner == ARGV[2 * i - 1] then", "if owner then"}}),
      in_scripts("late_renewal_shortens", "",
                 {{"string/renew", "math.max(ttl, redis.call('PTTL', KEYS[i]))", "ttl"},
                  {"string/renew_members", "ends = math.max(ends, now + ttl * 1000)",
                   "ends = now + ttl * 1000"},
                  {"string/resolve", "math.max(ARGV[2], redis.call('PTTL', K))", "ARGV[2]"},
                  {"lua/renew", "math.max(ARGV[2 * i], redis.call('PTTL', lock))", "ARGV[2 * i]"},
                  {"lua/resolve", "math.max(ARGV[2], redis.call('PTTL', KEYS[1]))", "ARGV[2]"},
                  {"redisson/renew", "math.max(ARGV[2 * i], redis.call('PTTL', lock))",
                   "ARGV[2 * i]"},
                  {"redisson/grant", "math.max(ttl, redis.call('PTTL', lock))", "ttl"},
                  {"redisson_rw/shared", "math.max(ttl, redis.call('PTTL', key))", "ttl"},
                  {"redisson_permits/shared", "math.max(ends, before)", "ends"}}),
      in_scripts("token_blocks", "Numbers are drawn one by one (5)",
                 {{"string/grant", "local n = redis.call('INCR', N)",
                   "local n = redis.call('INCR', N) n = n - n % 16"}}),
      in_scripts("notified_before_it_is_written",
                 "A grant is written before its owner is notified (2)",
                 {{"string/grant", "redis.call('SET', K, id, 'PX', window)",
                   "send_message(id, 'grant', string.format('%.0f|%.0f|%s|%d', n, now, window, "
                   "others or 1)) "
                   "redis.call('SET', K, id, 'PX', window)"},
                  {"string/release_with_successor",
                   "local done = redis.pcall('SET', K, id, 'PX', window)",
                   "redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), grant) "
                   "local done = redis.pcall('SET', K, id, 'PX', window)"}}),
      in_scripts("zombie_reader_renewed", "A share whose lease has expired is not renewed (4)",
                 {{"string/renew_members", "if not ends or tonumber(ends) <= now then return 0 end",
                   "ends = ends or 0"}}),
      in_scripts("lock_without_ttl", "A lock that nobody renews ends (1)",
                 {{"lua/try_lock", "redis.call('PEXPIRE', KEYS[1], ARGV[2]) return {1}",
                   "return {1}"},
                  {"redisson/grant",
                   "redis.call('PEXPIRE', lock, math.max(ttl, redis.call('PTTL', lock)))", ""}}),
      {"set_and_number_apart",
       "The grant and its number are one step (5)",
       base::mutant::none,
       {},
       model_fault::transactions_come_apart},
  };
}

std::vector<mutant> about_redlock() {
  return {
      in_scripts("empty_server_votes", "A server that has lost its number does not vote (5)",
                 {{"redlock/vote", "not record[1] or record[2] ~= ARGV[3]", "false"}}),
      in_scripts("copied_record_votes", "Nor does one that has another server's record (3)",
                 {{"redlock/vote", "record[2] ~= ARGV[3]", "false"}}),
      in_scripts("copied_pause_counts", "A pause is that of the server's own process (3)",
                 {{"redlock/record", "gone[2] ~= ARGV[1]", "false"}}),
      in_scripts("unowned_lock_raised", "A server is raised only while it has the lock (5)",
                 {{"redlock/raise", "redis.pcall('GET', KEYS[1]) ~= ARGV[1]", "false"}}),
      in_scripts("unowned_lock_deleted", "A release compares the owner (4)",
                 {{"redlock/release", "owner ~= ARGV[1]", "not owner"}}),
      in_scripts("unowned_lock_renewed", "A renewal compares the owner (4)",
                 {{"lua/renew", "if owner == ARGV[2 * i - 1] then", "if owner then"}}),
  };
}

std::vector<mutant> about_redisson() {
  return {
      in_scripts("double_count", "An acquire that arrives twice counts once (3)",
                 {{"redisson/grant", "if not is_again then redis.call('HSET', lock, owner, 1) end",
                   "redis.call('HINCRBY', lock, owner, 1)"},
                  {"redisson_rw/try_lock", "redis.call('HSET', lock, 'mode', 'read', owner, 1)",
                   "redis.call('HSET', lock, 'mode', 'read') "
                   "redis.call('HINCRBY', lock, owner, 1)"}}),
      in_scripts("foreign_renewal", "A renewal extends no lease but its own (4)",
                 {{"redisson/renew", "if redis.pcall('HEXISTS', lock, ARGV[2 * i - 1]) == 1 then",
                   "if redis.call('EXISTS', lock) == 1 then"},
                  {"redisson_rw/renew", "if out[#out] == 1 then live_for(lock, ttl) end",
                   "live_for(lock, ttl) for _, each in ipairs(redis.call('HKEYS', lock)) do "
                   "redis.call('PEXPIRE', string.sub(hold, 1, #hold - #owner - 17) .. each .. "
                   "':rwlock_timeout:1', ttl) end"}}),
      in_scripts("writer_joins_readers", "A writer waits for all readers (4)",
                 {{"redisson_rw/try_lock",
                   "if most and wanted == 'write' then return {0, most} end", ""}}),
      in_scripts("dead_reader_kept", "A reader whose lease has expired keeps nobody out (4)",
                 {{"redisson_rw/shared", "ended = redis.call('HDEL', lock, owner)",
                   "most = math.max(most or 0, redis.call('PTTL', lock))"}}),
      in_scripts("downgrade_not_published", "A downgrade wakes the readers that wait (6)",
                 {{"redisson_rw/downgrade", "publish(channel, 1)", ""}}),
      in_scripts("dead_fair_head", "A dead head of a queue delays for its window at most (6)",
                 {{"redisson_fair/shared",
                   "while head and time_of_head(head, now, window, is_free) <= now do",
                   "while false do"}}),
      in_scripts("fair_waiters_spin", "Behind a dead head nobody asks all the time (6)",
                 {{"redisson_fair/try_lock",
                   "return {0, line[1] and math.min(time_of(line[1]) - now, tonumber(ttl)) or -1}",
                   "return {0, 0}"}}),
      in_scripts("only_the_head_knows_the_lease",
                 "The end of a crashed holder's lease wakes the next waiter (6)",
                 {{"redisson_fair/try_lock", "if not is_free then return {0, left} end",
                   "if not is_free then return {0, place == 1 and left or -1} end"}}),
      in_scripts("next_waiter_knows_an_old_lease",
                 "The end of a crashed holder's short lease wakes the next waiter (6)",
                 {{"redisson_fair/try_lock",
                   "if tonumber(ttl) <= tonumber(ARGV[7]) then wake_head(channel) end", ""}}),
      in_scripts("window_of_the_returned_forgotten",
                 "A waiter behind one that takes its place again waits for a window more (6)",
                 {{"redisson_fair/try_lock", "move_times(line, place + 1, window, is_ours)", ""}}),
      in_scripts("readers_not_shown", "Each reader is reported as a holder (6)",
                 {{"redisson_rw/holders", "if rest then", "if rest and is_writer then"}}),
      in_scripts("fair_queue_passed", "A free lock is granted to the head of its queue (9)",
                 {{"redisson_fair/try_lock", "if is_free and (place or free_place()) == 1 then",
                   "if is_free then"}}),
      in_scripts("release_not_published", "A release wakes those that wait (6)",
                 {{"redisson/release", "publish(ARGV[2], '0')", "0"}}),
  };
}

std::vector<mutant> about_the_queue() {
  return {
      in_scripts("last_waiter_first", "The server grants a mutex in the order of its queue (9)",
                 {{"string/shared",
                   "local id = first_waiter() if not id then redis.call('DEL', K, M, R, P)",
                   "local id = redis.call('ZRANGE', Q, -1, -1)[1] "
                   "if not id then redis.call('DEL', K, M, R, P)"},
                  {"string/hand_to_first_waiter", "redis.call('ZRANGE', Q, 0, 1)",
                   "redis.call('ZRANGE', Q, 0, 1, 'REV')"},
                  {"string/release_with_successor", "redis.call('ZPOPMIN', Q)",
                   "redis.call('ZPOPMAX', Q)"}}),
      in_scripts("dead_head_not_skipped", "A killed waiter delays nobody (6)",
                 {{"string/grant", "if heard > 0 then return tonumber(window)",
                   "if heard >= 0 then return tonumber(window)"},
                  {"string/release_with_successor", "if heard == 0 then", "if heard < 0 then"}}),
      in_scripts("refused_hand_over_empties_the_queue",
                 "A waiter leaves the queue only when its grant is written (6)",
                 {{"string/shared", "if alone then n = next_number(now)",
                   "if alone then redis.call('ZREM', Q, id) n = next_number(now)"},
                  {"string/hand_to_first_waiter", "local n = next_number(now)",
                   "redis.call('ZREM', Q, first) local n = next_number(now)"},
                  {"string/release_with_successor",
                   "redis.call('ZADD', Q, first[2], id) return answer", "return answer"}}),
      in_scripts("granted_without_its_message",
                 "A waiter that could not be notified keeps its place, and holds nothing (6)",
                 {{"string/grant", "take_back(id, noted, now) heard", "heard"},
                  {"string/release_with_successor",
                   "redis.call('SET', K, ARGV[1], 'PX', 1000) if noted", "if noted"}}),
      in_scripts("notes_of_the_lost_kept",
                 "What the server stores about lost holders is removed (6)",
                 {{"string/requests", "if not is_known and gone < 4 then", "if false then"},
                  {"string/renew", "if gone < 4 and", "if false and"}}),
      in_scripts("no_timer_for_the_runner_up",
                 "After a hand-over the next waiter has a timer on the lock (6)",
                 {{"string/shared", "if others == 1 then pass_timer(now + window * 1000) end", ""},
                  {"string/hand_to_first_waiter",
                   "if not second or send_message(second, 'look', decimal(timer_at)) > 0 then "
                   "return {1, 0} end",
                   "do return {1, 0} end"}}),
      in_scripts("wake_up_not_passed_on", "A waiter that leaves passes its wake-up on (6)",
                 {{"string/withdraw", "remove_waiter(id) local now",
                   "remove_waiter(id) do return {1, server_time()} end local now"}}),
      in_scripts("readers_behind_a_leaver_forgotten",
                 "A member that leaves admits the waiters behind it (6)",
                 {{"string/members", "local came = admit_waiters(now)", "local came = 0"}}),
      in_scripts("notes_outlive_a_late_release",
                 "A release removes the note of a lease that has ended (6)",
                 {{"string/hand_to_first_waiter", "redis.call('HDEL', M, id)", ""}}),
      in_scripts("reader_passes_the_queue", "No reader passes a waiting writer (9)",
                 {{"string/member_lock_or_queue", "if not first or first == id then",
                   "if not first or first == id or is_reader and owner and has_room(id) then"}}),
      in_scripts("holder_not_notified",
                 "A lingering holder is notified when another client waits (9)",
                 {{"string/shared",
                   "if not is_shared() then return send_message(owner, 'wanted', '') end", ""},
                  {"string/queue_behind_holder",
                   "if rank == 0 then send_message(owner, 'wanted', '') end", ""}}),
  };
}

std::vector<mutant> about_permits_and_groups() {
  return {
      in_scripts("permits_of_the_dead_kept", "The permits of a lost holder become free (1)",
                 {{"string/shared", "add_above_one(1 - permits_of(id))", ""}}),
      in_scripts("permits_counted_as_one", "No more permits are granted than there are (4)",
                 {{"string/shared", "add_above_one(permits_of(id) - 1)", ""}}),
      in_scripts("lost_permits_not_counted_again",
                 "No more permits are granted than there are, even after their sum was lost (4)",
                 {{"string/shared", "if sum then return tonumber(sum) end",
                   "do return tonumber(sum or 0) end"}}),
      in_scripts("group_before_its_first_reader",
                 "A downgrade that is refused half-way leaves the lock to its holder (4)",
                 {{"string/downgrade", "add_member(reader, now + left * 1000)", ""},
                  {"string/downgrade", "redis.call('SET', K, owner, 'PX', left)",
                   "redis.call('SET', K, owner, 'PX', left) "
                   "add_member(reader, now + left * 1000)"}}),
      in_scripts("lock_all_takes_what_is_held",
                 "Several locks are granted only if all are free (4)",
                 {{"string/lock_all", "return owner == id and 0 or 1", "return 0"}}),
      in_scripts("lock_all_takes_some", "Of several locks all are granted or none (6)",
                 {{"string/lock_all", "if taken then return out end",
                   "if taken then for i = 1, count do if out[i] == 0 then "
                   "redis.call('SET', KEYS[2 * i], ARGV[i + 1], 'PX', ARGV[1]) end end "
                   "return out end"}}),
      in_scripts("lock_all_passes_the_queue", "Several locks are granted only if nobody waits (9)",
                 {{"string/lock_all", "redis.call('EXISTS', unpack(KEYS, 2)) == 0", "false"},
                  {"string/lock_all", "return has_waiter(K, Q) and 1 or 0", "return 0"}}),
  };
}

}  // namespace

std::vector<mutant> script_mutants() {
  std::vector<mutant> out = about_owners_and_numbers();
  for (const auto more : {about_redlock, about_redisson, about_the_queue, about_permits_and_groups})
    for (mutant& m : more()) out.push_back(std::move(m));
  return out;
}
#endif

}  // namespace holdfast::mutants
