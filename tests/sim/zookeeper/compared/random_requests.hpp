// Requests drawn from a seed, for comparing the model of ZooKeeper with a real server.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/zookeeper/model/operation.hpp"

namespace holdfast::sim::zk {

// Mostly sound requests on few paths; the rest has wrong paths, versions, kinds, lists and lengths.
// None closes the connection.
class random_requests {
 public:
  explicit random_requests(std::uint64_t seed) : numbers_(seed) {}

  std::vector<request> batch(std::int64_t last_zxid);  // of 1 to 8; their numbers are left open
  int below(int n) { return static_cast<int>(numbers_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::string path();
  std::int32_t version();
  request one(std::int64_t last_zxid);
  request creation();
  request group();
  request watches(std::int64_t last_zxid);
  std::string creation_body(std::int32_t flags);
  std::string removal_body();
  std::string setting_body(bool has_data);

  std::mt19937_64 numbers_;
};

}  // namespace holdfast::sim::zk
