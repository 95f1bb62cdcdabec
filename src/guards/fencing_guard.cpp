#include <holdfast/guard.hpp>

#include "base/mutant.hpp"

namespace holdfast::inline v0 {

bool fencing_guard::admit(std::int64_t token, std::string_view owner) {
  const std::lock_guard guard(mutex_);
  if (comparison_ == fencing::exact) return !owner_.empty() && owner == owner_;
  // After a split brain two holders may have equal tokens.
  const bool is_old = token < last_ || token <= 0 || (token == last_ && owner != owner_);
  if (is_old && !base::planted(base::mutant::guard_admits_all)) return false;
  last_ = token;
  owner_ = owner;
  return true;
}

void fencing_guard::set(std::string_view owner) {
  const std::lock_guard guard(mutex_);
  owner_ = owner;
}

std::int64_t fencing_guard::last() const {
  const std::lock_guard guard(mutex_);
  return last_;
}

}  // namespace holdfast::inline v0
