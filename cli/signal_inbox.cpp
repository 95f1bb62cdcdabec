#include "cli/signal_inbox.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {
namespace {

bool ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

signal_inbox::signal_inbox() {
  sigset_t wanted, blocked;
  ::sigemptyset(&wanted);
  // A blocked signal is queued even when it is ignored, so those must not be asked for.
  for (const int signal : ending_signals)
    if (!ignored(signal)) ::sigaddset(&wanted, signal);
  if (!ignored(SIGTSTP)) ::sigaddset(&wanted, SIGTSTP);
  ::sigaddset(&wanted, SIGCONT);
  ::sigaddset(&wanted, SIGCHLD);
  blocked = wanted;
  for (const int signal : {SIGTTIN, SIGTTOU, SIGPIPE}) ::sigaddset(&blocked, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_of_caller_);
  // While SIGCHLD is ignored, the kernel throws the exit codes of children away.
  caller_ignored_children_ = ignored(SIGCHLD);
  if (caller_ignored_children_) ::signal(SIGCHLD, SIG_DFL);
  fd_ = file_descriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw std::system_error(errno, std::generic_category(), "signalfd");
}

int signal_inbox::next() noexcept {
  signalfd_siginfo got;
  return ::read(fd_.get(), &got, sizeof got) == sizeof got ? static_cast<int>(got.ssi_signo) : 0;
}

void stop_by(int signal) noexcept {
  sigset_t just_this;
  ::sigemptyset(&just_this);
  ::sigaddset(&just_this, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &just_this, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &just_this, nullptr);
}

}  // namespace holdfast::cli
