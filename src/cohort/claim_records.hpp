// The records of a cohort's claims: one for a lock, several for a semaphore.
#pragma once
#include "cohort/claim_record.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

class claim_records {
 public:
  explicit claim_records(detail::local_lock& home) noexcept : first_(home) {}

  detail::local_lock& home() const noexcept { return first_.home; }
  claim_record& idle_one();  // made when there is none
  bool are_idle() const noexcept;

  // The claims that hold a grant, the latest first; for a lock at most one.
  claim_record* held() const noexcept { return held_; }
  bool is_held(const claim_record&) const noexcept;
  void add_held(claim_record&) noexcept;
  void remove_held(claim_record&) noexcept;

 private:
  claim_record first_;  // of the list of all records
  claim_record* held_ = nullptr;
};

}  // namespace holdfast::cohort
