#include <holdfast/holdfast.hpp>

#include <iostream>
#include <system_error>

enum class attempt { done, busy, later };

attempt try_once(const holdfast::mutex& lock) {
  std::error_code ec;
  const holdfast::lease lease = lock.try_acquire({}, ec);
  if (ec == holdfast::outcome::unavailable) return attempt::later;  // a group of reasons
  if (ec == holdfast::errc::mismatch) std::cerr << "the name is used for another kind of lock\n";
  if (ec) throw std::system_error(ec);
  return lease.held() ? attempt::done : attempt::busy;
}
