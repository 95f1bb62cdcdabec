#include "io/real_environment.hpp"

#include <holdfast/clock.hpp>

#include <time.h>

#include "io/random.hpp"
#include "io/recording_file.hpp"
#include "io/thread_worker.hpp"
#include "io/timer_alarm.hpp"
#ifdef HOLDFAST_WITH_NETWORK
#include "base/network.hpp"
#include "io/network/event_loop.hpp"
#endif

namespace holdfast {
inline namespace v0 {

lease_clock::time_point lease_clock::now() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
}

std::chrono::system_clock::time_point lease_clock::to_sys(time_point t) noexcept {
  using of_day = std::chrono::system_clock;
  if (t == time_point::max()) return of_day::time_point::max();
  if (t == time_point::min()) return of_day::time_point::min();
  return of_day::now() + std::chrono::duration_cast<of_day::duration>(t - now());
}

}  // namespace v0
}  // namespace holdfast

namespace holdfast::io {
namespace {

class environment_of_linux final : public base::environment {
 public:
  base::time_point now() noexcept override { return lease_clock::now(); }
  base::time_point coarse_now() noexcept override {
    timespec t;
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return base::time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
  }
  std::chrono::microseconds wall() noexcept override {
    timespec t;
    ::clock_gettime(CLOCK_REALTIME, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_nsec / 1000};
  }
  void random(std::span<std::byte> out) noexcept override { fill_random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& target, const char* name) override {
    return std::make_unique<timer_alarm>(target, name);
  }
  std::unique_ptr<base::worker> make_worker(const char* name) override {
    return std::make_unique<thread_worker>(name);
  }
  std::unique_ptr<base::recording> make_recording(const base::recording_terms& terms,
                                                  base::failure& why) override {
    return make_recording_file(terms, why);
  }
#ifdef HOLDFAST_WITH_NETWORK
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& user, base::driven_by driver,
                                              const char* name) override {
    return make_event_loop(user, driver, name);
  }
#endif
};

}  // namespace

base::environment& real_environment() {
  static auto* const made = new environment_of_linux;  // never destroyed: leases may outlive main()
  return *made;
}

}  // namespace holdfast::io
