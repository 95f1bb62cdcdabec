// How a thread that waits for the store drives the I/O of its client meanwhile.
#pragma once

namespace holdfast::core {

// A blocked caller may lend its thread to the backend's I/O: one that awaits the store leads the
// loop of events. One that waits for another thread of its client only sleeps.
class parker;     // base/parker.hpp
struct follower;  // base/follower.hpp
class caller_driver {
 public:
  virtual void run_until_signalled(parker&) = 0;      // the caller awaits the store
  virtual void sleep_until_signalled(follower&) = 0;  // it does once it is enlisted
  // From any thread, before the parker is signalled. The follower's thread must come to
  // sleep_until_signalled() after that, even with its answer: it may have been made the leader.
  virtual void enlist(follower&) noexcept = 0;
  // An answer is awaited by somebody who does not block. What was collected for it is written.
  virtual void attend() noexcept = 0;

 protected:
  ~caller_driver() = default;
};

}  // namespace holdfast::core
