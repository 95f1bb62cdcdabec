#include "io/timer_alarm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/quiet_thread.hpp"
#include "io/fork_mark.hpp"

namespace holdfast::io {

namespace {

// The least time between two alarms, so that thousands of timers a second cost hundreds of wake-ups
// and not thousands.
constexpr base::duration spacing = std::chrono::microseconds{500};

// The longest sleep without a timerfd; then timerfd_create() is tried again.
constexpr base::duration longest_nap = std::chrono::milliseconds{100};

}  // namespace

struct timer_alarm::state {
  static constexpr base::time_point rings_anyway = base::time_point::min();

  std::mutex mutex;
  base::time_point wanted = base::never;
  // The time set in the kernel; rings_anyway: the thread is awake.
  base::time_point armed = base::never;
  base::time_point quiet_until{};  // the last alarm plus the spacing
  bool started = false, stopping = false, logged = false;
  int fd = -1;                      // -1 while no descriptor is available
  std::condition_variable changed;  // wakes the thread while there is no timerfd
  pthread_t thread{};
  base::alarm_target* target = nullptr;
  std::string name;
  const std::uint32_t mark = fork_mark();

  ~state() {
    if (fd >= 0) ::close(fd);
  }
  void open() noexcept;
  void arm(base::time_point) noexcept;
  void sleep(std::unique_lock<std::mutex>&, base::time_point now, base::time_point next) noexcept;
  bool start(const std::shared_ptr<state>&) noexcept;
  void run() noexcept;
};

void timer_alarm::state::open() noexcept {
  if (fd < 0) fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
}

void timer_alarm::state::arm(base::time_point t) noexcept {
  armed = t;
  if (fd < 0) return changed.notify_one();
  itimerspec spec{};
  if (t != base::never) {
    const auto since = std::max(t.time_since_epoch(), base::duration{1});  // zero would disarm
    spec.it_value.tv_sec = static_cast<time_t>(since.count() / 1'000'000'000);
    spec.it_value.tv_nsec = static_cast<long>(since.count() % 1'000'000'000);
  }
  ::timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, nullptr);
}

bool timer_alarm::state::start(const std::shared_ptr<state>& self) noexcept {
  if (started) return true;
  open();
  started = base::start_quiet_thread(thread, name.c_str(), [kept = self] { kept->run(); });
  return started;
}

// Sleeps until `next` or an earlier time that is set meanwhile; may return early.
void timer_alarm::state::sleep(std::unique_lock<std::mutex>& lock, base::time_point now,
                               base::time_point next) noexcept {
  open();
  if (fd < 0) {
    armed = next;
    changed.wait_for(lock, std::min(next - now, longest_nap));
  } else {
    if (armed != next) arm(next);
    lock.unlock();
    std::uint64_t times;
    [[maybe_unused]] const auto n = ::read(fd, &times, sizeof times);
    lock.lock();
  }
  armed = rings_anyway;
}

void timer_alarm::state::run() noexcept {
  std::unique_lock lock(mutex);
  while (!stopping) {
    const base::time_point now = lease_clock::now();
    const base::time_point next = std::max(wanted, quiet_until);
    if (next <= now) {
      wanted = base::never;
      quiet_until = now + spacing;
      armed = rings_anyway;
      lock.unlock();
      target->on_alarm(now);
      lock.lock();
      continue;
    }
    sleep(lock, now, next);
  }
}

timer_alarm::timer_alarm(base::alarm_target& target, const char* thread_name)
    : state_(std::make_shared<state>()) {
  state_->target = &target;
  state_->name = thread_name;
}

bool timer_alarm::set(base::time_point t) noexcept {
  state& s = *state_;
  if (s.mark != fork_mark()) return true;
  std::unique_lock lock(s.mutex);
  s.wanted = t;
  const base::time_point next = std::max(t, s.quiet_until);
  if (next >= s.armed) return true;
  if (s.start(state_)) {
    s.arm(next);
    return true;
  }
  s.wanted = base::never;
  const bool is_known = std::exchange(s.logged, true);
  lock.unlock();
  if (!is_known)
    base::log(log_level::error,
              "no thread can be started for timers: leases are not renewed, losses not reported "
              "and timed waits refused; raise the limit of processes (ulimit -u)");
  return false;
}

timer_alarm::~timer_alarm() {
  state& s = *state_;
  if (s.mark != fork_mark()) {
    // The thread exists in the parent only, and the mutex may be locked here: leak the state.
    if (s.fd >= 0) ::close(s.fd);
    s.fd = -1;
    new std::shared_ptr<state>(std::move(state_));
    return;
  }
  {
    const std::lock_guard lock(s.mutex);
    s.stopping = true;
    if (!s.started) return;
    if (s.armed != state::rings_anyway) s.arm(base::time_point{});
  }
  base::end_quiet_thread(s.thread);
}

}  // namespace holdfast::io
