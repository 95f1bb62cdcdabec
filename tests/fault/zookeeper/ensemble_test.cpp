// A session at three servers: links between them that fail, leaders that go.
#include "fixture.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::zookeeper_test {
namespace {

using testkit::zookeeper_ensemble;

class zookeeper_on_ensemble : public on_zookeeper {};

// A follower that has lost its leader goes on answering pings and reads, and its clients do not
// notice. The leader ends their sessions all the same. syncLimit is how long that lasts, in ticks.
TEST_F(zookeeper_on_ensemble, a_session_at_a_follower_lapses_before_the_leader_ends_it) {
  zookeeper_ensemble all({.config = {"syncLimit=20"}});
  const int leader = all.leader(), follower = all.follower();
  session_client c(all.at(follower).url() + "?session-timeout=2s&op-timeout=30s");
  session_client other(all.at(leader).url());
  c.open();
  other.open();
  for (int round = 0; round < 3; ++round) {
    const auto id = eventual_owner_of_own(c, other);
    const int gone = other.count("2 /own"), lost = c.count("lost");
    all.link(follower, leader).set_both({.hold = true});
    ASSERT_TRUE(eventually([&] { return other.count("2 /own") > gone; }));
    EXPECT_GE(base::system_environment().now(), c.deadline_of(id));
    EXPECT_TRUE(eventually([&] { return c.count("lost") > lost; }));
    all.link(follower, leader).set_both({});
    all.link(follower, leader).reset_all();
  }
  EXPECT_TRUE(c.close());
}

// It does not know that it is alone: it answers reads, pings and even a sync.
TEST_F(zookeeper_on_ensemble, a_leader_without_followers_answers_and_renews_nothing) {
  zookeeper_ensemble all({.tick = 500ms, .config = {"syncLimit=20"}});
  const int leader = all.leader();
  session_client c(all.at(leader).url() + "?session-timeout=8s&attach=leader&op-timeout=30s");
  c.open();
  ASSERT_EQ(c.create("/own", node_kind::ephemeral).code, error::ok);
  EXPECT_TRUE(eventually([&] { return c.mode() == zookeeper::server_mode::leader; }));
  const auto id = c.id();
  for (int id_of = 1; id_of <= zookeeper_ensemble::servers; ++id_of)
    if (id_of != leader) all.link(id_of, leader).set_both({.hold = true});
  const auto alone = base::system_environment().now();
  std::string body;
  zookeeper::append_path(body, "/own");
  EXPECT_EQ(c.call(opcode::sync, body).code, error::ok);
  EXPECT_EQ(c.exists("/own").code, error::ok);
  const answer write = c.create("/more");
  EXPECT_TRUE(write.was_cut);
  EXPECT_TRUE(eventually([&] { return c.count("lost") >= 1; }));
  EXPECT_LT(c.deadline_of(id), alone + 8s);
}

TEST_F(zookeeper_on_ensemble, a_session_finds_the_leader_and_the_next_one) {
  zookeeper_ensemble all({.tick = 500ms});
  session_client c(all.url() + "?session-timeout=10s&attach=leader&op-timeout=30s");
  c.open();
  const auto leads = [&] { return c.mode() == zookeeper::server_mode::leader; };
  EXPECT_TRUE(eventually(leads));
  ASSERT_EQ(c.create("/own", node_kind::ephemeral).code, error::ok);
  const auto id = c.id();
  const int first = all.leader();
  all.at(first).kill_hard();
  ASSERT_TRUE(eventually([&] { return c.count("doubtful") >= 1; }));
  ASSERT_TRUE(eventually_creates(c, "/more"));
  if (c.count("lost") == 0) {
    EXPECT_EQ(c.id(), id);
    EXPECT_EQ(c.exists("/own").code, error::ok);
  }
  EXPECT_TRUE(eventually(leads));

  all.at(all.follower()).kill_hard();  // the last one has no quorum
  const auto why = failure_to_open(all.url() + "?op-timeout=1s");
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.text, "");
  EXPECT_TRUE(eventually([&] { return c.count("lost") >= 1; }));
}

}  // namespace
}  // namespace holdfast::zookeeper_test
