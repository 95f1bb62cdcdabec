#include "torture/cluster_outages.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::cluster_servers;

namespace {

// The node takes the slot back from the next message of its owner.
void forget_a_slot(cluster_servers& all, std::size_t node, dice& d) {
  int slot = 0;
  do {
    slot = static_cast<int>(d.below(testkit::cluster_slots));
  } while (all.master_of_slot(slot) == node);
  const auto until = std::chrono::steady_clock::now() + d.between(50ms, 2s);
  while (std::chrono::steady_clock::now() < until) {
    all.server(node).command({"CLUSTER", "DELSLOTS", std::to_string(slot)});
    std::this_thread::sleep_for(10ms);
  }
}

// The replica ends first, and starts last: it does not detect that its master has failed, which it
// would replace.
void kill_a_shard(cluster_servers& all, std::size_t master, dice& d) {
  const std::size_t replica = all.replica_of(master);
  all.server(replica).kill_hard();
  all.server(master).kill_hard();
  std::this_thread::sleep_for(d.between(50ms, 4s));
  all.server(master).start();
  all.wait_until_all_agree();
  all.server(replica).start();
  all.wait_until_replica(replica);
}

class partition {
 public:
  partition(cluster_servers& all, std::size_t node) : all_(all), node_(node) {
    all_.cut_off(node_);
  }
  ~partition() { all_.reconnect(node_); }
  partition(const partition&) = delete;
  partition& operator=(const partition&) = delete;

 private:
  cluster_servers& all_;
  const std::size_t node_;
};

void cut_off_a_master(cluster_servers& all, std::size_t master, dice& d) {
  {
    const partition from_the_others(all, master);
    all.wait_until_failed_over(master);
    std::this_thread::sleep_for(d.between(20ms, 1s));
  }
  all.wait_until_replica(master);
}

}  // namespace

std::vector<fault> cluster_outages(cluster_servers& all,
                                   const std::function<std::size_t(dice&)>& a_master) {
  return {
      {"slot.forgotten",
       [&all, a_master](dice& d) {
         const auto node = a_master(d);
         forget_a_slot(all, node, d);
       }},
      {"shard.kill",
       [&all, a_master](dice& d) {
         const auto master = a_master(d);
         kill_a_shard(all, master, d);
       }},
      {"master.cut-off",
       [&all, a_master](dice& d) {
         const auto master = a_master(d);
         cut_off_a_master(all, master, d);
       }},
  };
}

}  // namespace holdfast::torture
