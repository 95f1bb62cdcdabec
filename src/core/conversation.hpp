// A cohort's side of one claim.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "core/seam.hpp"

namespace holdfast::inline v0::detail {
class slot;
}

namespace holdfast::core {

//   state       | said last | next
//   ------------+-----------+-------------------------------------------------------------------
//   idle        | -         | asking (acquire)
//   asking      | acquire   | held (granted), idle (refused), withdrawing (cancel)
//   withdrawing | cancel    | idle (ended), held (granted: too late to withdraw)
//   held        | renew     | releasing (release)
//   releasing   | release   | idle (ended)
//
// Verbs are noted in `todo` under the slot's lock and said by the slot without it, each once, in
// the order acquire, cancel, renew, release.
struct conversation final : claim_sink {
  enum class state : unsigned char { idle, asking, withdrawing, held, releasing };
  enum verb : unsigned char { acquire = 1, cancel = 2, renew = 4, release = 8 };

  explicit conversation(detail::slot& s) noexcept : home(s) {}

  void granted(const grant&) override;
  void refused(failure) override;
  void moved(time_point deadline, std::uint32_t ticket) override;
  void lost(std::error_code) override;
  void wanted() override;
  void ended(failure) override;

  detail::slot& home;
  std::unique_ptr<core::claim> claim;
  state now = state::idle;
  unsigned char todo = 0;
  bool in_todo = false;
  bool one_attempt = false;
  std::uint32_t ticket = 0;                 // of the renewal to say
  duration ttl{};                           // to acquire or to renew with
  std::unique_ptr<const std::string> note;  // null: none
  conversation* next = nullptr;             // asks in the same write as the release
  conversation* next_todo = nullptr;        // the slot's list of those with something to say
  std::unique_ptr<conversation> other;      // the cohort's list of conversations
};

}  // namespace holdfast::core
