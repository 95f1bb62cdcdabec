// Lets a blocked caller's thread drive the I/O of its client.
#pragma once
#include <atomic>

#include "base/parker.hpp"

namespace holdfast::base {

// A blocked thread, as its backend's driver sees it. On the stack of its thread, which sleeps in
// caller_driver::sleep_until_signalled() until the parker is signalled. Once enlisted, the thread
// awaits the store and may be promoted to lead the loop.
struct follower {
  explicit follower(base::parker& p) noexcept : parker(p) {}
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  base::parker& parker;

  // The driver's fields.
  follower* before = nullptr;
  follower* after = nullptr;
  std::atomic<bool> is_enlisted{false};
  bool is_listed = false;
  bool leads = false;
  int bit = -1;  // its bit in a shared futex word; -1: none
};

// A blocked caller may lend its thread to the backend's I/O. A thread that awaits a reply of the
// store leads the event loop; a thread that waits for another thread of its client only sleeps.
class caller_driver {
 public:
  virtual void run_until_signalled(parker&) = 0;      // blocks a caller that awaits the store
  virtual void sleep_until_signalled(follower&) = 0;  // blocks; may lead once it is enlisted
  // From any thread, before the parker is signalled. The follower's thread must call
  // sleep_until_signalled() after that, even if it has its answer already: it may have been
  // promoted, and if it did not return here, no thread would lead.
  virtual void enlist(follower&) noexcept = 0;
  // A caller that does not block awaits a reply. Writes the requests collected for it.
  virtual void attend() noexcept = 0;

 protected:
  ~caller_driver() = default;
};

}  // namespace holdfast::base
