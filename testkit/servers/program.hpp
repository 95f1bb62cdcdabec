// A program that a test starts, and that does not outlive it.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::testkit {

struct program_terms {
  std::vector<std::string> argv;                                   // argv[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  // set beside what is inherited
  std::string output{};  // standard output and error go to this file; empty: where ours go
  int input_from = -1;   // a descriptor to be its standard input; -1: ours
  int output_to = -1;    // a descriptor to be its standard output alone; -1: see `output`
};

// The destructor kills it. So does the kernel when the thread that started it ends, however it
// ends: start it on a thread that lives as long as it. One thread at a time.
class program {
 public:
  explicit program(const program_terms&);  // throws std::system_error
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  pid_t pid() const noexcept { return pid_; }
  bool running();  // false when it has ended; then it is reaped too
  void stop();     // SIGSTOP; returns when it is stopped
  void go_on();    // SIGCONT
  void signal(int);
  void kill();  // SIGKILL; returns when it is gone
  // Its exit status, or 128 + the signal that ended it; -1: has not ended within the bound.
  int wait(std::chrono::milliseconds bound);
  // Whether it answers within the bound, and before it ends.
  bool comes_up(const std::function<bool()>& answers, std::chrono::milliseconds bound);

 private:
  pid_t pid_ = -1;
  int status_ = -1;
};

// Runs it to its end: its exit status. Throws std::runtime_error after half a minute.
int run_program(const program_terms&);

bool is_installed(const std::string& command);  // in PATH

}  // namespace holdfast::testkit
