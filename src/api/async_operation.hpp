// What is begun through holdfast/asio.hpp, and how its answer is told.
#pragma once
#include <holdfast/async.hpp>

#include <memory>

#include "api/lockable_state.hpp"
#include "cohort/client_impl.hpp"

namespace holdfast::inline v0::detail {

// What can be withdrawn. Lives until it is answered, and as long as somebody may withdraw it.
class async_operation {
 public:
  virtual ~async_operation() = default;
  virtual void begin(std::shared_ptr<async_operation> self) = 0;  // it is kept until the answer
  virtual void withdraw() noexcept = 0;  // by a thread of the user's; waits no more

  // The last reference to a client must not go on a thread that tells the client's own events: with
  // the answer it goes to the user, or to a thread of its own.
  static void tell(const std::shared_ptr<async_answer>& to, std::error_code, turn* granted,
                   client_impl&, std::shared_ptr<void> to_end) noexcept;

  static local_lock& home_of(const lockable_base& l) noexcept { return l.state_->home; }
  static const lock_defaults* defaults_of(const lockable_base& l) noexcept {
    return l.state_->defaults.get();
  }
  static turn* turn_of(const lease& l) noexcept { return l.turn_; }
  static turn* empty(lease& l) noexcept { return std::exchange(l.turn_, nullptr); }
};

}  // namespace holdfast::inline v0::detail
