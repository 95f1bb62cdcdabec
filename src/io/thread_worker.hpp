// A queue of jobs with a thread of its own.
#pragma once
#include <memory>

#include "base/environment.hpp"

namespace holdfast::io {

// The thread starts at the first post(); post() throws std::system_error when there is no room for
// one. In a fork's child a worker of the parent is dead: jobs are dropped, and destroying waits for
// nothing.
class thread_worker final : public core::worker {
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
