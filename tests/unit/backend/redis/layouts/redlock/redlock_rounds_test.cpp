// Rounds of a Redlock in which servers answer late, answer nothing, or have lost their scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/redis/layouts/scripts.hpp"
#include "testkit/heard_warnings.hpp"
#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

void flush_scripts(three_servers& w) {
  for (sim::model_redis* const s : w.all) s->script_flush();
}

// The two servers that answer have different numbers, and the third one could spare their rise.
TEST(redlock_rounds, a_server_that_does_not_answer_does_not_hold_up_a_grant) {
  three_servers w({100, 200, 50});
  client c = w.open();
  w.stopped = {&w.third};
  const base::time_point before = w.now();
  lease held = c.mutex("x").try_acquire();
  EXPECT_TRUE(held.held());
  EXPECT_LT(w.now() - before, 100ms);
  w.stopped.clear();
}

TEST(redlock_rounds, servers_that_have_lost_their_scripts_are_sent_their_text) {
  for (const bool is_cut_off : {false, true}) {
    three_servers w;
    client c = w.open();
    flush_scripts(w);
    w.refuses_connections = is_cut_off;  // renewals have no connection of their own then
    lease held = c.mutex("x").try_acquire();
    ASSERT_TRUE(held.held());
    for (int i = 0; i < 5; ++i) {
      flush_scripts(w);
      w.pass(20s);
      EXPECT_TRUE(held.held()) << is_cut_off << i;
    }
    flush_scripts(w);
    held.unlock();
    w.pass(1s);
    EXPECT_EQ(w.servers_with("x"), 0u);
  }
}

TEST(redlock_rounds, servers_that_have_lost_their_scripts_extend_a_lease_without_delay) {
  three_servers w;
  client c = w.open();
  lease held = w.held_by_hand(c.mutex("x"));
  flush_scripts(w);
  const base::time_point before = w.now();
  held.extend(30s);
  EXPECT_LT(w.now() - before, 100ms);
}

TEST(redlock_rounds, a_lease_is_lost_to_another_owner_or_because_there_is_none) {
  for (const bool is_taken : {false, true}) {
    three_servers w;
    client c = w.open();
    lease held = c.mutex("x").acquire();
    for (sim::model_redis* const s : w.all) {
      w.command_at(*s, {"DEL", "x"});
      if (is_taken) w.command_at(*s, {"SET", "x", "another"});
    }
    w.pass(20s);
    try {
      held.extend(30s);
      FAIL() << "it is held";
    } catch (const lock_error& e) {
      const char* const why = is_taken ? "reports another owner" : "no longer has a holder";
      EXPECT_THAT(e.what(), testing::HasSubstr(why));
    }
  }
}

// Two servers have lost the script of an attempt, and report that during the next attempt.
TEST(redlock_rounds, an_answer_to_an_attempt_that_was_given_up_is_not_one_to_the_next_attempt) {
  three_servers w;
  client c = w.open("op-timeout=10s");
  mutex m = c.mutex("x");
  for (sim::model_redis* const s : {&w.second, &w.third}) {
    s->script_flush();
    w.command_at(*s, {"SCRIPT", "LOAD", redlock::scripts::release.text});
  }
  w.command({"SET", "x", "another"});
  w.stopped = {&w.second, &w.third};
  std::error_code ec;
  EXPECT_FALSE(m.try_acquire(ec));
  EXPECT_EQ(ec, errc::no_quorum);
  w.command({"DEL", "x"});
  w.at(100ms, [&] { w.stopped.clear(); });
  lease held = m.try_acquire();
  ASSERT_TRUE(held.held());
  held.release(ec);
  EXPECT_EQ(ec, std::error_code());
  w.pass(1s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

// The connections for it could not be made. By the time there are some, the lease is longer.
TEST(redlock_rounds, a_renewal_that_could_not_be_sent_shortens_no_lease_later) {
  three_servers w;
  client c = w.open("ttl=10s");
  lease held = c.mutex("x").acquire({.renew = renewal::manual});
  w.refuses_connections = true;
  std::error_code ec;
  held.extend(10s, ec);
  for (int i = 0; i < 2; ++i) {
    held.extend(50s);
    w.refuses_connections = false;
    w.pass(3s);
    for (sim::model_redis* const s : w.all)
      EXPECT_GT(s->end_of("x").value_or(0), w.wall().count() / 1000 + 40'000);
  }
}

TEST(redlock_rounds, an_attempt_that_no_majority_can_grant_is_refused_at_once) {
  three_servers w;
  client c = w.open();
  w.kill(w.second);
  w.kill(w.third);
  w.pass(1s);
  const base::time_point before = w.now();
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire(ec));
  EXPECT_EQ(ec, errc::no_quorum);
  EXPECT_LT(w.now() - before, 100ms);
}

TEST(redlock_rounds, an_attempt_names_the_servers_whose_connections_it_has_lost) {
  three_servers w;
  client c = w.open();
  w.kill(w.second);
  w.kill(w.third);
  try {
    (void)c.mutex("x").try_acquire();
    FAIL() << "it is granted, or busy";
  } catch (const lock_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("second:6379 (no connection"));
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("has not reported yet")));
  }
}

TEST(redlock_rounds, an_attempt_ends_with_the_connections_that_its_answers_would_come_over) {
  three_servers w;
  client c = w.open("node-timeout=5s&op-timeout=20s");
  w.stopped = {&w.second, &w.third};
  w.at(100ms, [&] {
    w.changed = [](const std::string&) { return std::string(); };
    w.stopped.clear();
    w.kill(w.second);
    w.kill(w.third);
  });
  const base::time_point before = w.now();
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire(ec));
  EXPECT_EQ(ec, errc::no_quorum);
  EXPECT_LT(w.now() - before, 200ms);
  w.changed = nullptr;
}

TEST(redlock_rounds, an_attempt_names_the_servers_that_refuse_it) {
  three_servers w;
  client c = w.open();
  w.second.set_disk_full(true);
  w.third.set_disk_full(true);
  try {
    (void)c.mutex("x").try_acquire();
    FAIL() << "it is granted, or busy";
  } catch (const lock_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("2 of 3 servers cannot vote"));
    EXPECT_THAT(e.what(), testing::ContainsRegex("second:6379 .*MISCONF"));
  }
}

// They have lost the script of the attempt, and answer after the end of the wait.
TEST(redlock_rounds, an_attempt_that_was_withdrawn_is_sent_again_to_no_server) {
  three_servers w;
  client c = w.open();
  flush_scripts(w);
  for (sim::model_redis* const s : w.all)
    w.command_at(*s, {"SCRIPT", "LOAD", redlock::scripts::release.text});
  w.stopped = {&w.model, &w.second, &w.third};
  w.at(300ms, [&] { w.stopped.clear(); });
  EXPECT_FALSE(c.mutex("x").try_acquire_for(200ms));
  w.pass(1s);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

// The others have answered by then.
TEST(redlock_rounds, a_release_is_sent_again_to_a_server_that_has_lost_its_scripts) {
  three_servers w;
  client c = w.open();
  lease held = c.mutex("x").acquire();
  w.third.script_flush();
  w.stopped = {&w.third};
  held.release();
  EXPECT_TRUE(w.third.string_at("x"));
  w.stopped.clear();
  w.pass(100ms);
  EXPECT_FALSE(w.third.string_at("x"));
}

// A holder whose renewal the third server, which has lost the lock, is the last to answer.
struct late_renewal : three_servers {
  late_renewal() {
    command_at(third, {"DEL", "x"});
    stopped = {&third};
    held.extend(30s);
  }
  void go_on() {
    stopped.clear();
    pass(1s);
  }

  client c = open();
  mutex m = c.mutex("x");
  lease held = held_by_hand(m);
};

TEST(redlock_rounds, a_renewal_sets_no_lock_that_is_being_released) {
  late_renewal w;
  w.stopped = {&w.model, &w.second, &w.third};
  w.at(100ms, [&] { w.stopped = {&w.model, &w.second}; });
  w.at(200ms, [&] { w.stopped.clear(); });
  w.held.release();
  w.go_on();
  EXPECT_EQ(w.servers_with("x"), 0u);
}

TEST(redlock_rounds, a_renewal_sets_no_lock_of_a_claim_that_is_gone) {
  late_renewal w;
  w.held.release();
  w.held = {};
  w.m = w.c.mutex("y");
  w.go_on();
  EXPECT_EQ(w.servers_with("x"), 0u);
}

TEST(redlock_rounds, a_renewal_sets_no_lock_of_an_earlier_owner) {
  late_renewal w;
  w.held.release();
  w.held = w.m.acquire({.renew = renewal::manual});
  w.command_at(w.third, {"DEL", "x"});
  w.go_on();
  EXPECT_TRUE(w.held.held());
  EXPECT_FALSE(w.third.string_at("x"));
}

// The attempt was not answered before the connection was lost, and it cannot be ended there.
TEST(redlock_rounds, a_release_is_repeated_where_an_unanswered_attempt_may_arrive_after_it) {
  three_servers w;
  client c = w.open();
  w.third.forbid("client|kill");
  w.stopped = {&w.third};
  lease held = c.mutex("x").acquire();
  w.changed = [](const std::string&) { return std::string(); };
  w.stopped.clear();
  w.pass(1ms);
  w.changed = nullptr;
  w.third.close_all();
  w.pass(1s);
  ASSERT_TRUE(w.third.string_at("x"));
  const std::string owner(w.third.string_at("x")->text);
  held.release();
  w.pass(1ms);
  EXPECT_FALSE(w.third.string_at("x"));
  w.command_at(w.third, {"SET", "x", owner, "PX", "60000"});
  w.pass(15s);
  EXPECT_FALSE(w.third.string_at("x"));
}

TEST(redlock_rounds, a_release_whose_outcome_is_unknown_is_logged_with_the_servers_that_fail) {
  three_servers w;
  client c = w.open("op-timeout=1s");
  lease held = c.mutex("x").acquire();
  w.dead = {&w.model, &w.second, &w.third};
  for (sim::model_redis* const s : w.all) s->close_all();
  testkit::heard_warnings heard;
  held.unlock();
  w.pass(5s);
  EXPECT_EQ(heard.that_mention("3 of 3 servers cannot vote"), 1u) << heard.text();
}

TEST(redlock_rounds, a_client_that_has_released_all_closes_at_once) {
  three_servers w;
  client c = w.open();
  c.mutex("x").acquire().release();
  w.kill(w.third);
  w.pass(1s);
  c.mutex("x").acquire().release();
  const base::time_point before = w.now();
  EXPECT_TRUE(c.close());
  EXPECT_LT(w.now() - before, 100ms);
}

// The servers have refused to delete it, and would be asked again after a second.
TEST(redlock_rounds, what_an_attempt_has_left_is_deleted_when_the_client_closes) {
  three_servers w;
  client c = w.open("op-timeout=1s");
  w.stopped = {&w.model, &w.second, &w.third};
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire(ec));
  const refused_writes refused(w);
  for (sim::model_redis* const s : w.all) s->set_disk_full(true);
  w.stopped.clear();
  for (int i = 0; i < 1000 && refused.count < 15; ++i) w.pass(10ms);
  ASSERT_GE(refused.count, 15);
  EXPECT_GT(w.servers_with("x"), 0u);
  for (sim::model_redis* const s : w.all) s->set_disk_full(false);
  const base::time_point before = w.now();
  EXPECT_TRUE(c.close());
  EXPECT_LT(w.now() - before, 100ms);
  EXPECT_EQ(w.servers_with("x"), 0u);
}

}  // namespace
}  // namespace holdfast::redis
