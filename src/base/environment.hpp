// Everything the library takes from outside: the clock, random numbers, alarms, connections.
// Nothing else in src/ reads a clock, sleeps, draws a random number or opens a socket. src/io/ has
// the real environment, tests/ one whose clock the test moves.
#pragma once
#include <holdfast/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace holdfast::base {

using time_point = lease_clock::time_point;
using duration = lease_clock::duration;
inline constexpr time_point never = time_point::max();

// now + d, or never.
constexpr time_point saturating_add(time_point now, duration d) noexcept {
  return d >= never - now ? never : now + d;
}

struct failure;  // base/failure.hpp

class alarm_target {
 public:
  virtual void on_alarm(time_point now) = 0;

 protected:
  ~alarm_target() = default;
};

// One wake-up call. on_alarm() is called on a thread of the environment, at or soon after the time
// set and never before it; two calls never overlap. The destructor waits for a call in progress.
class alarm {
 public:
  virtual ~alarm() = default;
  // Replaces the time set before; `never` cancels. False: no thread can be started for the alarm,
  // and nothing is set. Once a time has been set the thread exists, and set() always succeeds.
  virtual bool set(time_point) noexcept = 0;
};

// A queue of jobs with one thread of its own; jobs run in order. The destructor runs what is queued
// and joins the thread; called from one of its own jobs, it detaches the thread instead.
class worker {
 public:
  virtual ~worker() = default;
  virtual void post(std::function<void()>) = 0;
};

class recording;  // base/recording.hpp
struct recording_terms;

class event_loop;  // base/network.hpp
class loop_user;
enum class driven_by;

struct process_identity {  // shown by inspect() for a lock that this process holds
  std::string host;        // of the machine; empty when it has none
  std::int64_t pid = 0;
};

class environment {
 public:
  virtual ~environment() = default;
  virtual time_point now() noexcept = 0;  // CLOCK_BOOTTIME
  // A clock that is cheap to read, for recordings: it never runs backwards and is the same for
  // all processes, but moves in steps of a few milliseconds. CLOCK_MONOTONIC_COARSE.
  virtual time_point coarse_now() noexcept { return now(); }
  virtual duration ahead() noexcept { return {}; }         // how far it runs ahead of lease_clock
  virtual std::chrono::microseconds wall() noexcept = 0;   // since 1970, CLOCK_REALTIME
  virtual void random(std::span<std::byte>) noexcept = 0;  // unpredictable, never repeats
  virtual std::unique_ptr<alarm> make_alarm(alarm_target&, const char* thread_name) = 0;
  virtual std::unique_ptr<worker> make_worker(const char* thread_name) = 0;
  virtual process_identity process();  // default: gethostname() and getpid()
  // Null: nothing is recorded; `why` has a code where that is a failure.
  virtual std::unique_ptr<recording> make_recording(const recording_terms&, failure& why);
  // Null: this environment has no network.
  virtual std::unique_ptr<event_loop> make_loop(loop_user&, driven_by, const char* thread_name);
};

environment& system_environment();  // the real one, src/io/real_environment.hpp

inline std::uint64_t random_u64(environment& env) noexcept {
  std::uint64_t n;
  env.random(std::as_writable_bytes(std::span(&n, 1)));
  return n;
}
// `d` plus or minus up to `share` of it, so that many clients do not act at the same moment.
duration jittered(environment&, duration d, double share) noexcept;

}  // namespace holdfast::base
