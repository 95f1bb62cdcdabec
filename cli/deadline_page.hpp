// A page of memory that `run`, its guardian and the gate in front of the job share.
#pragma once
#include <sys/types.h>
#include <holdfast/clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "cli/file_descriptor.hpp"

namespace holdfast::cli {

struct deadline_page {
  static constexpr std::int32_t not_started = 0, never_start = -1;

  std::atomic<std::int64_t> deadline_ns;  // of the lease, on lease_clock
  std::atomic<std::int64_t> grace_ns;     // from SIGTERM to SIGKILL
  std::atomic<std::int64_t> margin_ns;    // the group is dead so long before the deadline
  std::atomic<std::int32_t> group;        // of the job; or one of the above
  std::atomic<bool> ending;               // somebody took it on to end the group
  std::atomic<bool> over;                 // the job is gone: the group's number may be reused

  lease_clock::time_point deadline() const noexcept {
    return lease_clock::time_point(std::chrono::nanoseconds(deadline_ns.load()));
  }
  void set_deadline(lease_clock::time_point t) noexcept {
    deadline_ns.store(t.time_since_epoch().count());
  }
  std::chrono::nanoseconds grace() const noexcept { return std::chrono::nanoseconds(grace_ns); }
  std::chrono::nanoseconds margin() const noexcept { return std::chrono::nanoseconds(margin_ns); }

  // When a group that is told to end now gets SIGKILL.
  lease_clock::time_point kill_at(lease_clock::time_point now) const noexcept {
    return std::min(now + grace(), deadline() - margin());
  }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

class shared_page {
 public:
  shared_page();                          // a new one; throws std::system_error
  explicit shared_page(int fd) noexcept;  // of the process that started this one; closes fd
  ~shared_page();
  shared_page(const shared_page&) = delete;
  shared_page& operator=(const shared_page&) = delete;

  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return page_ != nullptr; }
  deadline_page* operator->() const noexcept { return page_; }
  deadline_page& operator*() const noexcept { return *page_; }

 private:
  file_descriptor fd_;
  deadline_page* page_ = nullptr;
};

// Signals the job's group; false when nobody is left in it.
bool signal_group(pid_t group, int signal) noexcept;

}  // namespace holdfast::cli
