#include "cli/interruptible.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>

#include "cli/exit_code.hpp"
#include "cli/job_processes.hpp"
#include "cli/waiting_line.hpp"

namespace holdfast::cli {
namespace {

int listen_until(int done, signal_inbox& signals, std::stop_source& stop, orphans inherited) {
  int ended_by = 0;
  for (;;) {
    pollfd on[] = {{signals.fd(), POLLIN, 0}, {done, POLLIN, 0}};
    ::poll(on, 2, -1);
    while (const int signal = signals.next()) {
      if (signal == SIGCHLD) {
        if (inherited == orphans::reaped) reap_orphans(0, 0);
      } else if (signal == SIGTSTP) {
        const auto hidden = hide_waiting_line();
        stop_by(signal);
      } else if (asks_to_end(signal)) {
        if (ended_by != 0) std::_Exit(exit_by_signal + signal);
        ended_by = signal;
        stop.request_stop();
      }
    }
    if (on[1].revents != 0) return ended_by;
  }
}

}  // namespace

int run_interruptibly(signal_inbox& signals, const std::function<void(std::stop_token)>& work,
                      orphans inherited) {
  const file_descriptor done(::eventfd(0, EFD_CLOEXEC));
  // Without it nothing would tell that the work is done.
  if (!done) throw std::system_error(errno, std::generic_category(), "eventfd");
  std::stop_source stop;
  std::exception_ptr failed;
  std::thread worker([&] {
    try {
      work(stop.get_token());
    } catch (...) {
      failed = std::current_exception();
    }
    ::eventfd_write(done.get(), 1);
  });
  const int ended_by = listen_until(done.get(), signals, stop, inherited);
  worker.join();
  if (failed && ended_by == 0) std::rethrow_exception(failed);
  return ended_by;
}

}  // namespace holdfast::cli
