// Redlock: several independent masters.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/layouts/redlock/fitness.hpp"
#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using redis::late_third_server;
using redis::three_servers;
using namespace std::chrono_literals;

constexpr const char* token_may_come_again =
    "fewer than a majority have the number of the grant: a later one may get it again";

std::string a_majority_reaches_the_number() {
  three_servers w({100, 200, 50});
  client c = w.open();
  w.kill(w.third);
  const lease held = c.mutex("x").acquire();
  return w.count_at(held.token() / w.turns) >= 2 ? "" : token_may_come_again;
}

std::string a_late_vote_is_not_raised() {
  late_third_server w;
  const lease held = w.attempting.mutex("x").acquire();
  return w.count_at(held.token() / w.turns) >= 2 ? "" : token_may_come_again;
}

std::string a_server_that_lost_the_lock_is_not_raised() {
  late_third_server w;
  const lease held = w.attempting.mutex("x").acquire();
  return w.model.string_at("x") ? "" : "a server counts that does not have the lock";
}

// Its data are gone while it is connected.
std::string a_server_without_its_number_does_not_vote() {
  three_servers w;
  client c = w.open();
  w.third.flushall();
  const lease held = c.mutex("x").acquire();
  return w.third.string_at("x") ? "a server that knows of no earlier grant has voted" : "";
}

// The lock of one client is gone, and another client has it.
struct taken_over : three_servers {
  client first = open(), second_client = open();
  lease old = first.mutex("x").acquire();
  lease next;
  taken_over() {
    for (sim::model_redis* const s : all) command_at(*s, {"DEL", "x"});
    next = second_client.mutex("x").acquire();
  }
};

std::string a_late_release_leaves_the_next_holder_alone() {
  taken_over w;
  std::error_code ec;
  w.old.release(ec);
  w.pass(1s);
  return w.model.string_at("x") ? "" : "the lock of the next holder is deleted";
}

std::string a_lock_that_is_gone_is_lost_at_its_next_renewal() {
  taken_over w;
  w.pass(20s);
  return w.old.held() ? "two hold the lock" : "";
}

std::string an_empty_server_gets_the_number_of_a_majority() {
  three_servers w({500, 500, 500});
  client c = w.open();
  w.third.restart(sim::kept::nothing);
  w.pass(70s);
  return w.number_at(w.third) >= 500 ? "" : "its numbers begin anew";
}

std::string emptied_servers_are_not_taken_for_new_ones() {
  three_servers w;
  client holder = w.open();
  const lease held = holder.mutex("x").acquire();
  for (sim::model_redis* const s : w.all) s->flushall();
  client other = w.open();
  std::error_code ec;
  return other.mutex("x").try_acquire(ec) && held.held() ? "two hold the lock" : "";
}

// The second server was a replica of another one for a moment.
std::string a_copy_votes(three_servers& w, const client& c) {
  const lease held = c.mutex("x").acquire();
  return w.second.string_at("x") ? "a server votes that has lost its own locks" : "";
}

std::string a_server_with_the_record_of_another_does_not_vote() {
  three_servers w;
  w.second.set_keeps_log(true);
  w.copy_record(w.second, w.model);
  return a_copy_votes(w, w.open());
}

std::string nor_does_it_while_it_is_connected() {
  three_servers w;
  const client c = w.open();
  w.copy_record(w.second, w.model);
  return a_copy_votes(w, c);
}

std::string a_server_that_was_a_replica_does_not_vote() {
  three_servers w;
  w.second.set_keeps_log(true);
  w.command_at(w.second, {"HSET", w.record, "begun-at", "elsewhere"});
  w.command_at(w.second, {"REPLICAOF", "elsewhere", "6379"});
  w.command_at(w.second, {"REPLICAOF", "NO", "ONE"});
  return a_copy_votes(w, w.open());
}

std::string a_copied_loss_is_no_older_than_the_copy() {
  three_servers w;
  client c = w.open();
  w.third.flushall();
  (void)c.mutex("x").acquire();  // finds it out
  w.pass(50s);
  w.copy_loss(w.second, w.third);
  std::error_code ec;
  (void)c.mutex("x").try_acquire(ec);
  w.pass(50s);
  return w.number_at(w.second) == 0 ? "" : "it votes before the locks that it has lost have ended";
}

// The third server votes for a grant, and loses its data before the grant is made.
std::string an_empty_server_waits_for_grants_that_are_under_way() {
  three_servers w({500, 500, 500});
  client c = w.open();
  w.third.restart(sim::kept::nothing);
  w.pass(30s);
  return w.number_at(w.third) == 0 ? "" : "the number of a grant that is under way is not read";
}

std::string the_votes_of_a_lost_attempt_are_withdrawn() {
  three_servers w;
  client c = w.open();
  for (sim::model_redis* const s : {&w.model, &w.second})
    w.command_at(*s, {"SET", "x", "another client", "PX", "30000"});
  if (c.mutex("x").try_acquire()) return "two hold the lock";
  w.pass(1s);
  return w.third.string_at("x") ? "its key keeps others away until it expires" : "";
}

redis::redlock::server_state lately_started() {
  redis::redlock::server_state s;
  s.run_id = "now";
  s.uptime = 5s;
  s.record = {.number = 100, .max_ttl = 1min, .begun_at = s.run_id};
  return s;
}

std::string does_not_vote(const redis::redlock::server_state& s) {
  return judge(s, 1min).is_fit() ? "it grants what it may have forgotten" : "";
}

std::string a_server_that_was_started_lately_does_not_vote() {
  return does_not_vote(lately_started());
}

std::string a_record_of_an_earlier_process_is_old() {
  redis::redlock::server_state s = lately_started();
  s.record.begun_at = "before";
  s.uptime = 3600s;
  return does_not_vote(s);
}

std::string a_record_that_was_begun_since_proves_nothing() {
  redis::redlock::server_state s = lately_started();
  s.keeps_log = true;
  s.record.begun_at = s.run_id;
  return does_not_vote(s);
}

std::string a_server_that_may_evict_locks_does_not_vote() {
  redis::redlock::server_state s = lately_started();
  redis::redlock::read_info("run_id:now\r\nmaxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n", s);
  s.uptime = 3600s;
  return does_not_vote(s);
}

std::string a_renewal_sets_the_lock_where_it_is_missing() {
  three_servers w;
  client c = w.open();
  const lease held = c.mutex("x").acquire();
  w.command_at(w.third, {"DEL", "x"});
  w.pass(20s);
  return w.third.string_at("x") ? "" : "the failure of one server more ends the lease";
}

constexpr scenario of_redlock[] = {
    {mutant::second_phase_missing, "redis", a_majority_reaches_the_number},
    {mutant::late_vote_raised, "redis", a_late_vote_is_not_raised},
    {mutant::record_begun_at_one, "redis", an_empty_server_gets_the_number_of_a_majority},
    {mutant::record_begun_early, "redis", an_empty_server_waits_for_grants_that_are_under_way},
    {mutant::used_server_is_new, "redis", emptied_servers_are_not_taken_for_new_ones},
    {mutant::copied_record_believed, "redis", a_server_with_the_record_of_another_does_not_vote},
    {mutant::former_replica_votes, "redis", a_server_that_was_a_replica_does_not_vote},
    {mutant::none, "redis", nor_does_it_while_it_is_connected, "copied_record_votes"},
    {mutant::none, "redis", a_copied_loss_is_no_older_than_the_copy, "copied_pause_counts"},
    {mutant::restarted_server_votes, "redis", a_server_that_was_started_lately_does_not_vote},
    {mutant::old_record_believed, "redis", a_record_of_an_earlier_process_is_old},
    {mutant::new_record_believed, "redis", a_record_that_was_begun_since_proves_nothing},
    {mutant::evicting_server_votes, "redis", a_server_that_may_evict_locks_does_not_vote},
    {mutant::none, "redis", a_server_without_its_number_does_not_vote, "empty_server_votes"},
    {mutant::none, "redis", a_server_that_lost_the_lock_is_not_raised, "unowned_lock_raised"},
    {mutant::none, "redis", a_late_release_leaves_the_next_holder_alone, "unowned_lock_deleted"},
    {mutant::none, "redis", a_lock_that_is_gone_is_lost_at_its_next_renewal,
     "unowned_lock_renewed"},
    {mutant::lock_not_restored, "redis", a_renewal_sets_the_lock_where_it_is_missing},
    {mutant::partial_vote_kept, "redis", the_votes_of_a_lost_attempt_are_withdrawn},
};

}  // namespace

std::span<const scenario> redlock_scenarios() { return of_redlock; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> redlock_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
