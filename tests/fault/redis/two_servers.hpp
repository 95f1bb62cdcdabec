// One name that leads to one of several servers, as a balancer or a floating address does.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace holdfast::redis_test {

// A master and its replica. Both outlive the names that lead to them.
struct two_servers {
  redis_server a, b;
  explicit two_servers(const redis_options& both = {}) : a(both), b(both) { b.replicate(a); }
};

// A client's way to the servers: new connections are led to one of them, open ones stay.
class floating_name {
 public:
  explicit floating_name(const redis_server& s) : proxy(s.port()) {}

  void lead_to(const redis_server& s) { proxy.route_to(s.port()); }
  std::string url() const { return proxy.url(); }
  // An open connection, and what it is for: "commands", "messages", "renewals".
  struct open_lane {
    std::uint64_t number;
    std::string purpose;
  };
  std::vector<open_lane> open_at(redis_server&) const;  // to that server
  std::vector<std::string> lanes_at(redis_server&) const;
  // Ends the connections to that server that are for this.
  void cut(redis_server&, const std::string& lane);
  // Ends all, and leads new ones to that server.
  void move_to(const redis_server& s) {
    lead_to(s);
    proxy.reset_all();
  }

  tcp_proxy proxy;
};

}  // namespace holdfast::redis_test
