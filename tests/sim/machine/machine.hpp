// One process of a client: its clock, its alarms, its connections. All that happens in it comes as
// an event, which is held back while the process is stopped and never comes when it is gone.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/caller_driver.hpp"
#include "base/network.hpp"
#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

class world;
class pipe;

class machine final : public base::environment, private deed_gate {
 public:
  // `rate`: of its clock, to true time.
  machine(world&, int number, double rate, base::duration offset);

  base::time_point now() noexcept override;
  std::chrono::microseconds wall() noexcept override;
  void random(std::span<std::byte>) noexcept override;
  base::process_identity process() override;
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target&, const char*) override;
  std::unique_ptr<base::worker> make_worker(const char*) override;
  std::unique_ptr<base::event_loop> make_loop(base::loop_user&, base::driven_by,
                                              const char*) override;

  void post(moment at, deed);  // an event of this process
  // A thread of it blocks until its client is closed; it plays the world meanwhile.
  void begin_closing() noexcept { closes_ = true; }
  void end_closing() noexcept { closes_ = false; }
  base::caller_driver* driver() noexcept { return closes_ ? &driver_ : nullptr; }
  void note_black_hole(int more) noexcept { black_holes_ += more; }
  bool is_connected() const;     // each connection that it needs leads to the server
  bool awaits_renewals() const;  // it has had a connection for them, and has no sound one
  bool has_black_hole() const noexcept { return black_holes_ > 0; }  // among its connections
  void stop_process();
  void stop_with_its_clock();
  void resume();  // one of the two
  void die() noexcept;
  bool is_paused() const noexcept { return pauses_ > 0; }
  moment resumed_at() const noexcept { return resumed_at_; }  // last
  bool clock_stands() const noexcept { return stands_since_.has_value(); }
  moment stood() const noexcept { return stood_; }  // for how long its clock has, in all
  bool is_dead() const noexcept { return dead_; }

  moment true_now() const noexcept;
  base::time_point local(moment) const noexcept;  // while its clock goes
  moment when(base::time_point) const noexcept;   // never earlier
  int number() const noexcept { return number_; }
  world& home() noexcept { return world_; }
  std::string client;  // its id, once it listens to messages
  std::vector<std::shared_ptr<pipe>>& pipes() noexcept { return pipes_; }  // made so far

 private:
  struct closing_driver final : base::caller_driver {
    explicit closing_driver(world& w) noexcept : home(w) {}
    void run_until_signalled(base::parker&) override;
    void sleep_until_signalled(base::follower&) override {}  // no thread waits for another one
    void enlist(base::follower&) noexcept override {}
    void attend() noexcept override {}
    world& home;
  };

  bool admits(deed&) override;
  bool needs_messages() const;

  world& world_;
  closing_driver driver_;
  const int number_;
  const double rate_;
  const base::duration offset_;
  int pauses_ = 0, black_holes_ = 0;
  moment resumed_at_{}, stood_{};
  std::optional<moment> stands_since_;  // its clock
  bool dead_ = false, closes_ = false;
  std::deque<deed> held_back_;
  std::vector<std::shared_ptr<pipe>> pipes_;
};

}  // namespace holdfast::sim
