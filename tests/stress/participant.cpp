#include "participant.hpp"

#include <thread>
#include <utility>

namespace stress {

using holdfast::lease;
using holdfast::outcome;
using holdfast::history::history_now;
using holdfast::history::result;

std::string lock_name(std::size_t lock) { return "stress/" + std::to_string(lock); }

bool guarded_resource::write(std::size_t lock, std::int64_t token) noexcept {
  auto last = last_[lock].load();
  while (token >= last)
    if (last_[lock].compare_exchange_weak(last, token)) return true;
  return false;
}

std::int64_t deadline_of(const lease& held) {
  const auto expires = held.expires();
  if (expires == holdfast::lease_clock::time_point::max()) return holdfast::history::no_deadline;
  return expires.time_since_epoch().count();
}

participant::participant(std::string process, holdfast::history::history_writer& history,
                         guarded_resource& resource, habits h, std::uint64_t seed)
    : process_(std::move(process)),
      history_(history),
      resource_(resource),
      habits_(h),
      numbers_(seed) {}

holdfast::history::record participant::begin(const std::string& lock, operation what) const {
  record r;
  r.process = process_;
  r.lock = lock;
  r.what = what;
  r.call = history_now();
  return r;
}

holdfast::history::record participant::begin(const std::string& lock, operation what,
                                             const lease& held) const {
  auto r = begin(lock, what);
  r.token = held.token();
  return r;
}

void participant::end(record r, result outcome) {
  r.back = history_now();
  r.outcome = outcome;
  history_.add(r);
}

bool participant::granted(record begun, const lease& held, std::error_code ec) {
  begun.token = held.token();
  if (held) begun.deadline = deadline_of(held);
  end(std::move(begun), held ? result::ok : ec ? result::unknown : result::busy);
  return static_cast<bool>(held);
}

void participant::work() {
  std::this_thread::sleep_for(std::chrono::microseconds(up_to(habits_.longest_work.count())));
}

void participant::check(const std::string& lock, const lease& held) {
  auto r = begin(lock, operation::check, held);
  const bool still = held.held();
  r.back = history_now();
  r.deadline = deadline_of(held);
  r.outcome = still ? result::ok : result::lost;
  history_.add(r);
}

void participant::write_under(std::size_t lock, const lease& held) {
  auto r = begin(lock_name(lock), operation::write, held);
  end(std::move(r), resource_.write(lock, held.token()) ? result::ok : result::refused);
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

std::chrono::milliseconds participant::wait_limit() {
  return std::chrono::milliseconds(up_to(habits_.longest_wait.count()));
}

}  // namespace stress
