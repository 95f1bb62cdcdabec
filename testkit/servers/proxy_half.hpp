// One direction of a connection that goes through a tcp_proxy.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::testkit {

using proxy_clock = std::chrono::steady_clock;

enum class ending : unsigned char { none, end, reset };

// Takes bytes from one socket and gives them to another, when their time has come.
class proxy_half {
 public:
  std::shared_ptr<const flow> rules;

  // What is there; sees the end too. False: it was not admitted.
  bool take(int from, const proxied_connection& of);
  // Gives what is due. `allowance`: bytes that may still pass before a cut, if one is ordered;
  // false: that cut is due now.
  bool give(int to, proxy_clock::time_point now, std::optional<std::uint64_t>& allowance);
  void close() noexcept;  // its receiver is gone: what comes is dropped

  bool wants_more() const noexcept { return ended_ == ending::none && kept_ < most_kept; }
  bool wants_room() const noexcept { return blocked_; }
  // All was passed on, and the end may follow; bytes that vanish take the end with them.
  bool drained() const noexcept {
    return pieces_.empty() && !rules->hold && !rules->swallow && !silent_;
  }
  ending ended() const noexcept { return ended_; }
  proxy_clock::time_point next_due() const noexcept;  // max(): nothing to be given by itself
  std::uint64_t passed() const noexcept { return passed_; }

 private:
  static constexpr std::size_t most_kept = std::size_t{4} << 20;
  struct piece {
    std::string bytes;
    proxy_clock::time_point due;
  };

  std::deque<piece> pieces_;
  std::size_t kept_ = 0;
  std::uint64_t passed_ = 0;
  ending ended_ = ending::none;
  bool blocked_ = false, silent_ = false, closed_ = false;
};

}  // namespace holdfast::testkit
