// The command under the lock: a process group of its own, treated as a shell treats a job.
#pragma once
#include <sys/types.h>
#include <termios.h>

#include <optional>
#include <vector>

#include "cli/deadline_page.hpp"
#include "cli/file_descriptor.hpp"
#include "cli/job_environment.hpp"
#include "cli/signal_inbox.hpp"

namespace holdfast::cli {

// The controlling terminal, as far as a shell cares for it.
class terminal {
 public:
  terminal() noexcept;  // there may be none: then nothing below does anything

  int fd() const noexcept { return fd_.get(); }
  bool belongs_to(pid_t group) const noexcept;  // it is the foreground group
  bool belongs_to_us() const noexcept;
  void give_to(pid_t group) const noexcept;  // SIGTTOU must be blocked
  void take_back() const noexcept;           // for our own group

  void remember_modes() noexcept;
  void restore_modes() const noexcept;  // what a job that was killed left behind

 private:
  file_descriptor fd_;
  termios modes_{};
  bool remembered_ = false;
};

struct job_plan {
  char** command;
  job_environment* environment;
  std::vector<int> inherited_locks;   // descriptors that the job keeps open
  const shared_page* page = nullptr;  // the guardian's, when there is one
};

class job {
 public:
  explicit job(const signal_inbox& signals) : signals_(signals) {}
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  int start(const job_plan&);  // an errno; 0 when it runs

  pid_t group() const noexcept { return group_; }
  void signal(int number) noexcept;                   // to all of the group
  void note_signal() noexcept { forwarded_ = true; }  // it was signalled for us
  void carry_on() noexcept;  // SIGCONT, with the foreground when that is ours to give

  // The exit code once the command has ended; its group's number stays reserved until reap().
  std::optional<int> ended() noexcept;
  void reap() noexcept;

  // When the command has been stopped since the last call: stops this process too, as a shell sees
  // its job stop, and returns when it was continued. True when instead it was stopped for want of
  // the terminal, which is ours to give: it is to carry on at once.
  bool stop_with_it() noexcept;

  // Takes the terminal back. When the terminal ended the command (Ctrl-C), the rest of our own
  // group hears it too: the script around us would have, had the command been in its group.
  void leave_terminal() noexcept;

 private:
  int spawn(const job_plan&, bool foreground);

  const signal_inbox& signals_;
  terminal terminal_;
  pid_t group_ = 0;
  int killed_by_ = 0;
  bool forwarded_ = false;  // a signal came from us, not from the terminal
};

}  // namespace holdfast::cli
