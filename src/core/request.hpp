// What a caller asks of a lock, checked.
#pragma once
#include <holdfast/lockable.hpp>

#include "core/client_impl.hpp"
#include "core/waiter.hpp"

namespace holdfast::inline v0::detail {

struct request {
  core::ask how;  // its note is the caller's
  bool renews = true;
  core::duration max_hold = core::duration::max();

  // Reads options of which the caller knows `size` bytes. What is wrong with them for this lock;
  // code {} when nothing is.
  core::failure read(lock_mode, const acquire_options&, std::size_t size, wait_bound, slot&);
  void put_into(core::waiter& w) const noexcept {
    w.how = how;
    w.renews = renews;
    w.max_hold = max_hold;
  }
};

}  // namespace holdfast::inline v0::detail
