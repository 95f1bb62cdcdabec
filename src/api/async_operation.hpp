// Operations begun through holdfast/asio.hpp, and how their answers are delivered.
#pragma once
#include <holdfast/detail/async.hpp>

#include <memory>

#include "api/lockable_state.hpp"
#include "cohort/client_impl.hpp"

namespace holdfast::inline v0::detail {

// An operation that can be withdrawn. Lives until it is answered, and as long as it may be
// withdrawn.
class async_operation {
 public:
  virtual ~async_operation() = default;
  // Keeps itself alive until the answer.
  virtual void begin(std::shared_ptr<async_operation> self) = 0;
  virtual void withdraw() noexcept = 0;  // by a thread of the user's; the wait ends

  // Delivers the answer. The last reference to a client must not be dropped on a thread that
  // dispatches the client's own events (its destructor would wait for itself): it goes to the user
  // with the answer, or to a thread of its own.
  static void deliver_answer(const std::shared_ptr<async_answer>& to, std::error_code,
                             turn* granted, client_impl&, std::shared_ptr<void> to_end) noexcept;

  static local_lock& home_of(const lockable_base& l) noexcept { return l.state_->home; }
  static const lock_defaults* defaults_of(const lockable_base& l) noexcept {
    return l.state_->defaults.get();
  }
  static turn* turn_of(const lease& l) noexcept { return l.turn_; }
  static turn* empty(lease& l) noexcept { return std::exchange(l.turn_, nullptr); }
};

}  // namespace holdfast::inline v0::detail
