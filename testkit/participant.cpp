#include "testkit/participant.hpp"

#include <thread>
#include <utility>

namespace holdfast::testkit {

std::int64_t deadline_of(const lease& held) {
  const auto expires = held.expires();
  if (expires == lease_clock::time_point::max()) return history::no_deadline;
  return expires.time_since_epoch().count();
}

participant::participant(std::string process, history_writer& history, std::uint64_t seed)
    : process_(std::move(process)), history_(history), numbers_(seed) {}

record participant::begin(const std::string& lock, operation what) const {
  record r;
  r.process = process_;
  r.lock = lock;
  r.what = what;
  r.call = history::history_now();
  return r;
}

record participant::begin(const std::string& lock, operation what, const lease& held) const {
  auto r = begin(lock, what);
  r.token = held.token();
  return r;
}

void participant::end(record r, result outcome) {
  r.back = history::history_now();
  r.outcome = outcome;
  history_.add(r);
}

bool participant::granted(record begun, const lease& held, std::error_code ec) {
  begun.token = held.token();
  if (held) begun.deadline = deadline_of(held);
  end(std::move(begun), held ? result::ok : ec ? result::unknown : result::busy);
  return static_cast<bool>(held);
}

void participant::work(std::chrono::microseconds longest) {
  const auto most = static_cast<std::uint64_t>(longest.count());
  std::this_thread::sleep_for(std::chrono::microseconds(up_to(most)));
}

bool participant::check(const std::string& lock, const lease& held) {
  auto r = begin(lock, operation::check, held);
  const bool still = held.held();
  r.back = history::history_now();
  r.deadline = deadline_of(held);
  r.outcome = still ? result::ok : result::lost;
  history_.add(r);
  return still;
}

void participant::leave(const std::string& lock, lease held) {
  auto begun = begin(lock, operation::release, held);
  if (up_to(1) == 0) {
    held.unlock();
    return end(std::move(begun), result::unknown);
  }
  std::error_code ec;
  held.release(ec);
  end(std::move(begun), !ec ? result::ok : ec == outcome::lost ? result::lost : result::unknown);
}

}  // namespace holdfast::testkit
