// Threads for blocking calls: one for each call in progress.
#pragma once
#include <chrono>
#include <memory>

#include "backend/file/interrupter.hpp"

namespace holdfast::file {

class blocking_job {
 public:
  virtual void block(interrupter&) = 0;  // until it is decided
  virtual void answer() = 0;             // afterwards; the job may be gone when it returns
  virtual void stop() noexcept = 0;      // from another thread: block() must return soon

 protected:
  ~blocking_job() = default;
};

// A thread starts when no idle one is left and ends after ten idle seconds. It handles none of the
// program's signals. Safe from any thread.
class waiter_threads {
 public:
  waiter_threads();
  ~waiter_threads();  // after close(), or in a fork's child, where it does nothing

  bool post(blocking_job&) noexcept;  // false: no thread can be started, or it is closed
  // Stops every job, which is answered, and waits for that, at most `at_most`.
  void close(std::chrono::nanoseconds at_most) noexcept;
  void forked() noexcept;  // in a fork's child: the threads do not exist there

 private:
  struct shared;
  static void run(shared&);
  std::shared_ptr<shared> shared_;
};

}  // namespace holdfast::file
