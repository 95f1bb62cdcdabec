#include "io/real_environment.hpp"

#include <time.h>

#include "io/random.hpp"
#include "io/thread_worker.hpp"
#include "io/timer_alarm.hpp"
#ifdef HOLDFAST_WITH_NETWORK
#include "base/network.hpp"
#include "io/network/event_loop.hpp"
#endif

namespace holdfast::io {
namespace {

class environment_of_linux final : public core::environment {
 public:
  core::time_point now() noexcept override { return lease_clock::now(); }
  std::chrono::microseconds wall() noexcept override {
    timespec t;
    ::clock_gettime(CLOCK_REALTIME, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_nsec / 1000};
  }
  void random(std::span<std::byte> out) noexcept override { fill_random(out); }
  std::unique_ptr<core::alarm> make_alarm(core::alarm_target& target, const char* name) override {
    return std::make_unique<timer_alarm>(target, name);
  }
  std::unique_ptr<core::worker> make_worker(const char* name) override {
    return std::make_unique<thread_worker>(name);
  }
#ifdef HOLDFAST_WITH_NETWORK
  std::unique_ptr<core::event_loop> make_loop(core::loop_user& user, core::driven_by how,
                                              const char* name) override {
    return make_event_loop(user, how, name);
  }
#endif
};

}  // namespace

core::environment& real_environment() {
  static auto* const made = new environment_of_linux;  // never destroyed: leases may outlive main()
  return *made;
}

}  // namespace holdfast::io
