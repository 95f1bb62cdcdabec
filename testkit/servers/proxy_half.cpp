#include "testkit/servers/proxy_half.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace holdfast::testkit {

bool proxy_half::take(int from, const proxied_connection& of) {
  std::array<char, 65536> room;
  const ssize_t n = ::recv(from, room.data(), room.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) {
    ended_ = n == 0 ? ending::end : ending::reset;
    return true;
  }
  silent_ = silent_ || rules->swallow;
  if (silent_ || closed_) return true;
  std::string bytes(room.data(), static_cast<std::size_t>(n));
  if (rules->admits && !rules->admits(bytes, of)) return false;
  if (rules->mutate) rules->mutate(bytes);
  if (bytes.empty()) return true;
  kept_ += bytes.size();
  pieces_.push_back({std::move(bytes), proxy_clock::now() + rules->delay});
  return true;
}

bool proxy_half::give(int to, proxy_clock::time_point now,
                      std::optional<std::uint64_t>& allowance) {
  while (!pieces_.empty() && !rules->hold && pieces_.front().due <= now) {
    std::string& bytes = pieces_.front().bytes;
    if (allowance == std::uint64_t{0}) return false;
    const auto most = allowance ? std::min<std::uint64_t>(*allowance, bytes.size()) : bytes.size();
    const ssize_t n = ::send(to, bytes.data(), most, MSG_DONTWAIT | MSG_NOSIGNAL);
    blocked_ = n < 0 && errno == EAGAIN;
    if (blocked_) return true;
    if (n < 0) {
      close();
      return true;
    }
    const auto gone = static_cast<std::size_t>(n);
    if (allowance) *allowance -= gone;
    passed_ += gone;
    kept_ -= gone;
    bytes.erase(0, gone);
    if (bytes.empty()) pieces_.pop_front();
  }
  blocked_ = false;
  return true;
}

void proxy_half::close() noexcept {
  closed_ = true;
  blocked_ = false;
  pieces_.clear();
  kept_ = 0;
}

proxy_clock::time_point proxy_half::next_due() const noexcept {
  const bool waits = pieces_.empty() || rules->hold || blocked_;
  return waits ? proxy_clock::time_point::max() : pieces_.front().due;
}

}  // namespace holdfast::testkit
