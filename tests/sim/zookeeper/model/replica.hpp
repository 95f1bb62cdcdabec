// One server: its clients, what it knows of the tree, and its place in the ensemble. It answers
// reads and pings of its own accord, and a session's requests in their order.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/transport/jute.hpp"
#include "tests/sim/machine/peer.hpp"
#include "tests/sim/zookeeper/model/preparation.hpp"
#include "tests/sim/zookeeper/model/session_tracker.hpp"
#include "tests/sim/zookeeper/model/watch_table.hpp"

namespace holdfast::sim::zk {

class ensemble;
struct leadership;

struct connection {
  enum class fixture : unsigned char { fresh, attaching, attached, closed };
  int number = 0, server = 0;
  peer* to = nullptr;  // null: it is forgotten
  fixture is = fixture::fresh;
  bool shows_read_only = false;  // its client knows of such servers
  bool is_read_only = false;     // it has attached its session to one
  std::string in, out;
  std::int64_t session = 0;
  std::int32_t timeout_ms = 0;
  std::deque<request> pending;  // in the order in which they are answered
  int synced = 0;               // of those, how many syncs the leader has answered
  std::vector<identity> identities;
};

enum class role : unsigned char { looking, following, leading };

class replica {
 public:
  replica(int id, ensemble&);
  ~replica();

  // Its clients.
  connection& connect(int number, peer&);
  void receive(int number, std::string_view bytes);
  void read_on(int number);  // what came behind a ConnectRequest
  void disconnect(int number);
  connection* find(int number);
  bool has(std::int64_t session) const;  // a connection that it is attached to
  void close(connection&);               // what is written is sent first
  void close_all();
  void close_read_only();

  // The ensemble.
  void apply_next();  // of the log
  void on_synced(const origin&, session_tracker::verdict);
  void on_revalidated(const origin&, bool is_good);
  std::int64_t last_logged() const { return log.empty() ? 0 : log.back().zxid; }

  const int id;
  role is = role::looking;
  int leader = 0;                     // that it follows
  std::unique_ptr<leadership> leads;  // while it does
  std::uint64_t term = 0;             // counts its roles
  std::uint64_t boot = 1;             // counts its starts
  std::int64_t accepted_epoch = 0;
  bool is_down = false, is_stopped = false;
  struct deed {
    std::function<void()> what;
    bool is_by_clock = false;
  };
  std::deque<deed> held;  // while it is stopped
  moment leader_heard{};
  moment looking_since{};
  std::map<std::int64_t, std::int32_t> touched;  // sessions, until the leader's next ping
  std::vector<transaction> log;                  // agreed on, and then proposed
  std::size_t applied = 0;                       // of the log
  tree state;
  std::int32_t timeout_min_ms = 0, timeout_max_ms = 0;

 private:
  // connecting.cpp
  bool answer_word(connection&);
  void on_connect_request(connection&, std::span<const std::byte>);
  void attach(connection&, std::int64_t session);
  void attach_read_only(connection&, std::int64_t session, std::string_view password);
  void answer_connect(connection&, bool is_good);

  // replica.cpp
  void read_frames(connection&);
  void on_frame(connection&, std::span<const std::byte>);
  void run(connection&, bool may_park = true);
  bool parks(connection&);
  void unpark();
  void tell(int number, zookeeper::event_kind, const std::string& path);

  // replies.cpp
  void authenticate(connection&, const request&);
  void answer_read(connection&, const request&);
  void answer_node(connection&, const request&);
  void set_watches(connection&, const request&);
  error remove_watch(connection&, const request&);
  void answer_write(connection&, const transaction&, const outcome&);
  void write(connection&, std::int32_t xid, std::int64_t zxid, error, std::string_view body = {});

  ensemble& all_;
  watch_table watches_;
  std::map<int, connection> connections_;
  std::vector<int> parked_;
};

}  // namespace holdfast::sim::zk
