// Programs that a test of the command line starts and watches.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "testkit/eventually.hpp"

namespace holdfast::cli_test {

inline constexpr std::chrono::seconds wait_limit{60};  // far above what anything here takes

inline bool eventually(const std::function<bool()>& fact) {
  return testkit::eventually(fact, wait_limit);
}

struct ending {
  int code = -1;   // of exit, else -1
  int signal = 0;  // that ended it, else 0
  bool operator==(const ending&) const = default;
};

struct start_options {
  std::map<std::string, std::string> environment;  // in addition; an empty value takes one away
  std::vector<int> ignored_signals;
  std::vector<int> blocked_signals;
  bool on_terminal = false;  // the three standard streams are a pseudo-terminal of its own
  unsigned short rows = 24;  // of the terminal
};

// A program in a session of its own, so that nothing here reaches the terminal of whoever tests.
// Killed at the end of the scope.
class process {
 public:
  process(std::vector<std::string> command, const start_options& = {});
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  std::string out() const;  // what it has written by now; on a terminal all that was shown
  std::string err() const;
  std::string line();             // the next whole line of out(); "" after wait_limit
  void type(const std::string&);  // into its standard input
  void end_input();
  void signal(int number) const;
  ending wait();  // {-1, 0} after wait_limit, with what it is at on standard error

  pid_t foreground_group() const;  // of its terminal

 private:
  int input_ = -1, out_ = -1, err_ = -1, terminal_ = -1;
  pid_t pid_ = -1;
  std::size_t read_ = 0;
  mutable std::string shown_;
  ending ending_;
  bool waited_ = false;
};

// "holdfast" of $HOLDFAST_BIN with these arguments.
std::vector<std::string> holdfast(std::vector<std::string> arguments);
// The same program, which accepts memory: as well.
std::vector<std::string> holdfast_over_memory(std::vector<std::string> arguments);

char state_of(pid_t);   // as in ps: R, S, T, Z ...; 0 when there is none
bool has_ended(pid_t);  // gone or a zombie
int threads_of(pid_t);
std::string file_text(const std::string& path);

// Whatever the programs of a test have left behind is a child of this process; ends all of it.
void adopt_orphans();
void end_orphans();

}  // namespace holdfast::cli_test
