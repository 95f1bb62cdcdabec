// Threads for calls that block: one for each that is under way.
#pragma once
#include <chrono>
#include <memory>

#include "backend/file/interrupter.hpp"

namespace holdfast::file {

class blocking_job {
 public:
  virtual void block(interrupter&) = 0;  // until it is decided
  virtual void answer() = 0;             // afterwards; the job may be gone when it returns
  virtual void stop() noexcept = 0;      // from another thread: block() is to return soon

 protected:
  ~blocking_job() = default;
};

// Threads start when no idle one is left and end after ten idle seconds. They take no signal of the
// program's. Safe from any thread.
class waiter_threads {
 public:
  waiter_threads();
  ~waiter_threads();  // after close(), or in a fork's child, where it does nothing

  bool post(blocking_job&) noexcept;  // false: no thread is to be had, or closed
  // Stops every job, which is answered, and waits for it, at most so long.
  void close(std::chrono::nanoseconds at_most) noexcept;
  void forked() noexcept;  // in a fork's child: there are no threads

 private:
  struct shared;
  static void* run(void*);
  std::shared_ptr<shared> shared_;
};

}  // namespace holdfast::file
