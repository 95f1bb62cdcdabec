#include "tests/sim/world/mutants.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/sim/model/model_redis.hpp"
#include "tests/sim/model/script_engine.hpp"

namespace holdfast::sim {

using core::mutant;

namespace {

thread_local const protocol_mutant* the_planted_one = nullptr;

std::string edited(std::string_view text) {
  std::string out(text);
  if (!the_planted_one) return out;
  for (const script_edit& e : the_planted_one->edits) {
    if (text.find(e.of) == text.npos) continue;
    const auto at = out.find(e.from);
    if (at == out.npos) throw std::logic_error("no script has: " + std::string(e.from));
    out.replace(at, e.from.size(), e.to);
  }
  return out;
}

const std::vector<protocol_mutant>& all() {
  static const std::vector<protocol_mutant> list{
      {"deadline_from_reply", 168, "deadline counted from before the send (SAFETY 1)",
       mutant::deadline_from_reply},
      {"window_renewed_once", 88001758, "a hand-over outlives a lost answer (SAFETY 1)",
       mutant::window_renewed_once},
      {"late_reply_accepted", 209, "a late reply is discarded (rule 2)",
       mutant::late_reply_accepted},
      {"delete_without_owner",
       5,
       "a release compares the owner (rule 4)",
       mutant::none,
       {{"-- The owner lets go", "if owner ~= id then", "if not owner then"},
        {"-- The usual hand-over", "~= ARGV[1]", "== false"},
        {"-- Locks that nobody", "redis.pcall('GET', lock) ~= id",
         "redis.pcall('GET', lock) == false"},
        {"-- Locks that nobody", "redis.pcall('GET', KEYS[i]) == ARGV[i]",
         "redis.pcall('GET', KEYS[i]) ~= false"}}},
      {"renew_without_owner",
       146,
       "a renewal compares the owner (rule 4)",
       mutant::none,
       {{"-- Leases that go on", "if owner == id then", "if owner then"}}},
      {"dead_head_not_skipped",
       28,
       "a killed waiter costs nothing (SAFETY 4)",
       mutant::none,
       {{"local function hand_to", "if tell(id, 'grant', grant) > 0 then",
         "if tell(id, 'grant', grant) >= 0 then"},
        {"-- The usual hand-over", "grant) == 0 then", "grant) < 0 then"}}},
      {"told_before_it_is_written",
       706,
       "a grant is written before it is told (rule 2)",
       mutant::none,
       {{"local function hand_to", "redis.call('SET', K, id, 'PX', window)",
         "tell(id, 'grant', string.format('%.0f|%.0f|%s|%d', n, now, window, others or 1))\n"
         "redis.call('SET', K, id, 'PX', window)"},
        {"-- The usual hand-over", "local done = redis.pcall('SET', K, id, 'PX', window)",
         "redis.call('PUBLISH', 'hf:' .. string.sub(id, 5, 20), grant)\n"
         "local done = redis.pcall('SET', K, id, 'PX', window)"}}},
      {"refused_hand_over_empties_the_line",
       433176,
       "who waits leaves the line when its grant is written (rule 6)",
       mutant::none,
       {{"local function handover", "if alone then\n      n = next_number(now)",
         "if alone then\n      redis.call('ZREM', Q, id)\n      n = next_number(now)"},
        {"-- The usual hand-over", "redis.call('ZADD', Q, first[2], id)\n  return answer",
         "return answer"}}},
      {"notes_of_the_lost_kept",
       18,
       "what is known of lost holders goes (SAFETY 4)",
       mutant::none,
       {{"local function hand_to", "if not is_known and gone < 4 then", "if false then"},
        {"-- Leases that go on", "if gone < 4 and", "if false and"}}},
      {"no_look_for_the_runner_up",
       6330,
       "somebody who lives has a timer on the lock (SAFETY 4)",
       mutant::none,
       {{"local function handover", "if others == 1 then next_looks(now + window * 1000) end",
         ""}}},
      {"wake_up_not_passed_on",
       108,
       "who leaves passes its wake-up on (rule 6)",
       mutant::none,
       {{"-- A claim goes, wherever it stands", "drop(id)\nlocal now",
         "drop(id)\ndo return {1, server_time()} end\nlocal now"}}},
      {"reader_passes_the_line",
       39,
       "no reader passes a waiting writer (SAFETY 6)",
       mutant::none,
       {{"-- A reader comes into the group", "if not first or first == id then",
         "if not first or first == id or is_reader and owner and has_room(id) then"}}},
      {"zombie_reader_renewed",
       46,
       "a share that has ended stays so (rule 4)",
       mutant::none,
       {{"-- Leases of readers and of holders", "if not ends or ends <= now then return 0 end",
         ""}}},
      {"permits_of_the_dead_kept",
       222,
       "a lost holder's permits come back (SAFETY 1)",
       mutant::none,
       {{"local function remove_member",
         "if permits > 1 then redis.call('HINCRBY', P, '', 1 - permits) end", ""}}},
      {"permits_counted_as_one",
       8,
       "no more permits are had than there are",
       mutant::none,
       {{"local function add_member", "if more > 0 then redis.call('HINCRBY', P, '', more) end",
         ""}}},
      {"readers_behind_a_leaver_forgotten",
       222,
       "who leaves passes its wake-up on (rule 6)",
       mutant::none,
       {{"local function go_on", "local came = let_in(now)", "local came = 0"}}},
      {"holder_not_told",
       21,
       "lingering ends when somebody waits (SAFETY 6)",
       mutant::none,
       {{"local function want", "if not is_open() then return tell(owner, 'wanted', '') end", ""}}},
      {"gather_takes_what_is_held",
       9,
       "several locks are taken only where all are free (rule 4)",
       mutant::none,
       {{"-- Several locks at once", "return owner == id and 0 or 1", "return 0"}}},
      {"gather_takes_some",
       31,
       "of several locks all are taken or none (SAFETY 4)",
       mutant::none,
       {{"-- Several locks at once", "if taken then return out end",
         "if taken then\nfor i = 1, count do\nif out[i] == 0 then redis.call('SET', "
         "KEYS[2 * i], ARGV[i + 1], 'PX', ARGV[1]) end\nend\nreturn out end"}}},
      {"gather_passes_the_line",
       221,
       "several locks are taken only where nobody waits (SAFETY 6)",
       mutant::none,
       {{"-- Several locks at once", "redis.call('EXISTS', unpack(KEYS, 2)) == 0", "false"},
        {"-- Several locks at once", "return is_awaited(K, Q) and 1 or 0", "return 0"}}},
      {"set_and_number_apart",
       4785,
       "number and grant are one step (SAFETY 2)",
       mutant::none,
       {},
       true},
      {"only_next_waiter_looks", 89, "a waiter's timer follows its place in line (SAFETY 4)",
       mutant::only_next_waiter_looks},
      {"line_not_peeked", 18545, "lingering ends when somebody waits (SAFETY 6)",
       mutant::line_not_peeked},
      {"taken_line_not_peeked", 1072013, "lingering ends when somebody waits (SAFETY 6)",
       mutant::taken_line_not_peeked},
      {"floor_kept", 67, "a number counts only above a known floor (SAFETY 2)", mutant::floor_kept},
      {"doubt_in_transaction_missed", 356,
       "an error inside a transaction voids the floor (SAFETY 2)",
       mutant::doubt_in_transaction_missed},
      {"predecessor_not_killed", 5, "nothing of an old connection runs later (SAFETY 3)",
       mutant::predecessor_not_killed},
      {"old_sample_accepted", 2907, "a pushed grant needs a fresh sample (SAFETY 4)",
       mutant::old_sample_accepted},
      {"waiter_given_up", 27, "a waiter waits through an outage (rule 6)", mutant::waiter_given_up},
      {"outage_dated_back", 272, "an outage's length is counted from its beginning (rule 6)",
       mutant::outage_dated_back},
      {"silence_dated_back", 125799, "silence is counted from the last send (rule 6)",
       mutant::silence_dated_back},
      {"turn_before_release", 15, "no new turn before the old lease is left (SAFETY 6)",
       mutant::turn_before_release},
      {"settled_outcome_kept", 57, "close() tells what is left, not what once was (rule 6)",
       mutant::settled_outcome_kept},
      {"multi_deadlocks", 204, "several locks are taken in one order (SAFETY 6)",
       mutant::multi_deadlocks},
      {"linger_kept", 21, "lingering ends when somebody waits (SAFETY 6)", mutant::linger_kept},
      {"token_blocks", 4, "numbers are taken one by one (SAFETY 2)", mutant::token_blocks},
  };
  return list;
}

}  // namespace

std::span<const protocol_mutant> protocol_mutants() { return all(); }

const protocol_mutant* mutant_of(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(),
                                  [&](const protocol_mutant& m) { return m.name == name; });
  return found == all().end() ? nullptr : &*found;
}

void plant(const protocol_mutant* m) {
  the_planted_one = m;
  core::plant(m ? m->planted : mutant::none);
  if (m && !m->edits.empty()) {
    script_engine::of_this_thread().edit(edited);
  } else {
    script_engine::of_this_thread().edit(nullptr);
  }
}

void plant_in(model_redis& server) {
  if (the_planted_one && the_planted_one->groups_come_apart) server.let_groups_come_apart();
}

}  // namespace holdfast::sim
