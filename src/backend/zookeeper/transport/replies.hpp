// The replies of a ZooKeeper server. Pure: bytes to values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::zookeeper {

// The mode that a server reports to a four-letter command.
enum class server_mode : unsigned char {
  unknown,  // it does not say: an election, a limit of connections, the word is not allowed
  standalone,
  leader,
  follower,
  observer,
  read_only,
};

inline constexpr std::string_view mode_question = "srvr";
inline constexpr std::size_t mode_answer_max = 16'384;

// Reads the whole answer to mode_question.
server_mode read_mode(std::string_view answer) noexcept;

// It executes requests, and touches sessions, by itself.
constexpr bool leads(server_mode m) noexcept {
  return m == server_mode::leader || m == server_mode::standalone;
}

enum class error : std::int32_t {
  ok = 0,
  runtime_inconsistency = -2,  // of a multi: an operation behind the one that failed
  marshalling = -5,
  unimplemented = -6,
  bad_arguments = -8,
  no_node = -101,
  no_auth = -102,
  bad_version = -103,
  no_children_for_ephemerals = -108,
  node_exists = -110,
  not_empty = -111,
  session_expired = -112,
  invalid_acl = -114,
  auth_failed = -115,
  session_moved = -118,
  not_read_write = -119,
  no_watcher = -121,
  quota_exceeded = -125,
  throttled = -127,  // not executed
};

struct node_stat {
  std::int64_t czxid = 0, mzxid = 0, ctime_ms = 0, mtime_ms = 0;
  std::int32_t version = 0, cversion = 0, aversion = 0;
  std::int64_t ephemeral_owner = 0;
  std::int32_t data_length = 0, children = 0;
  std::int64_t pzxid = 0;
};

struct connect_response {
  std::int32_t timeout_ms = 0;
  std::int64_t session_id = 0;
  std::string_view password;
  bool is_read_only = false;
  // The session that was to be attached is expired, unknown, or has another password.
  bool is_expired() const noexcept { return timeout_ms <= 0 || session_id == 0; }
};

// Empty: this is none. A read-only server answers the header of a reply in its place.
std::optional<connect_response> read_connect_response(std::span<const std::byte> frame) noexcept;

struct reply_header {
  std::int32_t xid = 0;
  std::int64_t zxid = 0;
  error code{};
};

// A frame of an attached connection: a header, and its body.
struct reply {
  reply_header head;
  std::span<const std::byte> body;

  bool is(error e) const noexcept { return head.code == e; }
  bool is_ok() const noexcept { return is(error::ok); }
};

std::optional<reply> read_reply(std::span<const std::byte> frame) noexcept;

enum class event_kind : std::int32_t { created = 1, deleted = 2, data = 3, children = 4 };

struct watch_event {
  event_kind kind{};
  std::string_view path;
};

// Each reads the body of a successful reply. Empty: it is not what the request is answered with.
std::optional<watch_event> read_watch_event(std::span<const std::byte> body) noexcept;
std::optional<node_stat> read_stat(std::span<const std::byte> body) noexcept;

struct created_node {  // create2 and create_container
  std::string_view path;
  node_stat stat;
};
std::optional<created_node> read_created(std::span<const std::byte> body) noexcept;

struct node_data {
  std::string_view data;
  node_stat stat;
};
std::optional<node_data> read_data(std::span<const std::byte> body) noexcept;

struct node_children {
  std::vector<std::string_view> names;  // in no order
  node_stat stat;
};
std::optional<node_children> read_children(std::span<const std::byte> body);

// The reply to a multi. The header has `ok` even if an operation failed; only this shows it.
struct multi_result {
  // ok: all were executed. Else none was, and this is the error of the first that could not be.
  error code = error::ok;
  std::size_t failed_at = 0;              // its place among the operations
  std::vector<std::string_view> created;  // the paths, in order
  node_stat set;                          // of the node whose data were set last
};
std::optional<multi_result> read_multi(std::span<const std::byte> body);

}  // namespace holdfast::zookeeper
