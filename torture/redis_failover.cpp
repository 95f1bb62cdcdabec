// Redis servers that replace each other: Sentinel and Cluster.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/sentinel_servers.hpp"
#include "torture/cluster_outages.hpp"
#include "torture/deployment.hpp"
#include "torture/redis_faults.hpp"
#include "torture/redis_refusals.hpp"
#include "torture/sentinel_partition.hpp"
#include "torture/slot_moves.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::cluster_servers;
using testkit::redis_server;
using testkit::sentinel_servers;

namespace {

const std::string failover_terms = "&retry-base=10ms&probe=500ms";

// Until the former master is demoted, and the clients there have noticed.
constexpr std::chrono::milliseconds failover_excuse = 5s;

// Announced addresses, and the links through which a client reaches them.
std::string mapped(const std::vector<redis_server*>& servers,
                   const std::deque<testkit::tcp_proxy>& links) {
  std::string text = "&map=";
  for (std::size_t i = 0; i < servers.size(); ++i)
    text += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(servers[i]->port()) +
            "=127.0.0.1:" + std::to_string(links[i].port());
  return text;
}

// Longer than this busy machine leaves a server without a processor.
constexpr std::chrono::milliseconds down_after = 1s;

void rest(dice& d) { std::this_thread::sleep_for(d.between(20ms, 1s)); }

class sentinel final : public deployment {
 public:
  // `excuse`: how long after a failover two may hold. With replicas=majority too after one of a
  // master that runs, goes on soon or restarts soon: until the sentinels have moved the other
  // replica, it confirms the replies of the former master.
  sentinel(std::string options, std::chrono::milliseconds excuse)
      : options_(failover_terms + std::move(options)), excuse_(excuse) {
    for (redis_server* each : servers()) links_.emplace_back(each->port());
    mapping_ = mapped(servers(), links_);
  }

  std::string url() const override { return all_.url() + common_options() + options_; }
  std::string url_through_links() const override { return url() + mapping_; }

  std::vector<fault> server_faults() override {
    const auto master = [this](dice&) -> redis_server& { return all_.master(); };
    const auto replica = [this](dice& d) -> redis_server& { return a_replica(d); };
    std::vector<fault> all = redis_commands(master, down_after / 2);
    std::ranges::move(redis_refusals(master, down_after / 2), std::back_inserter(all));
    all.push_back(redis_idle_limit(master));
    fault killed = redis_kill(replica), stopped = redis_stop(replica);
    killed.name = "replica.kill";
    stopped.name = "replica.stop";
    all.push_back(killed);
    all.push_back(stopped);
    all.push_back({"master.kill",
                   [this](dice& d) {
                     redis_server& former = all_.master();
                     former.kill_hard();
                     all_.wait_until_promoted();
                     rest(d);
                     former.start();
                   },
                   failover_excuse});
    all.push_back({"master.emptied",
                   [this](dice& d) {
                     redis_server& former = all_.master();
                     former.kill_hard();
                     all_.wait_until_promoted();
                     rest(d);
                     former.restart(false);
                   },
                   failover_excuse});
    all.push_back({"master.cut-off", [this](dice& d) { cut_off_the_master(all_, d); }, excuse_});
    all.push_back({"master.stop",
                   [this](dice& d) {
                     redis_server& former = all_.master();
                     former.stop();
                     all_.wait_until_promoted();
                     rest(d);
                     former.go_on();
                   },
                   failover_excuse});
    all.push_back({"failover",
                   [this](dice&) {
                     all_.fail_over();
                     all_.wait_until_promoted();
                   },
                   failover_excuse});
    all.push_back({"sentinel.kill", [this](dice& d) {
                     testkit::redis_sentinel& one = all_.sentinel(d.below(all_.sentinel_count()));
                     one.kill();
                     rest(d);
                     one.start();
                   }});
    all.push_back({"sentinel.stop", [this](dice& d) {
                     testkit::redis_sentinel& one = all_.sentinel(d.below(all_.sentinel_count()));
                     one.stop();
                     rest(d);
                     one.go_on();
                   }});
    return all;
  }

  // The sentinels may have replaced a master that only was slow.
  void wait_until_healthy() override { all_.wait_until_settled(); }

  std::vector<std::string> left_behind() override { return left_in_redis(all_.master()); }

 private:
  std::vector<redis_server*> servers() {
    std::vector<redis_server*> found;
    for (std::size_t i = 0; i < sentinel_servers::servers; ++i) found.push_back(&all_.server(i));
    return found;
  }
  redis_server& a_replica(dice& d) {
    for (;;) {
      redis_server& one = all_.server(d.below(sentinel_servers::servers));
      if (&one != &all_.master()) return one;
    }
  }

  const std::string options_;
  const std::chrono::milliseconds excuse_;
  sentinel_servers all_{{.down_after = down_after, .servers = {.durable = true}}};
  std::string mapping_;
};

class cluster final : public deployment {
 public:
  cluster() {
    for (redis_server* each : servers()) links_.emplace_back(each->port());
    mapping_ = mapped(servers(), links_);
  }

  std::string url() const override { return all_.url() + common_options() + terms; }
  std::string url_through_links() const override { return url() + mapping_; }

  std::vector<fault> server_faults() override {
    const auto master = [this](dice& d) -> redis_server& { return all_.server(a_master(d)); };
    std::vector<fault> all = redis_commands(master, 1s);
    std::ranges::move(redis_refusals(master, 1s), std::back_inserter(all));
    all.push_back(redis_idle_limit(master));
    all.push_back({"master.kill", [this](dice& d) {
                     const auto former = a_master(d);
                     all_.server(former).kill_hard();
                     all_.wait_until_failed_over(former);
                     rest(d);
                     all_.server(former).start();
                     all_.wait_until_replica(former);
                   }});
    all.push_back({"master.emptied", [this](dice& d) {
                     const auto former = a_master(d);
                     all_.server(former).kill_hard();
                     all_.wait_until_failed_over(former);
                     rest(d);
                     all_.server(former).restart(false);
                     all_.wait_until_replica(former);
                   }});
    all.push_back({"master.stop", [this](dice& d) {
                     const auto former = a_master(d);
                     all_.server(former).stop();
                     all_.wait_until_failed_over(former);
                     rest(d);
                     all_.server(former).go_on();
                     all_.wait_until_replica(former);
                   }});
    all.push_back({"failover", [this](dice& d) {
                     const auto former = a_master(d);
                     all_.fail_over(former);
                     all_.wait_until_replica(former);
                   }});
    all.push_back({"replica.kill", [this](dice& d) {
                     const auto one = all_.replica_of(a_master(d));
                     all_.server(one).kill_hard();
                     rest(d);
                     all_.server(one).start();
                     all_.wait_until_replica(one);
                   }});
    all.push_back({"replica.stop", [this](dice& d) {
                     const auto one = all_.replica_of(a_master(d));
                     all_.server(one).stop();
                     rest(d);
                     all_.server(one).go_on();
                     all_.wait_until_replica(one);
                   }});
    std::ranges::move(slot_moves(all_, [this](dice& d) { return a_slot(d); }),
                      std::back_inserter(all));
    std::ranges::move(cluster_outages(all_, [this](dice& d) { return a_master(d); }),
                      std::back_inserter(all));
    return all;
  }

  // Without a replica in sync, the next fault could lose what was confirmed before.
  void wait_until_healthy() override {
    all_.wait_until_all_agree();
    for (int slot = 0; slot < testkit::cluster_slots; slot += testkit::cluster_slots / shard_count)
      all_.wait_until_copied(all_.master_of_slot(slot));
  }

  std::vector<std::string> left_behind() override {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < all_.server_count(); ++i)
      if (all_.server(i).info("role") == "master")
        for (auto& line : left_in_redis(all_.server(i))) lines.push_back(std::move(line));
    return lines;
  }

 private:
  static constexpr int shard_count = 3;
  inline static const std::string terms = failover_terms + "&replicas=1";

  std::vector<redis_server*> servers() {
    std::vector<redis_server*> found;
    for (std::size_t i = 0; i < all_.server_count(); ++i) found.push_back(&all_.server(i));
    return found;
  }
  // That of one of the locks.
  int a_slot(dice& d) {
    return all_.slot_of(d.one_in(2) ? names.mutex(d.below(mutex_count))
                                    : names.shared(d.below(shared_count)));
  }
  std::size_t a_master(dice& d) { return all_.master_of_slot(a_slot(d)); }

  cluster_servers all_{{.masters = shard_count, .can_be_cut = true, .servers = {.durable = true}}};
  std::string mapping_;
};

}  // namespace

std::unique_ptr<deployment> open_sentinel() {
  return std::make_unique<sentinel>("&replicas=majority", 0ms);
}

std::unique_ptr<deployment> open_sentinel_async() {
  return std::make_unique<sentinel>("", failover_excuse);
}

std::unique_ptr<deployment> open_cluster() { return std::make_unique<cluster>(); }

}  // namespace holdfast::torture
