// A server's reports of replication, and the effect of its writes at a replica.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/redis/model/keyspace.hpp"

namespace holdfast::sim {

using all_databases = std::array<keyspace, 16>;

struct effects {                                              // of one request
  std::vector<std::pair<std::string, std::string>> messages;  // channel and text
  std::shared_ptr<const all_databases> data;                  // after it; null: it wrote nothing
  std::int64_t number = 0;                                    // server::sent after it
};

struct server_address {
  std::string ip = "127.0.0.1";
  int port = 6379;
};

inline const std::string no_replication_id(40, '0');

// The fields of INFO replication. Offsets count requests with effects, not bytes.
struct replication {
  std::string id, second_id = no_replication_id;  // master_replid, master_replid2
  std::int64_t offset = 0, second_offset = -1;
  bool has_backlog = false;  // since its first replica came, or since it was one
  bool is_linked = false;    // of a replica: to its master
  bool is_failing_over = false;
  server_address master{"127.0.0.1", 1};  // of a replica
  std::vector<server_address> replicas;   // of a master
  std::chrono::microseconds heard_at{};   // by a master, from a replica to which the link is cut

  // The id before becomes the second one.
  void begin_reign(std::string new_id);
  void change_id(std::string new_id);  // the history before is forgotten
  // Has the history of `master` up to its own offset, so that a partial resync is possible.
  bool is_prefix_of(const replication& master) const noexcept;
  void continue_as_replica_of(const replication& master);
  void copy_history_of(const replication& master);
  std::string text(bool is_replica, std::chrono::microseconds now) const;  // as INFO has it
};

}  // namespace holdfast::sim
