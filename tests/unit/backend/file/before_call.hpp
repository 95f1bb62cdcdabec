// Lets a test act as another process just before a system call of its own thread.
#pragma once
#include <functional>

namespace holdfast::file {

enum class system_call { mkdir, sched_yield };

// While it lives, `act` is called before each such call of this thread.
class before_call {
 public:
  before_call(system_call, std::function<void()> act);
  ~before_call();
  before_call(const before_call&) = delete;
  before_call& operator=(const before_call&) = delete;

 private:
  const system_call call_;
  const std::function<void()> act_;
};

}  // namespace holdfast::file
