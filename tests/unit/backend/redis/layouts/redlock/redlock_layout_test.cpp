#include "backend/redis/layouts/redlock/redlock_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/redis/layouts/scripts.hpp"
#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(redlock_layout, a_lock_is_set_at_all_servers_and_deleted_at_all) {
  three_servers w;
  client c = w.open();
  lease held = c.mutex("x").acquire();
  for (sim::model_redis* const s : w.all) EXPECT_TRUE(s->string_at("x"));
  EXPECT_FALSE(w.open().mutex("x").try_acquire());
  held.release();
  w.pass(1s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

TEST(redlock_layout, a_majority_suffices) {
  three_servers w;
  client c = w.open();
  w.kill(w.third);
  lease held = c.mutex("x").acquire();
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(w.open().mutex("x").try_acquire());
}

TEST(redlock_layout, without_a_majority_an_attempt_is_told_which_servers_fail) {
  three_servers w;
  client c = w.open();
  w.kill(w.second);
  w.kill(w.third);
  w.pass(1s);
  try {
    (void)c.mutex("x").try_acquire();
    FAIL() << "it is granted, or busy";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::no_quorum);
    EXPECT_THAT(e.what(), HasSubstr("second:6379"));
    EXPECT_THAT(e.what(), HasSubstr("third:6379"));
    EXPECT_THAT(e.what(), HasSubstr("2 of 3 servers cannot vote"));
  }
  w.pass(1s);
  EXPECT_FALSE(w.model.string_at("x"));
}

TEST(redlock_layout, a_majority_reaches_the_number_of_a_grant) {
  three_servers w({100, 200, 300});
  client c = w.open();
  w.kill(w.third);
  lease held = c.mutex("x").acquire();
  EXPECT_EQ(held.token() / w.turns, 201);
  EXPECT_EQ(w.number_at(w.model), 201);
}

TEST(redlock_layout, a_number_that_a_majority_has_needs_no_second_phase) {
  three_servers w({100, 200, 200});
  lease held = w.open().mutex("x").acquire();
  EXPECT_EQ(held.token() / w.turns, 201);
  EXPECT_EQ(w.number_at(w.model), 101);
}

TEST(redlock_layout, tokens_grow_when_the_servers_of_the_majority_change) {
  three_servers w({100, 200, 300});
  client c = w.open();
  std::int64_t last = 0;
  for (int i = 0; i < 9; ++i) {
    sim::model_redis* const out = w.all[static_cast<std::size_t>(i) % 3];
    w.kill(*out);
    lease held = c.mutex("x").acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
    held.release();
    w.dead.clear();
    w.pass(70s);  // it was started anew
  }
}

TEST(redlock_layout, a_server_that_answers_late_takes_no_part_in_raising) {
  late_third_server w;
  lease held = w.attempting.mutex("x").acquire();
  EXPECT_GE(w.count_at(held.token() / w.turns), 2u);
}

// The server that is asked first answers after the end of the wait.
TEST(redlock_layout, an_attempt_that_was_withdrawn_asks_no_more_servers) {
  three_servers w;
  client c = w.open();
  for (sim::model_redis* const s : w.all) w.command_at(*s, {"SET", "x", "another"});
  w.at(1000ms, [&] {
    w.changed = [&](std::string bytes) {
      if (bytes.find("another") != bytes.npos) w.stopped = {&w.model, &w.second, &w.third};
      return bytes;
    };
    for (sim::model_redis* const s : w.all) {
      w.command_at(*s, {"DEL", "x"});
      w.command_at(*s, {"PUBLISH", "hf:redlock:x", "another"});
    }
  });
  w.at(1300ms, [&] { w.stopped.clear(), w.changed = {}; });
  EXPECT_FALSE(c.mutex("x").try_acquire_for(1200ms));
  w.pass(1s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

// The first attempt after the message asks all servers at once, those after it begin at one.
TEST(redlock_layout, an_attempt_that_only_the_first_server_answers_is_given_up) {
  three_servers w;
  client c = w.open();
  sim::model_redis& first = *w.all[std::hash<std::string_view>{}("x") % w.all.size()];
  for (sim::model_redis* const s : w.all) w.command_at(*s, {"SET", "x", "another"});
  w.at(1000ms, [&] {
    for (sim::model_redis* const s : w.all) {
      w.command_at(*s, {"DEL", "x"});
      if (s != &first) w.stopped.push_back(s);
    }
    w.command_at(first, {"PUBLISH", "hf:redlock:x", "another"});
  });
  bool was_taken = false;
  int given_up = 0;
  for (auto t = 1010ms; t < 3s; t += 10ms)
    w.at(t, [&] {
      const bool is_taken = bool(first.string_at("x"));
      given_up += was_taken && !is_taken;
      was_taken = is_taken;
    });
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire_for(3s, ec));
  EXPECT_GE(given_up, 2);
  w.stopped.clear();
}

TEST(redlock_layout, what_an_attempt_that_nobody_answered_has_set_is_deleted) {
  three_servers w;
  client c = w.open("op-timeout=1s");
  w.stopped = {&w.model, &w.second, &w.third};
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire(ec));
  EXPECT_TRUE(ec);
  EXPECT_GT(w.servers_with("x"), 0u);
  w.stopped.clear();
  w.pass(5s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

TEST(redlock_layout, a_release_that_reached_nobody_is_made_up_for_once_servers_are_back) {
  three_servers w;
  client c = w.open("ttl=60s&op-timeout=1s");
  lease held = c.mutex("x").acquire();
  w.dead = {&w.model, &w.second, &w.third};
  for (sim::model_redis* const s : w.all) s->close_all();
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, errc::outcome_unknown);
  w.dead.clear();
  w.pass(5s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

// The third server has lost the script of the attempt, and its answer to it is late.
TEST(redlock_layout, an_attempt_that_was_withdrawn_is_not_sent_again_by_its_text) {
  three_servers w;
  client c = w.open();
  w.command_at(w.model, {"SET", "x", "another client", "PX", "30000"});
  w.third.script_flush();
  w.command_at(w.third, {"SCRIPT", "LOAD", redlock::scripts::release.text});
  w.stopped = {&w.third};
  w.at(300ms, [&] { w.stopped.clear(); });
  EXPECT_FALSE(c.mutex("x").try_acquire_for(200ms));
  w.pass(1s);
  EXPECT_FALSE(w.third.string_at("x"));
}

TEST(redlock_layout, new_servers_begin_with_the_clock) {
  three_servers w({0, 0, 0});
  lease held = w.open().mutex("x").acquire();
  EXPECT_GE(held.token() / w.turns, w.wall().count() - 1'000'000);
  EXPECT_EQ(w.count_at(1), 3u);
}

TEST(redlock_layout, a_server_that_cannot_begin_its_record_is_left_alone_for_a_while) {
  three_servers w;
  w.command_at(w.second, {"HSET", w.record, "begun-at", "before"});
  w.second.set_disk_full(true);
  client c = w.open();
  const base::time_point before = w.now();
  w.pass(10s);
  EXPECT_GE(w.now() - before, 10s);  // else its steps were used up
  w.second.set_disk_full(false);
  w.pass(5s);
  EXPECT_EQ(w.second.field_at(w.record, "begun-at"), w.second.run_id());
}

// A client that opens afterwards knows nothing of the lock.
TEST(redlock_layout, servers_that_were_emptied_while_they_ran_do_not_vote_at_once) {
  three_servers w;
  client holder = w.open();
  lease held = holder.mutex("x").acquire();
  const std::int64_t token = held.token();
  for (sim::model_redis* const s : w.all) s->flushall();
  client other = w.open();
  std::error_code ec;
  EXPECT_FALSE(other.mutex("x").try_acquire(ec) && held.held());
  EXPECT_EQ(ec, errc::no_quorum);
  w.pass(50s);
  EXPECT_EQ(w.count_at(1), 0u);
  w.pass(15s);
  EXPECT_EQ(w.count_at(1), 3u);
  EXPECT_GT(other.mutex("x").acquire().token(), token);
}

// They are unused since their start, and begin at once; their start is the pause.
TEST(redlock_layout, servers_that_were_all_restarted_empty_do_not_vote_at_once) {
  three_servers w;
  client holder = w.open();
  lease held = holder.mutex("x").acquire();
  for (sim::model_redis* const s : w.all) s->restart(sim::kept::nothing);
  client other = w.open();
  std::error_code ec;
  EXPECT_FALSE(other.mutex("x").try_acquire(ec) && held.held());
  EXPECT_EQ(ec, errc::no_quorum);
  EXPECT_EQ(w.count_at(1), 3u);
  w.pass(62s);
  EXPECT_TRUE(other.mutex("x").try_acquire());
}

// The votes were given by an earlier process, and its append-only file has brought them back.
TEST(redlock_layout, servers_that_have_only_renewed_a_lock_are_not_new) {
  three_servers w;
  for (sim::model_redis* const s : w.all) s->set_keeps_log(true);
  client holder = w.open();
  lease held = holder.mutex("x").acquire();
  for (sim::model_redis* const s : w.all) s->restart(sim::kept::everything);
  w.pass(70s);
  ASSERT_TRUE(held.held());
  for (sim::model_redis* const s : w.all) s->flushall();
  client other = w.open();
  std::error_code ec;
  EXPECT_FALSE(other.mutex("x").try_acquire(ec) && held.held());
  EXPECT_EQ(w.count_at(1), 0u);
}

TEST(redlock_layout, two_of_three_servers_that_were_emptied_wait_though_they_were_never_used) {
  three_servers w({500, 0, 0});
  client c = w.open();
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire(ec));
  EXPECT_EQ(ec, errc::no_quorum);
  w.pass(50s);
  EXPECT_EQ(w.count_at(1), 1u);
  w.pass(15s);
  EXPECT_EQ(w.count_at(1000), 2u);  // from the clock
}

TEST(redlock_layout, a_server_that_has_lost_its_data_goes_on_with_the_number_of_a_majority) {
  three_servers w({500, 500, 500});
  client c = w.open();
  w.third.restart(sim::kept::nothing);
  lease held = c.mutex("x").acquire();
  EXPECT_FALSE(w.third.string_at("x"));  // it may have lost locks
  held.release();
  w.pass(50s);
  EXPECT_EQ(w.number_at(w.third), 0);  // a grant may be under way that it has voted for
  w.pass(20s);
  EXPECT_GE(w.number_at(w.third), 500);
  held = c.mutex("x").acquire();
  EXPECT_TRUE(w.third.string_at("x"));
}

// Another client has begun the record of the second server, which this one takes for empty still.
TEST(redlock_layout, a_server_does_not_begin_with_the_clock_while_a_majority_has_a_number) {
  three_servers w;
  w.second.flushall();
  client c = w.open();
  w.command_at(w.second, {"HSET", w.record, "number", "1000", "max-ttl", "60000", "begun-at",
                          w.second.run_id()});
  w.model.flushall();
  lease held = c.mutex("x").acquire();
  w.pass(5s);
  EXPECT_EQ(w.number_at(w.model), 0);
  EXPECT_LT(held.token() / w.turns, 2000);
}

// Another client has begun the record of the third server, by a clock that is ahead, before the
// other two lost theirs.
TEST(redlock_layout, servers_do_not_begin_with_the_clock_by_an_old_view_of_one_of_them) {
  three_servers w({500, 500, 0});
  client c = w.open();
  const std::int64_t ahead = 2 * w.wall().count();
  w.command_at(w.third, {"HSET", w.record, "number", std::to_string(ahead), "max-ttl", "60000",
                         "begun-at", w.third.run_id()});
  w.model.restart(sim::kept::nothing);
  w.second.restart(sim::kept::nothing);
  w.pass(65s);
  EXPECT_EQ(w.count_at(ahead), 3u);
}

// A client knows for long that a server is empty. Another one has begun its record, and then the
// server loses its data again.
TEST(redlock_layout, a_record_that_was_lost_again_is_not_begun_by_an_old_view) {
  three_servers w({500, 500, 500});
  client c = w.open();
  w.third.flushall();
  (void)c.mutex("x").acquire();  // finds it out
  w.pass(59s);
  const std::string now = std::to_string(w.wall().count() / 1000);
  w.at(10ms, [&] { w.command_at(w.third, {"HSET", w.record, "gone-since", now}); });
  w.pass(20s);
  EXPECT_EQ(w.number_at(w.third), 0);
  w.pass(70s);
  EXPECT_GE(w.number_at(w.third), 500);
}

std::string why_not(const client& c) {
  try {
    return c.mutex("x").try_acquire() ? "it is granted" : "it is busy";
  } catch (const lock_error& e) {
    return e.what();
  }
}

TEST(redlock_layout, a_server_that_has_the_record_of_another_does_not_vote) {
  three_servers w;
  w.second.set_keeps_log(true);
  w.copy_record(w.second, w.model);
  client c = w.open();
  lease held = c.mutex("x").acquire();
  EXPECT_FALSE(w.second.string_at("x"));
  held.release();
  w.kill(w.third);
  w.pass(1s);
  EXPECT_THAT(why_not(c), HasSubstr("second:6379 has the record of model:6379: it was a replica"));
  EXPECT_THAT(why_not(c), HasSubstr("delete the key holdfast:redlock at second:6379"));
}

TEST(redlock_layout, a_server_whose_record_is_replaced_while_it_is_connected_does_not_vote) {
  three_servers w;
  client c = w.open();
  w.second.set_keeps_log(true);
  w.copy_record(w.second, w.model);
  lease held = c.mutex("x").acquire();
  EXPECT_FALSE(w.second.string_at("x"));
  held.release();
  w.kill(w.third);
  w.pass(1s);
  EXPECT_THAT(why_not(c), HasSubstr("second:6379 has the record of model:6379"));
}

// Both records are of an earlier process, which may have been that of either server.
TEST(redlock_layout, of_two_servers_with_one_record_of_an_earlier_process_none_votes) {
  three_servers w;
  for (sim::model_redis* const s : {&w.model, &w.second}) s->set_keeps_log(true);
  w.command_at(w.model, {"HSET", w.record, "begun-at", "before"});
  w.copy_record(w.second, w.model);
  client c = w.open();
  EXPECT_THAT(why_not(c), HasSubstr("one of them was a replica of the other"));
  w.command_at(w.second, {"DEL", w.record});
  w.pass(5s);
  EXPECT_TRUE(c.mutex("x").try_acquire());  // of the first and the third server
}

TEST(redlock_layout, a_server_that_was_a_replica_does_not_vote_though_its_master_is_unknown) {
  three_servers w;
  w.second.set_keeps_log(true);
  w.command_at(w.second, {"HSET", w.record, "begun-at", "elsewhere"});
  w.command_at(w.second, {"REPLICAOF", "elsewhere", "6379"});
  w.command_at(w.second, {"REPLICAOF", "NO", "ONE"});
  client c = w.open();
  lease held = c.mutex("x").acquire();
  EXPECT_FALSE(w.second.string_at("x"));
}

TEST(redlock_layout, a_server_that_was_a_replica_of_an_emptied_one_has_a_pause_of_its_own) {
  three_servers w;
  client c = w.open();
  w.third.flushall();
  (void)c.mutex("x").acquire();  // finds it out
  w.pass(50s);
  w.copy_loss(w.second, w.third);
  std::error_code ec;
  (void)c.mutex("x").try_acquire(ec);
  w.pass(50s);
  EXPECT_EQ(w.number_at(w.second), 0);
  w.pass(15s);
  EXPECT_GT(w.number_at(w.second), 0);
}

TEST(redlock_layout, a_copied_record_that_is_deleted_is_begun_by_the_numbers_of_the_others) {
  three_servers w;
  w.copy_record(w.second, w.model);
  client c = w.open();
  w.pass(120s);
  EXPECT_EQ(w.second.field_at(w.record, "begun-at"), w.model.run_id());
  w.command_at(w.second, {"DEL", w.record});
  w.pass(70s);
  EXPECT_EQ(w.second.field_at(w.record, "begun-at"), w.second.run_id());
  lease held = c.mutex("x").acquire();
  EXPECT_TRUE(w.second.string_at("x"));
}

TEST(redlock_layout, a_renewal_sets_the_lock_at_a_server_that_lacks_it) {
  three_servers w;
  client c = w.open();
  lease held = c.mutex("x").acquire();
  w.command_at(w.third, {"DEL", "x"});
  w.pass(20s);
  EXPECT_TRUE(w.third.string_at("x"));
  w.kill(w.second);  // it and the first server are no longer the only ones
  w.pass(60s);
  EXPECT_TRUE(held.held());
  w.dead.clear();
  w.pass(70s);
  held.release();
  w.pass(1s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

TEST(redlock_layout, a_lock_that_a_majority_has_lost_is_set_nowhere) {
  three_servers w;
  client c = w.open();
  lease held = c.mutex("x").acquire();
  for (sim::model_redis* const s : {&w.model, &w.second}) w.command_at(*s, {"DEL", "x"});
  w.pass(20s);
  EXPECT_FALSE(held.held());
  EXPECT_FALSE(w.model.string_at("x"));
}

TEST(redlock_layout, what_a_lost_attempt_has_set_is_deleted) {
  three_servers w;
  client c = w.open();
  for (sim::model_redis* const s : {&w.model, &w.second})
    w.command_at(*s, {"SET", "x", "another client", "PX", "30000"});
  EXPECT_FALSE(c.mutex("x").try_acquire());
  w.pass(1s);
  EXPECT_FALSE(w.third.string_at("x"));
}

TEST(redlock_layout, a_ttl_beyond_the_longest_is_refused) {
  three_servers w;
  client c = w.open();
  try {
    (void)c.mutex("x").acquire({.ttl = 2min});
    FAIL() << "it is granted";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_option);
    EXPECT_THAT(e.what(), HasSubstr("max-ttl"));
  }
  lease held = c.mutex("x").acquire();
  std::error_code ec;
  held.extend(2min, ec);
  EXPECT_EQ(ec, errc::bad_option);
}

TEST(redlock_layout, other_kinds_of_locks_are_refused_with_the_reason) {
  three_servers w;
  client c = w.open();
  try {
    (void)c.semaphore("x", 3).acquire();
    FAIL() << "it is granted";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_THAT(e.what(), HasSubstr("Redlock has no semaphores"));
    EXPECT_THAT(e.what(), HasSubstr("semaphore \"x\""));
  }
}

TEST(redlock_layout, the_first_server_does_not_keep_a_waiter_from_a_lock_that_is_free_elsewhere) {
  for (int first = 0; first < 3; ++first) {  // any of them may be the one that is asked first
    three_servers w;
    client c = w.open();
    for (sim::model_redis* const s : w.all) w.command_at(*s, {"SET", "x", "dead", "PX", "50000"});
    w.at(2s, [&] {
      for (int i = 0; i < 3; ++i)
        if (i != first) w.command_at(*w.all[static_cast<std::size_t>(i)], {"DEL", "x"});
    });
    EXPECT_TRUE(c.mutex("x").try_acquire_for(15s)) << first;
  }
}

TEST(redlock_layout, a_waiter_is_woken_by_the_release) {
  three_servers w;
  client c = w.open();
  client other = w.open();
  lease held = c.mutex("x").acquire();
  w.at(2s, [&] { held.release(); });
  const base::time_point before = w.now();
  lease next = other.mutex("x").acquire();
  EXPECT_LT(w.now() - before, 3s);
}

}  // namespace
}  // namespace holdfast::redis
