// Rules of the model of ZooKeeper that a real server cannot be made to show at will: each was
// measured on a real ensemble.
#include <gtest/gtest.h>

#include <limits>

#include "tests/sim/zookeeper/compared/model_client.hpp"

namespace holdfast::sim::zk {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t ephemeral = 1, sequential = 2, container = 4;
constexpr auto tick = 1000ms;

struct zookeeper_model_rules : testing::Test {
  ensemble& of(int servers, double parked_share = 0) {
    all.emplace(host, ensemble_options{.servers = servers,
                                       .tick = tick,
                                       .container_check = 60'000ms,
                                       .parked_share = parked_share});
    return *all;
  }
  int follower() const { return all->leader() == 1 ? 2 : 1; }
  bool has(const char* path) const { return all->agreed().find(path) != nullptr; }
  // Answered at once by a server alone, and elsewhere after some ms.
  std::string answer(model_client& c, op type, std::string body = {}) {
    c.ask(type, std::move(body));
    host.pass(20ms);
    return c.heard();
  }
  void attach(model_client& c, std::int32_t timeout_ms) {
    c.connect(timeout_ms);
    host.pass(20ms);
    EXPECT_EQ(c.heard(), "session " + std::to_string(timeout_ms) + " ms");
  }
  passing_host host;
  std::optional<ensemble> all;
};

TEST_F(zookeeper_model_rules, closes_the_sessions_of_a_bucket_one_after_the_other) {
  ensemble& e = of(1);
  model_client one(e, 1), two(e, 1), three(e, 1);
  for (model_client* const c : {&one, &two, &three}) {
    attach(*c, 4000);
    c->ask(op::create, creation("/" + std::to_string(c->session()), ephemeral));
    (void)c->heard();
  }
  e.close_buckets_slowly(1h, 100s);
  host.pass(5s);
  int closed = 0;
  for (int n = 0; n < 300 && closed == 0; ++n) {
    host.pass(1s);
    closed = one.is_closed() + two.is_closed() + three.is_closed();
  }
  ASSERT_EQ(closed, 1) << "they ended at once";
  model_client& late = one.is_closed() ? two : one;
  EXPECT_EQ(answer(late, op::create, creation("/late", 0)), "2: 0") << "its turn has not come";
  EXPECT_FALSE(late.is_closed());
  host.pass(300s);
  EXPECT_TRUE(late.is_closed()) << "though it was touched";
}

TEST_F(zookeeper_model_rules, a_follower_answers_pings_of_a_session_that_the_leader_ends) {
  ensemble& e = of(3);
  model_client c(e, follower()), other(e, e.leader());
  attach(c, 3000);
  attach(other, 20'000);
  EXPECT_EQ(answer(c, op::create, creation("/own", ephemeral)), "1: 0");
  host.pass(1s);
  e.freeze(follower(), e.leader(), host.now() + 5s);
  for (int n = 0; n < 45; ++n) {
    EXPECT_EQ(answer(c, op::ping), "ping");
    host.pass(80ms);
  }
  EXPECT_FALSE(has("/own"));
  EXPECT_EQ(answer(c, op::exists, watched("/own")), "2: 0") << "it does not know yet";
  host.pass(2s);
  EXPECT_TRUE(c.is_closed());
}

TEST_F(zookeeper_model_rules, a_follower_ends_a_longer_time_out_with_that_of_the_creation) {
  ensemble& e = of(3);
  model_client first(e, follower());
  attach(first, 2000);
  first.ask(op::create, creation("/own", ephemeral));
  model_client again(e, follower());
  again.connect(10'000, first.session(), first.password());
  host.pass(5ms);
  EXPECT_EQ(again.heard(), "session 10000 ms");
  e.freeze(follower(), e.leader(), host.now() + 100s);
  host.pass(5s);
  EXPECT_FALSE(has("/own")) << "the other follower's table has it";
}

// Where it is told that they have gone, it steps down at once.
TEST_F(zookeeper_model_rules, a_leader_that_hears_nobody_attaches_sessions_while_others_lead) {
  ensemble& e = of(3);
  const int leader = e.leader();
  model_client first(e, leader);
  attach(first, 20'000);
  for (int id = 1; id <= 3; ++id)
    if (id != leader) {
      e.freeze(leader, id, host.now() + 60s);
      e.kill(id);
    }
  for (int id = 1; id <= 3; ++id) e.start(id);
  host.pass(2s);
  EXPECT_NE(e.leader(), leader);
  model_client again(e, leader);
  again.connect(20'000, first.session(), first.password());
  host.pass(20ms);
  EXPECT_EQ(again.heard(), "session 20000 ms");
  host.pass(5s);
  EXPECT_TRUE(again.is_closed());
}

TEST_F(zookeeper_model_rules, a_new_leader_gives_each_session_the_time_out_of_its_creation) {
  ensemble& e = of(3);
  model_client first(e, e.leader());
  attach(first, 2000);
  first.ask(op::create, creation("/own", ephemeral));
  host.pass(900ms);  // the followers' tables are passed on
  model_client again(e, follower());
  again.connect(10'000, first.session(), first.password());
  host.pass(20ms);
  EXPECT_EQ(again.heard(), "session 10000 ms");
  e.kill(e.leader());
  host.pass(5s);
  EXPECT_FALSE(has("/own"));
}

TEST_F(zookeeper_model_rules, a_leader_that_is_alone_answers_all_but_writes) {
  ensemble& e = of(3);
  const int old = e.leader();
  model_client c(e, old), reader(e, old);
  attach(c, 20'000);
  attach(reader, 20'000);
  for (int id = 1; id <= 3; ++id)
    if (id != old) e.freeze(old, id, host.now() + 30s);
  EXPECT_EQ(answer(c, op::ping), "ping");
  EXPECT_EQ(answer(c, op::sync, "\0\0\0\0"), "1: -5");
  EXPECT_EQ(answer(c, op::exists, watched("/t")), "2: -101");
  EXPECT_EQ(answer(c, op::create, creation("/t", 0)), "");
  EXPECT_EQ(answer(c, op::ping), "") << "it stands behind the write";
  EXPECT_EQ(answer(reader, op::ping), "ping");
  host.pass(15s);
  EXPECT_TRUE(c.is_closed());
  EXPECT_NE(e.leader(), old);
  EXPECT_NE(e.leader(), 0);
  EXPECT_FALSE(has("/t"));
}

TEST_F(zookeeper_model_rules, an_acknowledged_write_outlives_its_leader) {
  ensemble& e = of(3);
  const int old = e.leader();
  model_client c(e, old);
  attach(c, 20'000);
  EXPECT_EQ(answer(c, op::create, creation("/t", 0)), "1: 0");
  e.kill(old);
  EXPECT_TRUE(c.is_closed());
  EXPECT_FALSE(e.accepts(old));
  host.pass(5s);
  ASSERT_NE(e.leader(), 0);
  model_client again(e, e.leader());
  again.connect(20'000, c.session(), c.password());
  host.pass(20ms);
  EXPECT_EQ(again.heard(), "session 20000 ms");
  EXPECT_EQ(answer(again, op::exists, watched("/t")), "1: 0");
  e.start(old);
  host.pass(5s);
  EXPECT_NE(e.at(old).state.find("/t"), nullptr);
}

TEST_F(zookeeper_model_rules, a_stopped_leader_is_deposed_and_answers_until_it_knows) {
  ensemble& e = of(3);
  const int old = e.leader();
  model_client c(e, old);
  attach(c, 20'000);
  e.stop(old);
  c.ask(op::ping);
  c.ask(op::create, creation("/t", 0));
  host.pass(20s);
  EXPECT_EQ(c.heard(), "");
  const int now = e.leader();
  e.resume(old);
  EXPECT_EQ(c.heard(), "ping");
  host.pass(5s);
  EXPECT_TRUE(c.is_closed());
  EXPECT_EQ(e.leader(), now);
  EXPECT_FALSE(has("/t"));
}

TEST_F(zookeeper_model_rules, a_quiet_follower_keeps_a_reply_until_something_else_happens) {
  ensemble& e = of(3, 1);
  model_client c(e, follower());
  attach(c, 20'000);
  EXPECT_EQ(answer(c, op::exists, watched("/t")), "");
  EXPECT_EQ(answer(c, op::ping), "1: -101 | ping");
}

TEST_F(zookeeper_model_rules, a_client_that_left_a_stopped_server_hears_nothing_of_its_death) {
  ensemble& e = of(3);
  const int server = follower();
  model_client stays(e, server), leaves(e, server);
  attach(stays, 20'000);
  attach(leaves, 20'000);
  e.stop(server);
  leaves.leave();
  e.kill(server);
  EXPECT_TRUE(stays.is_closed());
  EXPECT_FALSE(leaves.is_closed());
}

TEST_F(zookeeper_model_rules, a_session_that_has_moved_writes_over_its_new_connection_only) {
  ensemble& e = of(3);
  const int from = follower(), to = e.leader();
  model_client before(e, from);
  attach(before, 20'000);
  model_client after(e, to);
  after.connect(20'000, before.session(), before.password());
  host.pass(20ms);
  EXPECT_EQ(answer(before, op::exists, watched("/t")), "1: -101");
  EXPECT_EQ(answer(before, op::create, creation("/t", 0)), "");
  EXPECT_TRUE(before.is_closed());
  EXPECT_FALSE(has("/t"));
}

TEST_F(zookeeper_model_rules, a_count_of_children_at_its_end_stays_there) {
  ensemble& e = of(1);
  model_client c(e, 1);
  attach(c, 20'000);
  c.ask(op::create, creation("/t", 0));
  e.set_created("/t", std::numeric_limits<std::int32_t>::max());
  (void)c.heard();
  EXPECT_EQ(answer(c, op::create, creation("/t/n-", sequential)), "2: 0");
  EXPECT_TRUE(has("/t/n-2147483647"));
  EXPECT_EQ(answer(c, op::create, creation("/t/n-", sequential)), "3: -110");
  EXPECT_EQ(answer(c, op::create, creation("/t/m-", sequential)), "4: 0");
  EXPECT_TRUE(has("/t/m-2147483647")) << "names with prefixes of their own are not refused";
}

TEST_F(zookeeper_model_rules, a_container_goes_once_its_last_child_is_gone) {
  ensemble& e = of(1);
  model_client c(e, 1);
  attach(c, 20'000);
  const auto keep_on = [&] {
    for (int n = 0; n < 13; ++n) {
      host.pass(10s);
      c.ask(op::ping);
    }
    (void)c.heard();
  };
  c.ask(op::create_container, creation("/c", container));
  keep_on();
  EXPECT_TRUE(has("/c")) << "it never had a child";
  c.ask(op::create, creation("/c/a", 0));
  c.ask(op::remove, removal("/c/a"));
  keep_on();
  EXPECT_FALSE(has("/c"));
}

}  // namespace
}  // namespace holdfast::sim::zk
