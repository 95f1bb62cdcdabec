// The operations of the protocol, and the transactions that servers agree on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backend/zookeeper/transport/replies.hpp"

namespace holdfast::sim::zk {

using zookeeper::error;
using zookeeper::node_stat;

enum class op : std::int32_t {
  none = 0,
  create = 1,
  remove = 2,
  exists = 3,
  get_data = 4,
  set_data = 5,
  get_children = 8,
  sync = 9,
  ping = 11,
  get_children2 = 12,
  check = 13,
  multi = 14,
  create2 = 15,
  remove_watches = 18,
  create_container = 19,
  delete_container = 20,
  auth = 100,
  set_watches = 101,
  create_session = -10,
  close_session = -11,
};

constexpr bool is_write(op o) noexcept {
  return o == op::create || o == op::create2 || o == op::create_container || o == op::remove ||
         o == op::set_data || o == op::multi || o == op::create_session || o == op::close_session ||
         o == op::delete_container;
}

// The reserved numbers of replies that answer no numbered request.
inline constexpr std::int32_t event_xid = -1, ping_xid = -2, auth_xid = -4, set_watches_xid = -8;

namespace right {
inline constexpr std::int32_t read = 1, write = 2, create = 4, remove = 8;
}

struct identity {
  std::string scheme, id;
  bool operator==(const identity&) const = default;
};

struct access {  // an entry of a node's list
  std::int32_t rights = 0;
  identity whose;
};

struct request {
  std::int32_t xid = 0;
  op type{};
  std::string body;
};

// Where a request came in; server 0: the ensemble's own.
struct origin {
  int server = 0;
  int connection = 0;
  std::uint64_t boot = 0;  // of that server; one that has been started anew knows nothing of it
};

// The transaction that the leader makes of a write. Each server applies it in the order of the
// zxids.
struct transaction {
  std::int64_t zxid = 0, time_ms = 0;
  op type{};
  error code = error::ok;  // else it changes nothing
  std::string path, data;
  std::vector<access> acl;
  std::int64_t session = 0;        // that asked for it
  bool is_ephemeral = false;       // and owns the node
  std::int32_t version = 0;        // of the data from then on
  std::int32_t cversion = 0;       // of the parent: how many children were ever created
  std::int32_t timeout_ms = 0;     // of a new session
  std::vector<transaction> parts;  // of a multi
  origin from;
};

struct outcome {  // of a transaction
  op type{};
  error code = error::ok;
  std::string path;
  node_stat stat;
  std::vector<outcome> parts;
};

}  // namespace holdfast::sim::zk
