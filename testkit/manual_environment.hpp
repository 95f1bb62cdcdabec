// An environment for tests, whose clock stands still until a test moves it.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/environment.hpp"

namespace holdfast::testkit {

// Alarms run on the thread that calls advance(), in the order of their times (of equal times: in
// the order of their set()), each with the clock standing at its time; jobs of workers run in the
// order of their post(). Other threads may use it meanwhile, but only one moves the clock. Outlives
// the alarms and workers that it made.
class manual_environment final : public base::environment {
 public:
  explicit manual_environment(std::uint64_t seed = 1);
  ~manual_environment() override;

  base::time_point now() noexcept override;             // starts at 1,000 s
  std::chrono::microseconds wall() noexcept override;   // starts at 1,700,000,000 s and moves along
  void random(std::span<std::byte>) noexcept override;  // the same for the same seed and calls
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target&, const char* thread_name) override;
  std::unique_ptr<base::worker> make_worker(const char* thread_name) override;

  // Moves the clock, rings what is due by then and runs the jobs, until neither is left. Zero runs
  // what is due now.
  void advance(base::duration);
  // Moves the clock to the next alarm, as advance() does; false when none is set.
  bool advance_to_next_alarm();
  // Moves the clock and rings nothing: what a stopped process, or a suspended machine, finds when
  // it goes on. A following advance() rings what is overdue, with the clock as it is then.
  void freeze(base::duration);
  // Runs the jobs that are queued and those they post; how many there were.
  std::size_t run_jobs();
  void set_wall(std::chrono::microseconds since_1970);  // as an operator or NTP steps it

  // While there are none, an alarm that was never set cannot be set.
  void have_threads(bool);

  base::time_point next_alarm() const;  // never: none is set
  std::size_t alarms_set() const;

 private:
  struct state;
  class manual_alarm;
  class manual_worker;
  std::shared_ptr<state> state_;
};

}  // namespace holdfast::testkit
