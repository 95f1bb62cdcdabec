// A blocked thread, as the driver of its backend sees it.
#pragma once
#include <atomic>

#include "base/parker.hpp"

namespace holdfast::core {

// On the stack of its thread, which sleeps in driver::sleep_until_signalled() until the parker is
// signalled. From driver::enlist() on the thread awaits the store, and may lead the loop meanwhile.
struct follower {
  explicit follower(core::parker& p) noexcept : parker(p) {}
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  core::parker& parker;

  // The driver's.
  follower* before = nullptr;
  follower* after = nullptr;
  std::atomic<bool> is_enlisted{false};
  bool is_listed = false;
  bool leads = false;
  int bit = -1;  // where it sleeps with others on one futex word
};

}  // namespace holdfast::core
