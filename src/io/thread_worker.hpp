// A queue of jobs with one thread of its own.
#pragma once
#include <memory>

#include "base/environment.hpp"

namespace holdfast::io {

// The thread starts at the first post(), which throws std::system_error when it cannot be started.
// In a fork's child the parent's worker is dead: jobs are dropped, and the destructor waits for
// nothing.
class thread_worker final : public base::worker {
 public:
  explicit thread_worker(const char* thread_name);
  thread_worker(const thread_worker&) = delete;
  thread_worker& operator=(const thread_worker&) = delete;
  ~thread_worker() override;
  void post(std::function<void()>) override;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace holdfast::io
