// The thread that drives a loop of events when no caller does.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "io/network/leader_followers.hpp"

namespace holdfast::io {

// Asleep while there is nothing to do; rouse() costs a system call only then. Awake it looks after
// each nap: has what was collected written, lets a sleeping caller drive, or drives itself when
// nobody has for a nap and something is expected. Sleeps again after `patience` naps without work.
// A nap costs about 20 us of a core in a virtual machine, so naps grow longer while callers drive:
// what the last of many unlocks in a row has collected may wait for `longest_nap`.
class background_driver final : private background_thread {
 public:
  static constexpr std::chrono::microseconds nap{150};  // with the timers' slack of 50: 200
  static constexpr std::chrono::microseconds longest_nap{1200};
  static constexpr unsigned patience = 2;

  background_driver(leader_followers&, engine&,
                    const char* thread_name);  // throws std::system_error: no room
  background_driver(const background_driver&) = delete;
  background_driver& operator=(const background_driver&) = delete;
  ~background_driver();

  void wake() noexcept override;    // something was collected, or is expected
  void attend() noexcept override;  // something is expected and perhaps nobody waits for it

 private:
  static constexpr int awake = 0, napping = 1, asleep = 2;
  void run() noexcept;
  bool look() noexcept;
  void rest(int how) noexcept;
  void wake_from(int least) noexcept;

  leader_followers& baton_;
  engine& engine_;
  pthread_t thread_{};
  std::atomic<int> state_{awake};
  std::atomic<bool> ending_{false};
  std::atomic<bool> attended_{false};
  std::atomic<bool> callers_drive_{false};  // did in the last nap
  std::uint64_t seen_ = 0;                  // taken_by_callers() at the last look
  core::duration next_nap_ = nap;
};

}  // namespace holdfast::io
