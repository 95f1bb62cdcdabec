// The thread that drives an event loop when no caller does.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "io/network/leader_followers.hpp"

namespace holdfast::io {

// Asleep while there is nothing to do; wake() costs a system call only then. While awake, it checks
// after each nap: it writes what was collected, promotes a sleeping caller, or drives the loop
// itself when no caller has for one nap and a reply is awaited. It falls asleep after
// `naps_before_sleep` naps without work. A nap costs about 20 us of CPU time in a virtual machine,
// so naps grow longer while callers drive: what the last of several consecutive unlocks has
// collected may wait for `longest_nap`.
class background_driver final : private background_thread {
 public:
  static constexpr std::chrono::microseconds nap{150};  // with the kernel's timer slack of 50: 200
  static constexpr std::chrono::microseconds longest_nap{1200};
  static constexpr unsigned naps_before_sleep = 2;

  // Throws std::system_error when the thread cannot be started.
  background_driver(leader_followers&, engine&, const char* thread_name);
  background_driver(const background_driver&) = delete;
  background_driver& operator=(const background_driver&) = delete;
  ~background_driver();

  void wake() noexcept override;    // a request was collected, or a reply is awaited
  void attend() noexcept override;  // a reply is awaited, and perhaps no caller blocks for it

 private:
  static constexpr int awake = 0, napping = 1, asleep = 2;
  void run() noexcept;
  bool look() noexcept;
  void rest(int state) noexcept;
  void wake_from(int state) noexcept;

  leader_followers& leaders_;
  engine& engine_;
  pthread_t thread_{};
  std::atomic<int> state_{awake};
  std::atomic<bool> ending_{false};
  std::atomic<bool> attended_{false};
  std::atomic<bool> callers_drive_{false};  // a caller drove during the last nap
  std::uint64_t seen_ = 0;                  // taken_by_callers() at the last check
  base::duration next_nap_ = nap;
};

}  // namespace holdfast::io
