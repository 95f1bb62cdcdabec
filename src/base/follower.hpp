// A blocked thread, as its backend's driver sees it.
#pragma once
#include <atomic>

#include "base/parker.hpp"

namespace holdfast::base {

// On the stack of its thread, which sleeps in caller_driver::sleep_until_signalled() until the
// parker is signalled. Once enlisted, the thread awaits the store and may be promoted to lead the
// loop.
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

}  // namespace holdfast::base
