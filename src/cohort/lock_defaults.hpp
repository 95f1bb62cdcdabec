// The acquire_options given when a lockable was made.
#pragma once
#include <holdfast/detail/verbs.hpp>

#include <memory>
#include <string>

namespace holdfast::inline v0::detail {

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

}  // namespace holdfast::inline v0::detail
