// The requests that locks need, as ZooKeeper's protocol writes them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

enum class opcode : std::int32_t {
  create = 1,
  remove = 2,
  exists = 3,
  get_data = 4,
  set_data = 5,
  get_acl = 6,
  sync = 9,
  ping = 11,
  get_children2 = 12,
  check = 13,
  multi = 14,
  create2 = 15,
  create_container = 19,
  auth = 100,
  set_watches = 101,
  close_session = -11,
};

// A create, delete, set or multi: executed by the leader and acknowledged by a quorum.
constexpr bool is_write(opcode op) noexcept {
  return op == opcode::create || op == opcode::create2 || op == opcode::create_container ||
         op == opcode::remove || op == opcode::set_data || op == opcode::multi;
}

// The numbers of requests. A session's own requests count from 1.
namespace xid {
inline constexpr std::int32_t event = -1, ping = -2, auth = -4, set_watches = -8;
}

enum class node_kind : std::int32_t {
  persistent = 0,
  ephemeral = 1,
  persistent_sequential = 2,
  ephemeral_sequential = 3,
  container = 4,  // removed by the server once its last child is gone; create_container only
};

enum class acl_of : unsigned char {
  anyone,   // world:anyone may do everything
  creator,  // only who is authenticated as this session is now
};

struct connect_request {
  std::int64_t last_zxid_seen = 0;
  std::int32_t timeout_ms = 0;
  std::int64_t session_id = 0;  // 0: a new session
  std::string_view password{};
  bool accepts_read_only = false;  // a server without a quorum may answer
};

inline constexpr std::int32_t any_version = -1;
inline constexpr std::size_t password_bytes = 16;
// A server ends the connection for a larger request (jute.maxbuffer, 1 MiB by default).
inline constexpr std::size_t request_bytes_max = 1'040'000;

// Each appends one frame. Paths are complete: the chroot is their beginning.
void append_connect(std::string& out, const connect_request&);
void append_ping(std::string& out);
void append_auth(std::string& out, std::string_view scheme, std::string_view credentials);
void append_close_session(std::string& out, std::int32_t xid);

// Each appends the body of a request, without its frame and header.
void append_create(std::string& out, std::string_view path, std::string_view data, node_kind,
                   acl_of);
void append_delete(std::string& out, std::string_view path, std::int32_t version);
void append_watched_path(std::string& out, std::string_view path, bool watches);
void append_set_data(std::string& out, std::string_view path, std::string_view data,
                     std::int32_t version);
void append_path(std::string& out, std::string_view path);  // of sync

// The operations of a multi: all are executed, or none.
class multi_writer {
 public:
  explicit multi_writer(std::string& out) noexcept : out_(out) {}
  multi_writer& create(std::string_view path, std::string_view data, node_kind, acl_of);
  multi_writer& remove(std::string_view path, std::int32_t version);
  multi_writer& set_data(std::string_view path, std::string_view data, std::int32_t version);
  multi_writer& check(std::string_view path, std::int32_t version);
  void end();  // the last call

 private:
  void head(std::int32_t op, bool is_end);
  std::string& out_;
};

struct watched_paths {  // views of the paths that are watched, by the kind of the watch
  std::vector<std::string_view> data, exist, child;
};

// Appends as many frames as it takes: a server takes none above its jute.maxbuffer. Returns their
// number.
unsigned append_set_watches(std::string& out, std::int64_t relative_zxid, const watched_paths&);

// The bodies of requests, each as a string of its own.
inline std::string watched_path_body(const std::string& path, bool watches) {
  std::string out;
  append_watched_path(out, path, watches);
  return out;
}

inline std::string path_body(const std::string& path) {
  std::string out;
  append_path(out, path);
  return out;
}

inline std::string delete_body(const std::string& path) {
  std::string out;
  append_delete(out, path, any_version);
  return out;
}

}  // namespace holdfast::zookeeper
