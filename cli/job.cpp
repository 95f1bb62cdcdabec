#include "cli/job.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/spawn_plan.hpp"

namespace holdfast::cli {

terminal::terminal() noexcept : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

bool terminal::belongs_to(pid_t group) const noexcept {
  return fd_ && ::tcgetpgrp(fd_.get()) == group;
}

bool terminal::belongs_to_us() const noexcept { return belongs_to(::getpgrp()); }

void terminal::give_to(pid_t group) const noexcept {
  if (fd_) ::tcsetpgrp(fd_.get(), group);
}

void terminal::take_back() const noexcept { give_to(::getpgrp()); }

void terminal::remember_modes() noexcept {
  remembered_ = fd_ && ::tcgetattr(fd_.get(), &modes_) == 0;
}

void terminal::restore_modes() const noexcept {
  if (remembered_) ::tcsetattr(fd_.get(), TCSANOW, &modes_);
}

int job::start(const job_plan& plan) {
  // In a pipeline the others may need the terminal (... | less): then the command gets it only
  // when it asks for it, by a stop on SIGTTIN or SIGTTOU.
  const bool ours = terminal_.belongs_to_us();
  const bool foreground = ours && ::isatty(STDOUT_FILENO) != 0;
  if (ours) terminal_.remember_modes();
  const int error = spawn(plan, foreground);
  if (error != 0 && foreground) terminal_.take_back();
  if (error == 0 && foreground && !spawn_plan::takes_foreground) {
    terminal_.give_to(group_);
    signal_group(group_, SIGCONT);  // the command has stopped if it used the terminal before
  }
  return error;
}

int job::spawn(const job_plan& plan, bool foreground) {
  spawn_plan setup;
  setup.set_flags(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  setup.set_mask(signals_.mask_of_caller());
  if (foreground) setup.take_foreground_of(terminal_.fd());
  for (const int lock : plan.inherited_locks) setup.keep(lock);
  if (plan.page) setup.keep(plan.page->fd());
  char** const environment = plan.environment->get();
  const bool ignore_children = signals_.caller_ignored_children();
  if (!plan.page && !ignore_children)
    return setup.start(group_, plan.command[0], plan.command, environment);

  auto words = gate_words(plan.page ? plan.page->fd() : -1, ignore_children);
  for (char** word = plan.command; *word; ++word) words.emplace_back(*word);
  return setup.start(group_, own_program, pointers_to(words).data(), environment);
}

void job::signal(int number) noexcept {
  forwarded_ = true;
  signal_group(group_, number);
}

void job::carry_on() noexcept {
  if (terminal_.belongs_to_us()) terminal_.give_to(group_);
  forwarded_ = false;
  signal_group(group_, SIGCONT);
}

std::optional<int> job::ended() noexcept {
  siginfo_t info{};
  const auto id = static_cast<id_t>(group_);
  if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return {};
  if (info.si_code == CLD_EXITED) return info.si_status;
  killed_by_ = info.si_status;
  return exit_by_signal + info.si_status;
}

void job::reap() noexcept {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(group_), &info, WEXITED | WNOHANG);
}

bool job::stop_with_it() noexcept {
  siginfo_t info{};
  const int which = WSTOPPED | WCONTINUED | WNOHANG;
  if (::waitid(P_PID, static_cast<id_t>(group_), &info, which) != 0 || info.si_pid == 0)
    return false;
  if (info.si_code != CLD_STOPPED) return false;
  const bool for_terminal = info.si_status == SIGTTIN || info.si_status == SIGTTOU;
  if (for_terminal && terminal_.belongs_to_us()) return true;
  const bool had_terminal = terminal_.belongs_to(group_);
  if (had_terminal) terminal_.take_back();
  // A script that runs us does not watch for our stop: the shell above must see the script stop.
  if (had_terminal && !forwarded_ && info.si_status != SIGSTOP) ::kill(0, info.si_status);
  ::kill(::getpid(), SIGSTOP);
  return false;
}

void job::leave_terminal() noexcept {
  if (!terminal_.belongs_to(group_)) return;
  terminal_.take_back();
  if (killed_by_ == 0) return;
  terminal_.restore_modes();
  const bool interrupted = killed_by_ == SIGINT || killed_by_ == SIGQUIT;
  if (interrupted && !forwarded_) ::kill(0, killed_by_);
}

}  // namespace holdfast::cli
