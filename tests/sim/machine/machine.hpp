// One process of a client: its clock, its alarms, its connections. All that happens in it comes as
// an event, which is held back while the process is stopped and never comes when it is gone.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/network.hpp"
#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

class world;
class pipe;

class machine final : public core::environment {
 public:
  // `rate`: of its clock, to true time.
  machine(world&, int number, double rate, core::duration offset);

  core::time_point now() noexcept override { return local(true_now()); }
  std::chrono::microseconds wall() noexcept override;
  void random(std::span<std::byte>) noexcept override;
  core::process_identity process() override;
  std::unique_ptr<core::alarm> make_alarm(core::alarm_target&, const char*) override;
  std::unique_ptr<core::worker> make_worker(const char*) override;
  std::unique_ptr<core::event_loop> make_loop(core::loop_user&, core::driven_by,
                                              const char*) override;

  void post(moment at, timeline::deed);  // an event of this process
  void stop_process();
  void resume();
  void die() noexcept;
  bool is_paused() const noexcept { return pauses_ > 0; }
  moment resumed_at() const noexcept { return resumed_at_; }  // last
  bool is_dead() const noexcept { return dead_; }

  moment true_now() const noexcept;
  core::time_point local(moment) const noexcept;
  moment when(core::time_point) const noexcept;  // never earlier
  int number() const noexcept { return number_; }
  world& home() noexcept { return world_; }
  std::string client;  // its id, once it listens to messages
  std::vector<std::shared_ptr<pipe>>& pipes() noexcept { return pipes_; }  // made so far

 private:
  world& world_;
  const int number_;
  const double rate_;
  const core::duration offset_;
  int pauses_ = 0;
  moment resumed_at_{};
  bool dead_ = false;
  std::deque<timeline::deed> held_back_;
  std::vector<std::shared_ptr<pipe>> pipes_;
};

}  // namespace holdfast::sim
