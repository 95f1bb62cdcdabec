// Programs that a row starts.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace bench {

// A running child; the destructor kills and reaps it when nobody has waited for it.
class child_process {
 public:
  // Starts argv[0], looked up in PATH. `output`: its standard output, -1: ours. Throws
  // std::system_error.
  explicit child_process(const std::vector<std::string>& argv, int output = -1);
  ~child_process();
  child_process(child_process&&) noexcept;
  child_process& operator=(child_process&&) = delete;

  // Waits for its end: its exit status, or 128 + the signal that ended it.
  int wait();
  // The same within a bound; -1 when it has not ended by then.
  int wait_for(std::chrono::milliseconds);

 private:
  pid_t pid_;
};

std::string own_program();  // the path of this very program

}  // namespace bench
