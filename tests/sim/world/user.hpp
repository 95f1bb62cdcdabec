// Who wants a lock: asks, holds it for a while, lets go, and asks again.
#pragma once
#include <optional>

#include "core/slot.hpp"
#include "tests/sim/world/timeline.hpp"

namespace holdfast::sim {

class world;
class machine;

class user {
 public:
  user(world&, machine&, detail::slot&, int number, int lock);

  void begin();         // after a while
  void end() noexcept;  // whatever it does; for good
  bool is_served() const noexcept { return rounds_left_ <= 0 && !is_busy(); }
  bool is_busy() const noexcept { return call_ || turn_; }
  void one_more();  // a round
  // Has waited for so long, counted from `since` on at most.
  moment waits(moment now, moment since) const noexcept;

 private:
  struct call final : core::waiter {
    explicit call(user& u) noexcept : home(u) {}
    void complete() noexcept override { home.answered(); }
    user& home;
  };
  void after(moment wait, void (user::*what)());
  void ask();
  void answered() noexcept;
  void hear();
  void downgrade();
  void leave();

  world& world_;
  machine& machine_;
  detail::slot& slot_;
  const int number_, lock_;
  int rounds_left_;
  std::chrono::milliseconds ttl_;
  int attempt_ = 0;
  bool over_ = false, planned_ = false;
  std::optional<call> call_;
  bool answered_ = false;
  moment asked_{};
  detail::turn* turn_ = nullptr;
};

}  // namespace holdfast::sim
