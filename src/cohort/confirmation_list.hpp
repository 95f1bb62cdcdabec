// The callers that await the result of a renewal or a release.
#pragma once
#include <cstdint>

#include "cohort/waiter.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

class cohort_effects;

class confirmation_list {
 public:
  bool is_empty() const noexcept { return first_ == nullptr; }
  void add(confirmation&, const claim_record& record, std::uint32_t ticket) noexcept;
  bool has_release_of(const claim_record&) const noexcept;
  bool has_renewal_of(const claim_record&) const noexcept;
  time_point earliest_bound() const noexcept;

  void answer_renewals(const claim_record&, std::uint32_t up_to_ticket, const failure&,
                       cohort_effects&);
  bool answer_releases(const claim_record&, const failure&, cohort_effects&);  // false: none
  void answer_overdue(time_point now, cohort_effects&);

 private:
  template <class Condition>
  bool answer_if(Condition, const failure&, cohort_effects&);

  confirmation* first_ = nullptr;
};

}  // namespace holdfast::cohort
