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
  moment waits_alone_since(int lock) const noexcept override;
  moment release_exceeds(moment now) const noexcept override;
  bool may_wait_for(int lock, bool) const noexcept override {
    return lock == lock_ && is_waiting();
  }

 private:
  struct call final : cohort::waiter {
    explicit call(user_of_one& u) noexcept : home(u) {}
    void complete() noexcept override { home.answered(); }
    user_of_one& home;
  };
  struct releasing final : cohort::confirmation {
    releasing(user_of_one& u, moment now) noexcept : home(u), began(now) {}
    void complete() noexcept override;
    user_of_one& home;
    const moment began;
    bool is_answered = false;
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
  std::optional<releasing> release_;  // the last one that was waited for
};

}  // namespace holdfast::sim
