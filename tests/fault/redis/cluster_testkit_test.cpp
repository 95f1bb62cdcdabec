// The Redis Cluster that the fault tests use does what its class says.
#include <gtest/gtest.h>

#include <set>

#include "fixture.hpp"
#include "testkit/servers/cluster_servers.hpp"

namespace holdfast::redis_test {
namespace {

using testkit::cluster_servers;
using testkit::cluster_slots;
using testkit::redis_link;
using testkit::redis_silent;

class redis_cluster_testkit : public on_redis {};

std::string text_at(cluster_servers& c, std::size_t i, const std::vector<std::string>& words) {
  return to_text(c.server(i).command(words));
}

std::string redirection(const char* kind, cluster_servers& c, int slot, std::size_t to) {
  return std::string("(error) ") + kind + ' ' + std::to_string(slot) +
         " 127.0.0.1:" + std::to_string(c.server(to).port());
}

TEST_F(redis_cluster_testkit, every_node_serves_and_names_the_same_owner_for_each_slot) {
  cluster_servers c;
  ASSERT_EQ(c.server_count(), 6U);
  for (std::size_t i = 0; i < c.server_count(); ++i) {
    const testkit::cluster_view view(c.server(i).command({"CLUSTER", "NODES"}).text);
    EXPECT_EQ(view.self().id, c.id(i));
    EXPECT_EQ(view.owner_of(0)->id, c.id(0));
    EXPECT_EQ(view.owner_of(cluster_slots / 2)->id, c.id(1));
    EXPECT_EQ(view.owner_of(cluster_slots - 1)->id, c.id(2));
    EXPECT_NE(text_at(c, i, {"CLUSTER", "INFO"}).find("cluster_slots_ok:16384"), std::string::npos);
  }
  EXPECT_EQ(c.slot_of("foo"), 12182);
  EXPECT_EQ(c.slot_of("{foo}bar"), 12182);
  EXPECT_EQ(c.master_of_slot(12182), 2U);
  EXPECT_EQ(c.replica_of(0), 3U);
  EXPECT_EQ(text_at(c, 0, {"SET", "foo", "v"}), redirection("MOVED", c, 12182, 2));
  EXPECT_EQ(text_at(c, 2, {"SET", "foo", "v"}), "OK");
  EXPECT_EQ(c.url(), "redis+cluster://127.0.0.1:" + std::to_string(c.server(0).port()) +
                         ",127.0.0.1:" + std::to_string(c.server(1).port()) +
                         ",127.0.0.1:" + std::to_string(c.server(2).port()));
}

TEST_F(redis_cluster_testkit, the_count_of_masters_and_of_their_replicas_is_an_option) {
  cluster_servers c({.masters = 4, .replicas = 0});
  EXPECT_EQ(c.server_count(), 4U);
  EXPECT_EQ(c.master_of_slot(cluster_slots - 1), 3U);
  EXPECT_THROW(c.replica_of(0), std::runtime_error);
  cluster_servers with_many_replicas({.replicas = 2});
  EXPECT_EQ(with_many_replicas.server_count(), 9U);
}

TEST_F(redis_cluster_testkit, a_slot_is_moved_with_its_keys_in_steps) {
  cluster_servers c;
  const int slot = c.slot_of("{foo}");
  for (const char* key : {"{foo}1", "{foo}2"}) c.server(2).command({"SET", key, "v"});
  c.mark_migrating(slot, 2, 0);
  EXPECT_EQ(c.keys_of_slot(slot, 2).size(), 2U);
  EXPECT_EQ(text_at(c, 2, {"GET", "{foo}1"}), "v");
  EXPECT_EQ(text_at(c, 2, {"GET", "{foo}absent"}), redirection("ASK", c, slot, 0));

  c.move_keys({"{foo}1"}, 2, 0);
  EXPECT_EQ(text_at(c, 2, {"GET", "{foo}1"}), redirection("ASK", c, slot, 0));
  EXPECT_EQ(text_at(c, 2, {"GET", "{foo}2"}), "v");
  EXPECT_EQ(text_at(c, 0, {"ASKING"}), "OK");
  EXPECT_EQ(text_at(c, 0, {"GET", "{foo}1"}), "v");
  EXPECT_EQ(c.master_of_slot(slot), 2U);
  EXPECT_THROW(c.finish_move(slot, 2, 0), std::runtime_error);  // a key is left

  c.move_keys(c.keys_of_slot(slot, 2), 2, 0);
  c.finish_move(slot, 2, 0);
  EXPECT_EQ(text_at(c, 2, {"GET", "{foo}1"}), redirection("MOVED", c, slot, 0));
  c.wait_until_all_agree();
  EXPECT_EQ(c.master_of_slot(slot), 0U);
  c.wait_until_copied(0);
  EXPECT_EQ(text_at(c, c.replica_of(0), {"DBSIZE"}), "2");

  c.move_slot(slot, 0, 1);
  EXPECT_EQ(c.master_of_slot(slot), 1U);
  EXPECT_EQ(text_at(c, 1, {"GET", "{foo}2"}), "v");
}

TEST_F(redis_cluster_testkit, a_killed_master_is_replaced_by_its_replica_and_returns_as_a_replica) {
  cluster_servers c;
  const int slot = c.slot_of("foo");
  c.server(2).command({"SET", "foo", "v"});
  c.wait_until_copied(2);
  c.server(2).kill_hard();
  EXPECT_EQ(c.master_of_slot(slot), 2U);
  EXPECT_EQ(c.wait_until_failed_over(2), 5U);
  EXPECT_EQ(c.master_of_slot(slot), 5U);
  EXPECT_EQ(text_at(c, 5, {"GET", "foo"}), "v");
  EXPECT_NE(c.states().find("not running"), std::string::npos);

  c.server(2).start();
  c.wait_until_replica(2);
  EXPECT_EQ(c.replica_of(5), 2U);
  EXPECT_EQ(text_at(c, 2, {"GET", "foo"}), redirection("MOVED", c, slot, 5));
  EXPECT_EQ(text_at(c, 2, {"READONLY"}), "OK");
  EXPECT_EQ(text_at(c, 2, {"GET", "foo"}), "v");
  c.wait_until_all_agree();
}

TEST_F(redis_cluster_testkit, a_healthy_master_is_replaced_by_command) {
  cluster_servers c;
  c.fail_over(1);
  EXPECT_EQ(c.wait_until_failed_over(1), 4U);
  c.wait_until_replica(1);
  c.fail_over(4);
  EXPECT_EQ(c.wait_until_failed_over(4), 1U);
}

TEST_F(redis_cluster_testkit, a_stopped_master_that_was_replaced_agrees_when_it_continues) {
  cluster_servers c;
  c.server(0).stop();
  EXPECT_FALSE(c.server(0).is_running());
  EXPECT_EQ(c.wait_until_failed_over(0), 3U);
  c.server(0).go_on();
  c.wait_until_all_agree();
  c.wait_until_replica(0);
  EXPECT_EQ(c.master_of_slot(0), 3U);
}

TEST_F(redis_cluster_testkit, a_master_that_is_cut_off_refuses_and_is_replaced_until_it_is_back) {
  cluster_servers c({.can_be_cut = true});
  const std::size_t former = c.master_of_slot(c.slot_of("foo"));
  EXPECT_EQ(text_at(c, former, {"SET", "foo", "v"}), "OK");
  c.wait_until_copied(former);
  c.cut_off(former);
  EXPECT_TRUE(eventually([&] {
    return text_at(c, former, {"GET", "foo"}).find("CLUSTERDOWN") != std::string::npos;
  }));
  const std::size_t next = c.wait_until_failed_over(former);
  EXPECT_EQ(text_at(c, next, {"GET", "foo"}), "v");
  EXPECT_NE(text_at(c, former, {"GET", "foo"}).find("CLUSTERDOWN"), std::string::npos);
  c.reconnect(former);
  c.wait_until_replica(former);
}

TEST_F(redis_cluster_testkit, other_slots_are_served_without_a_shard_if_full_coverage_is_off) {
  for (const bool full_coverage : {true, false}) {
    cluster_servers c({.replicas = 0, .full_coverage = full_coverage});
    c.server(0).kill_hard();
    EXPECT_TRUE(eventually([&] {
      return text_at(c, 2, {"CLUSTER", "NODES"}).find(" master,fail ") != std::string::npos;
    }));
    const std::string answer = text_at(c, 2, {"SET", "foo", "v"});
    EXPECT_EQ(answer, full_coverage ? "(error) CLUSTERDOWN The cluster is down" : "OK");
  }
}

TEST_F(redis_cluster_testkit, passwords_are_required_of_clients_and_do_not_hinder_the_nodes) {
  cluster_servers c({.servers = {.password = "grown-up", .acl = "lock on >secret ~* +@all"}});
  redis_link client("127.0.0.1", c.server(2).port());
  EXPECT_EQ(client.command({"GET", "foo"}).text.substr(0, 6), "NOAUTH");
  EXPECT_EQ(client.command({"AUTH", "lock", "secret"}).text, "OK");
  EXPECT_EQ(client.command({"SET", "foo", "v"}).text, "OK");
  c.move_slot(c.slot_of("foo"), 2, 0);
  EXPECT_EQ(text_at(c, 0, {"GET", "foo"}), "v");
  c.server(0).kill_hard();
  EXPECT_EQ(c.wait_until_failed_over(0), 3U);
}

TEST_F(redis_cluster_testkit, nodes_that_speak_tls_move_slots_and_fail_over) {
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  cluster_servers c({.tls = true});
  EXPECT_TRUE(c.url("me:secret@").starts_with("rediss+cluster://me:secret@127.0.0.1:"));
  EXPECT_THROW(redis_link("127.0.0.1", c.server(0).port()).command({"PING"}), redis_silent);
  c.server(2).command({"SET", "foo", "v"});
  c.move_slot(c.slot_of("foo"), 2, 0);
  EXPECT_EQ(text_at(c, 0, {"GET", "foo"}), "v");
  c.server(0).kill_hard();
  EXPECT_EQ(c.wait_until_failed_over(0), 3U);
}

TEST_F(redis_cluster_testkit, the_nodes_die_with_their_object) {
  std::set<pid_t> pids;
  {
    cluster_servers c({.replicas = 0});
    for (std::size_t i = 0; i < c.server_count(); ++i) pids.insert(c.server(i).pid());
    EXPECT_EQ(pids.size(), 3U);
  }
  for (const pid_t pid : pids) EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace holdfast::redis_test
