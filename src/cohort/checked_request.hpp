// The arguments of an acquire, checked.
#pragma once
#include <holdfast/detail/verbs.hpp>
#include <holdfast/lockable.hpp>

#include <string>

#include "cohort/client_impl.hpp"
#include "cohort/waiter.hpp"

namespace holdfast::inline v0::detail {

// The acquire_options given when a lockable was made.
class lock_defaults {
 public:
  explicit lock_defaults(const acquire_options& o) : note_(o.note), options_(o) {
    options_.note = note_;
  }
  lock_defaults(const lock_defaults&) = delete;

  const acquire_options& all() const noexcept { return options_; }
  void fill_in(acquire_options& given) const noexcept {  // unset options only; never the permits
    if (!given.ttl) given.ttl = options_.ttl;
    if (given.renew == renewal::client_default) given.renew = options_.renew;
    if (given.note.empty()) given.note = options_.note;
    if (!given.max_hold) given.max_hold = options_.max_hold;
  }

 private:
  const std::string note_;
  acquire_options options_;
};

// `given` from a caller whose acquire_options has `size` bytes (another version of the library).
acquire_options normalized(const acquire_options& given, std::size_t size) noexcept;
// The options of one call. `defaults` null: the lock has none.
acquire_options options_of(const acquire_call&, const lock_defaults*) noexcept;

// Why no acquire of a lock (permits_in_all 0) or of a semaphore can have these options; code {}:
// valid.
base::failure options_fault(const acquire_options&, std::uint32_t permits_in_all,
                            const cohort::lock_rules&);

struct checked_request {
  seam::acquire_request request;  // its note belongs to the caller
  bool renews = true;
  base::duration max_hold = base::duration::max();

  // The fault of the options for this lock; code {} if they are valid.
  base::failure read(lock_mode, const acquire_options&, local_lock&);
  void put_into(cohort::waiter& w) const noexcept {
    w.request = request;
    w.renews = renews;
    w.max_hold = max_hold;
  }
};

}  // namespace holdfast::inline v0::detail
