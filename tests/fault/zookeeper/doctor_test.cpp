// client::diagnose() on real servers.
#include <holdfast/holdfast.hpp>

#include <algorithm>

#include "fixture.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::zookeeper_test {
namespace {

finding found(const std::vector<finding>& all, std::string_view what) {
  const auto at = std::ranges::find(all, what, &finding::what);
  return at == all.end() ? finding{"", finding_grade::bad, "there is no such finding", ""} : *at;
}

void expect(const std::vector<finding>& all, std::string_view what, finding_grade how,
            std::string_view part) {
  const finding f = found(all, what);
  EXPECT_EQ(f.grade, how) << what << ": " << f.why;
  EXPECT_NE(f.why.find(part), std::string::npos) << what << ": " << f.why;
  EXPECT_EQ(f.remedy.empty(), how == finding_grade::good) << what;
}

using enum finding_grade;

class zookeeper_doctor : public on_zookeeper {};

// Debian's, or another version that the tests run on.
bool is_zookeeper_3_8() {
  return shared_server().ask("srvr").find("version: 3.8.") != std::string::npos;
}

TEST_F(zookeeper_doctor, of_a_server_that_stands_alone) {
  session_client by_hand(shared_server().url());
  by_hand.open();
  ASSERT_EQ(by_hand.create("/doctor").code, error::ok);
  ASSERT_EQ(by_hand.create("/doctor/holds data").code, error::ok);
  ASSERT_EQ(by_hand.create("/doctor/50%").code, error::ok);
  ASSERT_EQ(by_hand.create("/doctor/short", node_kind::ephemeral).code, error::ok);
  const client c = client::open(shared_server().url() + "/doctor?session-timeout=10s");
  for (int i = 0; i < 3; ++i) (void)c.mutex("much used").acquire();
  std::vector<finding> all;
  EXPECT_TRUE(eventually([&] {  // a busy machine may be slow to answer
    all = c.diagnose();
    return found(all, "latency").grade == good;
  }));
  const std::string server = "127.0.0.1:" + std::to_string(shared_server().port());
  expect(all, "servers", warn, "a single server");
  expect(all, "leader", good, server + " leads");
  if (is_zookeeper_3_8())
    expect(all, "version", warn, "ZOOKEEPER-4537");
  else
    expect(all, "version", good, "ZooKeeper 3.");
  expect(all, "timeouts", good, "400 ms to 10000 ms");
  expect(all, "connections", good, server + " has ");
  expect(all, "sessions", good, "whole ensemble");
  expect(all, "tls", warn, "not encrypted");
  expect(all, "rights", good, "create and delete under /doctor");
  expect(all, "acl", warn, "world:anyone has d");
  expect(all, "sequences", good, "much used has had 3 nodes");
  expect(all, "nodes", warn, "holds data (it holds data)");
  expect(all, "nodes", warn, "short (it is ephemeral)");
  expect(all, "nodes", warn, "50% (no lock has this name)");
  expect(all, "clock", good, "this machine's");
  expect(all, "latency", good, "5 round trips");
  EXPECT_EQ(by_hand.children_of("/doctor").size(), 4u);  // its own node is gone
  const client asking = client::open(shared_server().url());
  expect(asking.diagnose(), "timeouts", warn, "the URL requests 30000 ms: sessions get 10000 ms");
}

TEST_F(zookeeper_doctor, of_a_thousand_locks_is_about_all_and_of_more_is_about_the_first_ones) {
  session_client by_hand(shared_server().url());
  by_hand.open();
  ASSERT_EQ(by_hand.create("/many").code, error::ok);
  const auto create_lock = [&](const std::string& name) {
    std::string body;
    zookeeper::append_create(body, "/many/" + name, "", node_kind::persistent, acl_of::anyone);
    return by_hand.call(zookeeper::opcode::create2, std::move(body)).code;
  };
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(create_lock(std::to_string(i)), error::ok);
  const client c = client::open(shared_server().url() + "/many");
  expect(c.diagnose(), "nodes", good, "1000 locks are under /many, and nothing else");
  ASSERT_EQ(create_lock("one too many"), error::ok);
  expect(c.diagnose(), "nodes", good, "1000 locks are under /many, or more");
}

TEST_F(zookeeper_doctor, of_a_user_without_rights) {
  const std::string at = "127.0.0.1:" + std::to_string(shared_server().port());
  session_client owner("zookeeper://me:secret@" + at);
  owner.open();
  ASSERT_EQ(owner.create("/doctor-mine", node_kind::persistent, acl_of::creator).code, error::ok);
  const std::string for_any_user = "zookeeper://" + at + "/doctor-mine";
  if (is_zookeeper_3_8()) {
    expect(client::open(for_any_user).diagnose(), "rights", bad,
           "may not create under /doctor-mine");
  } else {  // ZooKeeper 3.9 hides a node from a user who may not read it
    try {
      (void)client::open(for_any_user);
      ADD_FAILURE() << "opened without a right";
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::refused);
      EXPECT_NE(std::string_view(e.what()).find("may not read the node /doctor-mine"),
                std::string_view::npos)
          << e.what();
    }
  }
  const auto mine = client::open("zookeeper://me:secret@" + at + "/doctor-mine").diagnose();
  expect(mine, "rights", good, "");
  expect(mine, "acl", good, "");
  expect(mine, "tls", warn, "and reads the password");
}

TEST_F(zookeeper_doctor, of_a_server_without_a_connection_to_spare) {
  // Of a tick by which the client keeps its connection meanwhile.
  const zookeeper_server server({.tick = 2s, .config = {"maxClientCnxns=1"}});
  const client c = client::open(server.url() + "?op-timeout=5s");
  const auto all = c.diagnose();
  expect(all, "connections", bad, "maxClientCnxns");
  expect(all, "servers", bad, "none of the servers");
}

TEST_F(zookeeper_doctor, of_an_ensemble_with_unlike_servers_that_falls_apart) {
  testkit::zookeeper_ensemble servers({.config = {"localSessionsEnabled=true",
                                                  "localSessionsUpgradingEnabled=true"}},
                                      {"maxSessionTimeout=3000"});
  const auto name = [&](int id) { return "127.0.0.1:" + std::to_string(servers.at(id).port()); };
  const client c = client::open(servers.url() + "?session-timeout=2s&op-timeout=2s");
  const int leader = servers.leader(), follower = leader == 1 ? 2 : 1,
            third = 6 - leader - follower;
  auto all = c.diagnose();
  expect(all, "servers", good, "3 of 3");
  expect(all, "leader", good, name(leader) + " leads");
  expect(all, "timeouts", bad, name(1) + " 400 ms to 3000 ms");
  expect(all, "sessions", warn, "localSessionsEnabled at 127.0.0.1:");
  expect(all, "rights", good, "");
  servers.at(third).kill_hard();
  (void)servers.leader();
  all = c.diagnose();
  expect(all, "servers", warn, "2 of 3");
  expect(all, "servers", warn, name(third));
  servers.at(follower).kill_hard();
  ASSERT_TRUE(eventually([&] { return servers.at(leader).mode().empty(); }));
  all = c.diagnose();
  expect(all, "servers", bad, "none of the servers");
  expect(all, "rights", warn, "not known");
}

}  // namespace
}  // namespace holdfast::zookeeper_test
