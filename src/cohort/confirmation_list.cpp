#include "cohort/confirmation_list.hpp"

#include <algorithm>
#include <utility>

#include "cohort/cohort_effects.hpp"

namespace holdfast::cohort {

void confirmation_list::add(confirmation& c, const claim_record& record,
                            std::uint32_t ticket) noexcept {
  c.about = &record;
  c.ticket = ticket;
  c.after = std::exchange(first_, &c);
}

bool confirmation_list::has_release_of(const claim_record& c) const noexcept {
  const confirmation* at = first_;
  while (at && (at->about != &c || at->ticket != 0)) at = at->after;
  return at != nullptr;
}

bool confirmation_list::has_renewal_of(const claim_record& c) const noexcept {
  const confirmation* at = first_;
  while (at && (at->about != &c || at->ticket == 0)) at = at->after;
  return at != nullptr;
}

time_point confirmation_list::earliest_bound() const noexcept {
  time_point earliest = never;
  for (const confirmation* at = first_; at; at = at->after)
    earliest = std::min(earliest, at->until);
  return earliest;
}

template <class Condition>
bool confirmation_list::answer_if(Condition condition, const failure& why,
                                  cohort_effects& effects) {
  bool any = false;
  for (confirmation** at = &first_; *at;) {
    confirmation& c = **at;
    if (!condition(std::as_const(c))) {
      at = &c.after;
      continue;
    }
    *at = c.after;
    effects.answer(c, why);
    any = true;
  }
  return any;
}

void confirmation_list::answer_renewals(const claim_record& of, std::uint32_t up_to_ticket,
                                        const failure& why, cohort_effects& effects) {
  const auto is_renewal = [&](const confirmation& c) {
    return c.about == &of && c.ticket != 0 && c.ticket <= up_to_ticket;
  };
  answer_if(is_renewal, why, effects);
}

bool confirmation_list::answer_releases(const claim_record& of, const failure& why,
                                        cohort_effects& effects) {
  const auto is_release = [&](const confirmation& c) { return c.about == &of && c.ticket == 0; };
  return answer_if(is_release, why, effects);
}

void confirmation_list::answer_overdue(time_point now, cohort_effects& effects) {
  const failure unknown{errc::outcome_unknown,
                        "no reply within the op-timeout; the request continues in the background"};
  answer_if([&](const confirmation& c) { return c.until <= now; }, unknown, effects);
}

}  // namespace holdfast::cohort
