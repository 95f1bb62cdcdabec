// Opening a Redis Cluster: URLs, addresses and passwords, some of which are wrong.
#include <gmock/gmock.h>

#include "cluster_fixture.hpp"

namespace holdfast::redis_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class redis_cluster_opening : public on_cluster {
 protected:
  static std::string text_of_port(const redis_server& s) {
    return "127.0.0.1:" + std::to_string(s.port());
  }
  static told opened(const std::string& url) {
    return told_by([&] { (void)client::open(url); });
  }
  // Opens and takes a lock: an error of either will do.
  static told locked(const std::string& url, const std::string& name) {
    return told_by([&] {
      const auto c = client::open(url);
      EXPECT_TRUE(c.mutex(name).try_acquire());
    });
  }
  // From now on all nodes report this address of the server to their clients. They reach each other
  // as before, or do not need to for ten minutes.
  static void announce(cluster_servers& c, std::size_t i, const std::string& setting,
                       const std::string& value) {
    for (std::size_t each = 0; each < c.server_count(); ++each)
      c.server(each).command({"CONFIG", "SET", "cluster-node-timeout", "600000"});
    c.server(i).command({"CONFIG", "SET", setting, value});
    EXPECT_TRUE(eventually([&] {
      for (std::size_t each = 0; each < c.server_count(); ++each) {
        // 192.0.2.1:6379@16379, 127.0.0.1:1@16379
        const std::string nodes = c.server(each).command({"CLUSTER", "NODES"}).text;
        const auto line = nodes.find(c.id(i) + ' ');
        const std::string address = nodes.substr(line + c.id(i).size() + 1, 30);
        if (!address.starts_with(value + ':') && address.find(':' + value + '@') == address.npos)
          return false;
      }
      return true;
    })) << c.states();
  }
};

TEST_F(redis_cluster_opening, needs_no_more_than_one_node_as_a_seed) {
  cluster_servers c;
  const auto names = names_at_each(c);
  for (std::size_t i = 0; i < c.server_count(); ++i) {
    const std::string port = std::to_string(c.server(i).port());
    for (const std::string& seeds : {"127.0.0.1:" + port, "127.0.0.1:1,127.0.0.1:" + port}) {
      const auto one = client::open("redis+cluster://" + seeds + "?op-timeout=20s");
      for (const std::string& name : names) EXPECT_TRUE(one.mutex(name).try_acquire_for(in_bounds));
    }
  }
}

TEST_F(redis_cluster_opening, leaves_out_a_seed_that_does_not_answer) {
  cluster_servers c({.replicas = 0, .full_coverage = false});
  redis_server silent;
  silent.stop();
  std::string url = c.url();
  url.insert(url.find("127"), "127.0.0.1:" + std::to_string(silent.port()) + ',');
  const auto mine = client::open(url + "?op-timeout=20s&connect-timeout=1s");
  for (const std::string& name : names_at_each(c)) token_of_next(mine, name);
  silent.go_on();
}

TEST_F(redis_cluster_opening, fails_when_no_seed_answers_and_names_them) {
  redis_server one, two;
  one.kill_hard();
  two.kill_hard();
  const told t =
      opened("redis+cluster://" + text_of_port(one) + ',' + text_of_port(two) + "?op-timeout=3s");
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr(text_of_port(one)));
  EXPECT_THAT(t.text, HasSubstr(text_of_port(two)));
}

TEST_F(redis_cluster_opening, fails_after_the_op_timeout_when_all_seeds_are_stopped) {
  redis_server one({.cluster = true});
  one.stop();
  const told t = opened("redis+cluster://" + text_of_port(one) + "?op-timeout=1s");
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr(text_of_port(one)));
}

TEST_F(redis_cluster_opening, fails_after_the_op_timeout_when_most_masters_are_dead) {
  cluster_servers c(masters_only);
  for (const std::size_t i : {1, 2}) c.server(i).kill_hard();
  const told t = opened(c.url() + "?op-timeout=3s&connect-timeout=1s");
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text,
              AnyOf(HasSubstr(text_of_port(c.server(1))), HasSubstr(text_of_port(c.server(2)))));
}

TEST_F(redis_cluster_opening, names_the_master_that_requires_another_password) {
  cluster_servers c(masters_only);
  c.server(1).command({"CONFIG", "SET", "requirepass", "another"});
  const told t = opened("redis+cluster://" + text_of_port(c.server(0)) + "?op-timeout=20s");
  EXPECT_EQ(t.code, errc::refused) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr(text_of_port(c.server(1))));
}

TEST_F(redis_cluster_opening, names_a_server_that_is_no_node_of_a_cluster) {
  redis_server server;
  const told t = opened("redis+cluster://" + text_of_port(server) + "?op-timeout=20s");
  EXPECT_EQ(t.code, errc::bad_url) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("cluster"));
  EXPECT_THAT(t.text, HasSubstr(text_of_port(server)));
}

TEST_F(redis_cluster_opening, names_a_slot_that_no_master_serves) {
  for (const bool full_coverage : {true, false}) {
    cluster_servers c({.replicas = 0, .full_coverage = full_coverage});
    const std::string slot = std::to_string(c.slot_of("x"));
    EXPECT_TRUE(eventually([&] {  // the owner's gossip may bring it back once
      bool is_served = false;
      for (std::size_t i = 0; i < c.server_count(); ++i) {
        if (!c.server(i).command({"GET", "x"}).text.starts_with("CLUSTERDOWN")) is_served = true;
        c.server(i).command({"CLUSTER", "DELSLOTS", slot});
      }
      return !is_served;
    }));
    const told t = locked(c.url() + "?op-timeout=3s", "x");
    EXPECT_EQ(t.code, errc::unavailable) << t.text;
    EXPECT_LT(t.took, in_bounds);
    EXPECT_THAT(t.text, HasSubstr(slot));
  }
}

TEST_F(redis_cluster_opening, of_a_node_that_has_joined_no_cluster_fails) {
  redis_server lonely({.cluster = true});
  const told t = locked("redis+cluster://" + text_of_port(lonely) + "?op-timeout=3s", "x");
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("slot"));
}

TEST_F(redis_cluster_opening, names_an_announced_address_that_cannot_be_reached) {
  for (const auto& [setting, value] :
       {std::pair<std::string, std::string>{"cluster-announce-ip", "192.0.2.1"},
        {"cluster-announce-port", "1"}}) {
    // An older node goes on reporting the port that it listens on as its own.
    if (setting == "cluster-announce-port" && !testkit::tested_redis().is_at_least(7, 0)) continue;
    cluster_servers c(masters_only);
    const std::string port = std::to_string(c.server(1).port());
    const std::string name = name_at(c, 1);
    announce(c, 1, setting, value);
    const std::string announced = value == "1" ? "127.0.0.1:1" : joined({value, ":", port});
    const told t = locked(c.url() + "?op-timeout=3s&connect-timeout=1s", name);
    EXPECT_EQ(t.code, errc::unavailable) << t.text;
    EXPECT_LT(t.took, in_bounds);
    EXPECT_THAT(t.text, HasSubstr(announced));
    EXPECT_THAT(t.text, HasSubstr("map="));

    const auto mine = open(c, joined({"map=", announced, "=127.0.0.1:", port}));
    auto held = mine.mutex(name).acquire();
    EXPECT_TRUE(is_kept(c.server(1), name));
    auto next = next_lease(mine, name);
    held.unlock();
    EXPECT_TRUE(next.get());
  }
}

TEST_F(redis_cluster_opening, takes_the_user_and_the_password_of_the_url) {
  cluster_servers c(
      {.replicas = 0, .servers = {.password = "grown-up", .acl = "lock on >secret ~* &* +@all"}});
  for (const char* user : {":grown-up@", "lock:secret@"})
    for (const std::string& name : names_at_each(c))
      EXPECT_EQ(locked(c.url(user) + "?op-timeout=20s", name).text, "");
  for (const char* user : {"", ":wrong-one@", "lock:wrong-one@"}) {
    const told t = opened(c.url(user) + "?op-timeout=20s");
    EXPECT_EQ(t.code, errc::refused) << t.text;
    EXPECT_LT(t.took, in_bounds);
    EXPECT_THAT(t.text, Not(HasSubstr("wrong-one")));
  }
}

TEST_F(redis_cluster_opening, refuses_a_database_other_than_0_and_urls_that_are_malformed) {
  cluster_servers c(masters_only);
  for (const std::string rest : {"/1", "?db=1", "?map=127.0.0.1:1", "?map=a=b"}) {
    const told t = opened(c.url() + rest);
    EXPECT_THAT(t.code, AnyOf(errc::bad_url, errc::bad_option)) << rest << ": " << t.text;
  }
  EXPECT_EQ(opened("redis+cluster://").code, errc::bad_url);
}

TEST_F(redis_cluster_opening, is_recommended_where_a_node_is_used_as_a_single_server) {
  cluster_servers c(masters_only);
  const told t = locked(c.server(0).url() + "?op-timeout=3s", name_at(c, 1));
  EXPECT_TRUE(t.code) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("redis+cluster:"));
}

// A master that has the slot of the record votes, and the others do not.
TEST_F(redis_cluster_opening, is_recommended_where_nodes_are_named_as_masters_of_a_redlock) {
  cluster_servers c(masters_only);
  std::string url = c.url();
  url.replace(0, url.find(':'), "redlock");
  const told t = opened(url + "?op-timeout=20s");
  EXPECT_EQ(t.code, errc::no_quorum) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("redis+cluster:"));
}

}  // namespace
}  // namespace holdfast::redis_test
