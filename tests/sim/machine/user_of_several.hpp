// A user of several locks at once, named in any order: all of them or none.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "multi/multi_acquire.hpp"
#include "tests/sim/machine/user.hpp"

namespace holdfast::sim {

class user_of_several final : public user {
 public:
  // `all`: the locks there are.
  user_of_several(world&, machine&, std::vector<detail::local_lock*> all, int number);
  void end() noexcept override;
  bool may_wait_for(int lock, bool surely) const noexcept override {
    return is_waiting() && (!surely || lock == awaited_in_turn());
  }

 private:
  struct taking final : detail::multi_acquire {
    taking(user_of_several& u, std::span<const asked> all, detail::wait_bound b)
        : multi_acquire(all, b), home(u) {}
    void step_answered() noexcept override { home.step_answered(); }
    using multi_acquire::had;
    user_of_several& home;
  };
  void ask() override;
  bool is_waiting() const noexcept override { return taking_.has_value(); }
  bool is_holding() const noexcept override { return !taking_ && !turns_.empty(); }
  int awaited_in_turn() const noexcept;
  std::string grant_of(const detail::turn&) const;
  moment last_attempt_max() const;
  void draw_wanted();
  void step_answered() noexcept;
  bool advance();
  void go_on();
  void leave();

  const std::vector<detail::local_lock*> all_;
  std::vector<int> wanted_;
  std::optional<taking> taking_;
  std::vector<detail::turn*> turns_;  // of those wanted, that it has so far
  std::vector<std::string> grants_;   // that it was given of each last
};

}  // namespace holdfast::sim
