#include "tests/sim/zookeeper/compared/two_ensembles.hpp"

#include <stdexcept>

#include "testkit/eventually.hpp"

namespace holdfast::sim::zk {

namespace {

constexpr int servers = testkit::zookeeper_ensemble::servers;
constexpr std::chrono::seconds serving_bound{120};
constexpr std::chrono::milliseconds ensemble_tick{1000};
constexpr std::int32_t timeout_min_ms = 2'000, timeout_max_ms = 60'000;

testkit::zookeeper_options real_options() {
  testkit::zookeeper_options out;
  out.tick = ensemble_tick;
  out.config = {"maxSessionTimeout=" + std::to_string(timeout_max_ms)};
  out.properties = {"znode.container.checkIntervalMs=86400000"};  // no container goes by itself
  return out;
}

ensemble_options model_options() {
  ensemble_options out;
  out.servers = servers;
  out.tick = ensemble_tick;
  out.container_check = std::chrono::hours(24);
  return out;
}

int at_place(int place, int leader) {
  if (place == 1) return leader;
  const int other = place - 1;
  return other < leader ? other : other + 1;
}

}  // namespace

two_ensembles::two_ensembles()
    : two_servers(model_options(), nullptr), real_(real_options()), real_leader_(real_.leader()) {
  for (int id = 1; id <= servers; ++id) model_.bound_timeouts(id, timeout_min_ms, timeout_max_ms);
}

int two_ensembles::real_port(int place) const {
  return const_cast<testkit::zookeeper_ensemble&>(real_).at(at_place(place, real_leader_)).port();
}

int two_ensembles::model_server(int place) const { return at_place(place, model_.leader()); }

void two_ensembles::change_leaders() {
  const int before = real_leader_;
  real_.at(before).kill_hard();
  real_leader_ = real_.leader();
  real_.at(before).start();
  for (int id = 1; id <= servers; ++id)
    if (!testkit::eventually([&] { return !real_.at(id).mode().empty(); }, serving_bound))
      throw std::runtime_error("a server does not come back: " + real_.at(id).log());
  const int killed = model_.leader();
  model_.kill(killed);
  while (model_.leader() == 0) host_.pass(ensemble_tick);
  model_.start(killed);
  host_.pass(ensemble_tick * 4);
}

}  // namespace holdfast::sim::zk
