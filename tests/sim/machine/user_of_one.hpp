// A user of one lock, or of some of its permits.
#pragma once
#include <optional>

#include "cohort/local_lock.hpp"
#include "tests/sim/machine/user.hpp"

namespace holdfast::sim {

class user_of_one final : public user {
 public:
  user_of_one(world&, machine&, detail::local_lock&, int number, int lock);
  void end() noexcept override;
  bool may_wait_for(int lock, bool) const noexcept override {
    return lock == lock_ && is_waiting();
  }

 private:
  struct call final : core::waiter {
    explicit call(user_of_one& u) noexcept : home(u) {}
    void complete() noexcept override { home.answered(); }
    user_of_one& home;
  };
  void ask() override;
  bool is_waiting() const noexcept override { return call_ && !answered_; }
  bool is_holding() const noexcept override { return call_ || turn_; }
  void answered() noexcept;
  void hear();
  void downgrade();
  void leave();

  detail::local_lock& slot_;
  const int lock_;
  std::optional<call> call_;
  bool answered_ = false;
  detail::turn* turn_ = nullptr;
};

}  // namespace holdfast::sim
