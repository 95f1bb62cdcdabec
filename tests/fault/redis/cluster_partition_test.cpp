// A Redis Cluster is divided: a master and some clients no longer reach the other nodes.
#include <deque>
#include <optional>

#include "cluster_fixture.hpp"

namespace holdfast::redis_test {
namespace {

using testkit::flow;
using testkit::proxied_connection;

class redis_cluster_partition : public on_cluster {
 protected:
  void SetUp() override {
    on_cluster::SetUp();
    if (IsSkipped()) return;
    c_.emplace(cluster_options{.can_be_cut = true});
    former_ = master_of(*c_, "x");
    for (std::size_t i = 0; i < c_->server_count(); ++i) links_.emplace_back(c_->server(i).port());
  }
  client open() { return on_cluster::open(*c_); }
  // A client that reaches no node but the master of x while the cluster is divided.
  client open_beside_the_master(const std::string& ttl) {
    std::string map;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (i == former_) continue;
      map += joined({map.empty() ? "" : ",", address_of(c_->server(i).port()), "=",
                     address_of(links_[i].port())});
    }
    return client::open(
        joined({"redis+cluster://", address_of(master().port()),
                "?op-timeout=5s&connect-timeout=1s&retry-base=2ms&ttl=", ttl, "&map=", map}));
  }
  redis_server& master() { return c_->server(former_); }

  // The links go on listening: another socket could be given a port that is closed for a time.
  void divide() {
    c_->cut_off(former_);
    flow cut;
    cut.admits = [](std::string_view, const proxied_connection&) { return false; };
    for (tcp_proxy& link : links_) {
      link.set(direction::to_server, cut);
      link.reset_all();
    }
  }
  // Returns when the former master is a replica, and all nodes serve and agree on each slot.
  void unite() {
    for (tcp_proxy& link : links_) link.set(direction::to_server, flow());
    c_->reconnect(former_);
    c_->wait_until_replica(former_);
    c_->wait_until_all_agree();
  }
  // After cluster-node-timeout.
  bool eventually_refuses() {
    return eventually([&] {
      return master().command({"GET", "{x}.probe"}).text.starts_with("CLUSTERDOWN");
    });
  }

  std::optional<cluster_servers> c_;
  std::size_t former_ = 0;
  std::deque<tcp_proxy> links_;

 private:
  static std::string address_of(int port) { return "127.0.0.1:" + std::to_string(port); }
};

// The holder's last renewal is at the replica that is promoted.
TEST_F(redis_cluster_partition, a_lease_on_the_smaller_side_ends_before_the_next_one_begins) {
  const auto mine = open_beside_the_master("10s"), rival = open_beside_the_master("10s");
  const auto other = open();
  lease held = mine.mutex("x").acquire();
  token_of_next(rival, "{x}.2");
  c_->wait_until_copied(former_);
  auto next = std::async(std::launch::async, [&held, m = other.mutex("x")] {
    lease got = m.try_acquire_for(2min);
    EXPECT_FALSE(held.held());
    return got;
  });
  divide();
  ASSERT_TRUE(eventually_refuses());
  const auto deadline = held.expires();
  do {
    const told t = told_by([&] { (void)rival.mutex("{x}.2").try_acquire(); });
    EXPECT_EQ(t.code, errc::unavailable) << t.text;
  } while (held.held());
  EXPECT_GE(lease_clock::now(), deadline);
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  const std::size_t promoted = c_->wait_until_failed_over(former_);
  lease got = next.get();
  ASSERT_TRUE(got);
  EXPECT_GT(got.token(), held.token());
  held = {};  // a lost lease keeps its turn in its process
  EXPECT_TRUE(is_kept(c_->server(promoted)));
  unite();
  expect_held(got);
  const auto token = got.token();
  got.release();
  const auto of_rival = token_of_next(rival);
  EXPECT_GT(of_rival, token);
  EXPECT_GT(token_of_next(mine), of_rival);
}

TEST_F(redis_cluster_partition, a_waiter_on_the_smaller_side_is_served_after_it_has_ended) {
  const auto mine = open(), beside = open_beside_the_master("10m");
  auto held = mine.mutex("x").acquire();
  waiting_thread waiter(beside);
  EXPECT_TRUE(eventually_queued(master(), 1));
  c_->wait_until_copied(former_);
  divide();
  const std::size_t promoted = c_->wait_until_failed_over(former_);
  expect_renewable_at(c_->server(promoted), held, 20min);
  EXPECT_FALSE(waiter.is_served());
  unite();
  const auto token = held.token();
  held.unlock();
  EXPECT_GT(waiter.served().token(), token);
}

// The clients reach all nodes.
TEST_F(redis_cluster_partition, contenders_exclude_each_other_while_each_master_is_cut_off) {
  const auto url = c_->url() + quick + "&ttl=20s";
  contenders all({url, url}, {});
  for (std::size_t master = 0; master < 3; ++master) {
    all.wait_for_plays(30);
    c_->cut_off(master);
    c_->wait_until_failed_over(master);
    all.wait_for_plays(30);
    c_->reconnect(master);
    c_->wait_until_replica(master);
  }
}

}  // namespace
}  // namespace holdfast::redis_test
