// A Redis Cluster is divided: a master no longer reaches the other nodes, and clients reach all.
#include "cluster_fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_cluster_partition : public on_cluster {};

TEST_F(redis_cluster_partition, contenders_exclude_each_other_while_each_master_is_cut_off) {
  cluster_servers servers({.can_be_cut = true});
  const auto url = servers.url() + quick + "&ttl=20s";
  contenders all({url, url}, {});
  for (std::size_t master = 0; master < 3; ++master) {
    all.wait_for_plays(30);
    servers.cut_off(master);
    servers.wait_until_failed_over(master);
    all.wait_for_plays(30);
    servers.reconnect(master);
    servers.wait_until_replica(master);
  }
}

}  // namespace
}  // namespace holdfast::redis_test
