#include "player.hpp"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace stress {

using holdfast::lease;
using holdfast::outcome;
using holdfast::testkit::history_now;
using holdfast::testkit::operation;
using holdfast::testkit::record;
using holdfast::testkit::result;

namespace {

std::int64_t deadline_of(const lease& held) {
  const auto expires = held.expires();
  if (expires == holdfast::lease_clock::time_point::max()) return holdfast::testkit::no_deadline;
  return expires.time_since_epoch().count();
}

}  // namespace

std::string lock_name(std::size_t lock) { return "stress/" + std::to_string(lock); }

bool guarded_resource::write(std::size_t lock, std::int64_t token) noexcept {
  auto last = last_[lock].load();
  while (token >= last)
    if (last_[lock].compare_exchange_weak(last, token)) return true;
  return false;
}

player::player(const holdfast::client& client, std::string process,
               holdfast::testkit::history_writer& history, guarded_resource& resource, habits h,
               std::uint64_t seed)
    : process_(std::move(process)),
      history_(history),
      resource_(resource),
      habits_(h),
      numbers_(seed) {
  for (std::size_t lock = 0; lock < lock_count; ++lock)
    locks_.push_back(client.mutex(lock_name(lock)));
}

record player::begin(std::size_t lock, operation what) const {
  record r;
  r.process = process_;
  r.lock = lock_name(lock);
  r.what = what;
  r.call = history_now();
  return r;
}

void player::end(record r, result outcome) {
  r.back = history_now();
  r.outcome = outcome;
  history_.add(r);
}

void player::play() {
  const auto lock = up_to(lock_count - 1);
  auto held = take(lock);
  if (!held) return;
  for (auto pieces = up_to(3); pieces > 0; --pieces) work(lock, held);
  leave(lock, std::move(held));
}

lease player::take(std::size_t lock) {
  auto r = begin(lock, operation::acquire);
  std::error_code ec;
  lease held;
  const auto wish = up_to(9);
  if (wish == 0) {
    held = locks_[lock].try_acquire({}, ec);
  } else if (wish < 4) {
    const auto most = std::chrono::milliseconds(up_to(habits_.longest_wait.count()));
    held = locks_[lock].try_acquire_for(most, {}, {}, ec);
  } else {
    held = locks_[lock].acquire({}, {}, ec);
  }
  r.token = held.token();
  if (held) r.deadline = deadline_of(held);
  end(std::move(r), held ? result::ok : ec ? result::unknown : result::busy);
  return held;
}

void player::work(std::size_t lock, const lease& held) {
  std::this_thread::sleep_for(std::chrono::microseconds(up_to(habits_.longest_work.count())));
  check(lock, held);
  write(lock, held);
}

void player::check(std::size_t lock, const lease& held) {
  auto r = begin(lock, operation::check);
  r.token = held.token();
  const bool still = held.held();
  r.back = history_now();
  r.deadline = deadline_of(held);
  r.outcome = still ? result::ok : result::lost;
  history_.add(r);
}

void player::write(std::size_t lock, const lease& held) {
  auto r = begin(lock, operation::write);
  r.token = held.token();
  end(std::move(r), resource_.write(lock, held.token()) ? result::ok : result::refused);
}

void player::leave(std::size_t lock, lease held) {
  auto r = begin(lock, operation::release);
  r.token = held.token();
  if (up_to(1) == 0) {
    held.unlock();
    return end(std::move(r), result::unknown);
  }
  std::error_code ec;
  held.release(ec);
  end(std::move(r), !ec ? result::ok : ec == outcome::lost ? result::lost : result::unknown);
}

std::uint64_t seed_of_run() {
  const char* const given = ::getenv("HOLDFAST_STRESS_SEED");
  return given ? ::strtoull(given, nullptr, 10) : std::random_device{}();
}

scratch_folder::scratch_folder() {
  char name[] = "/tmp/holdfast-stress-XXXXXX";
  if (::mkdtemp(name) == nullptr)
    throw std::system_error(errno, std::generic_category(), "no folder for the stress run");
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stress
