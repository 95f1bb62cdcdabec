// The model of an ensemble and three real servers, given the same requests.
#pragma once
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "tests/sim/zookeeper/compared/two_servers.hpp"

namespace holdfast::sim::zk {

// Place 1 is the leader of each, 2 and 3 follow it.
class two_ensembles final : public two_servers {
 public:
  two_ensembles();

  // Both leaders are killed, and started again once others lead. All connections end.
  void change_leaders();

 private:
  int real_port(int place) const override;
  int model_server(int place) const override;
  void settle() override { host_.pass(std::chrono::milliseconds(20)); }

  testkit::zookeeper_ensemble real_;
  int real_leader_ = 0;
};

}  // namespace holdfast::sim::zk
