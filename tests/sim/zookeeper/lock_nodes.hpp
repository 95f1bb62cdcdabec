// The holders of a lock and its waiters, by the nodes of a tree: one function for each kind of
// layout. They share nothing with the codecs of the library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/zookeeper/model/tree.hpp"

namespace holdfast::sim {

// How an id begins that a client has drawn: no two attempts have the same.
inline constexpr std::size_t own_part = 32;

struct contender {
  std::string id;    // how its nodes' names begin, or what it wrote
  std::string path;  // of its last node
  std::int64_t number = 0;
  int permits = 1;
  bool reads = false;
};

struct lock_nodes {
  std::vector<contender> holders, waiters;  // each in their order
};

// `total`: of permits.
using node_reader = lock_nodes (*)(const zk::tree&, const std::string& lock, int total);

lock_nodes read_sequential(const zk::tree&, const std::string& lock, int total);
lock_nodes read_semaphore(const zk::tree&, const std::string& lock, int total);
lock_nodes read_single(const zk::tree&, const std::string& lock, int total);

}  // namespace holdfast::sim
