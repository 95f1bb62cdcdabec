// What the library takes from the outside: the clock, random numbers, alarms, connections. Nothing
// else in src/ reads a clock, sleeps, draws a random number or opens a socket. src/io/ has the real
// one, tests/ one whose clock is moved by hand.
#pragma once
#include <holdfast/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace holdfast::core {

using time_point = lease_clock::time_point;
using duration = lease_clock::duration;
inline constexpr time_point never = time_point::max();

// now + d, or never.
constexpr time_point saturating_add(time_point now, duration d) noexcept {
  return d >= never - now ? never : now + d;
}

class alarm_target {
 public:
  virtual void on_alarm(time_point now) = 0;

 protected:
  ~alarm_target() = default;
};

// One wake-up call. on_alarm() comes on a thread of the environment, at or soon after the time set
// and never before it; two calls never overlap. Destroying waits for a call that is under way.
class alarm {
 public:
  virtual ~alarm() = default;
  // Replaces what was set; `never` cancels. False: there is no room for the thread that would ring,
  // and nothing is set. An alarm that was set to a time once has its thread, and is always set.
  virtual bool set(time_point) noexcept = 0;
};

// A queue of jobs with one thread of its own, in order. Destroying runs what is queued and ends the
// thread; from a job of its own it only lets the thread end by itself.
class worker {
 public:
  virtual ~worker() = default;
  virtual void post(std::function<void()>) = 0;
};

class event_loop;  // base/network.hpp
class loop_user;
enum class driven_by;

struct process_identity {  // shown to whoever inspects a lock that this process holds
  std::string host;        // of the machine; empty when it has none
  std::int64_t pid = 0;
};

class environment {
 public:
  virtual ~environment() = default;
  virtual time_point now() noexcept = 0;                   // CLOCK_BOOTTIME
  virtual duration ahead() noexcept { return {}; }         // of lease_clock, by so much
  virtual std::chrono::microseconds wall() noexcept = 0;   // since 1970, CLOCK_REALTIME
  virtual void random(std::span<std::byte>) noexcept = 0;  // unpredictable, never repeats
  virtual std::unique_ptr<alarm> make_alarm(alarm_target&, const char* thread_name) = 0;
  virtual std::unique_ptr<worker> make_worker(const char* thread_name) = 0;
  virtual process_identity process();  // default: gethostname() and getpid()
  // Null: this environment has no network.
  virtual std::unique_ptr<event_loop> make_loop(loop_user&, driven_by, const char* thread_name);
};

environment& system_environment();  // the real one, src/io/real_environment.hpp

std::uint64_t random_u64(environment&) noexcept;
// d plus or minus up to `share` of it, so that many do not do the same thing at the same time.
duration jittered(environment&, duration d, double share) noexcept;

}  // namespace holdfast::core
