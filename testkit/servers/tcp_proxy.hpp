// A network between a client and a server, with faults that a test commands.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::testkit {

enum class direction : unsigned char { to_server, to_client };
enum class applies_to : unsigned char { all, new_connections };

// An open connection of a client through the proxy.
struct proxied_connection {
  std::uint64_t number = 0;  // counted from 1 in the order in which they were accepted
  int target_port = 0;       // of the server that it was led to
  int local_port = 0;        // the server knows the connection as 127.0.0.1:local_port
};

// The treatment of the bytes in one direction of a connection.
struct flow {
  std::chrono::microseconds delay{};
  // Kept back until a flow without `hold` is set, and passed on then, even if the one who sent them
  // has closed its end: a partition that heals.
  bool hold = false;
  // Taken and dropped. A connection of which bytes were swallowed stays silent for good.
  bool swallow = false;
  // May change the bytes and their number. On the proxy's thread; it must not call the proxy.
  std::function<void(std::string& bytes)> mutate{};
  // False: the bytes are dropped, and both ends of their connection are reset. Likewise.
  std::function<bool(std::string_view bytes, const proxied_connection&)> admits{};
};

struct proxy_counts {
  std::uint64_t accepted = 0;                  // connections, ever
  std::uint64_t open = 0;                      // of which now
  std::uint64_t to_server = 0, to_client = 0;  // bytes that were passed on
};

// Listens on a free port of 127.0.0.1 and passes on to a server, with a thread of its own. Members
// may be called from any thread, and what they set holds for what arrives afterwards. A reset by
// one side is a reset for the other, an end is an end, after the bytes before it.
class tcp_proxy {
 public:
  explicit tcp_proxy(int target_port);  // of 127.0.0.1; throws std::system_error
  // `connect`: returns a new socket that is connected to the server, or -1. On the proxy's thread.
  explicit tcp_proxy(std::function<int()> connect);
  ~tcp_proxy();
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;

  int port() const noexcept;
  std::string url() const;  // "redis://127.0.0.1:PORT"

  void set(direction, const flow&, applies_to = applies_to::all);
  void set_both(const flow&, applies_to = applies_to::all);
  // Passes `bytes` more bytes of this direction, counted over all connections, and resets both ends
  // of the connection that brings one more. Once; then all is as before.
  void cut_after(direction, std::uint64_t bytes);
  bool was_cut() const;  // since the last cut_after()
  void reset_all();      // every connection that is open, at both ends
  void refuse(bool);     // new connections

  // A balancer: new connections are led to another server, or each to one of several, which is
  // drawn from the seed. Open connections stay where they are until they are reset.
  void route_to(int target_port);
  void route_to(const std::vector<int>& target_ports, std::uint64_t seed);
  std::vector<proxied_connection> connections() const;  // in the order of their numbers
  void reset(const std::vector<std::uint64_t>& numbers);

  proxy_counts counts() const;

 private:
  class engine;
  std::unique_ptr<engine> engine_;
};

}  // namespace holdfast::testkit
