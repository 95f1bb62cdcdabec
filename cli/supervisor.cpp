#include "cli/supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stop_token>

#include "cli/job_processes.hpp"
#include "cli/message.hpp"

namespace holdfast::cli {
namespace {

using clock = lease_clock;
using std::chrono::milliseconds;

constexpr int replacements_max = 3;  // of a guardian

// Wakes the poll when the library doubts one of the leases, or somebody asks for one.
class alert {
 public:
  explicit alert(const holding& held) : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (const lease& l : held.leases()) {
      bells_.emplace_back(l.doubt_token(), ring{fd_.get()});
      bells_.emplace_back(l.loss_token(), ring{fd_.get()});
      bells_.emplace_back(l.revocation_token(), ring{fd_.get()});
    }
  }
  int fd() const noexcept { return fd_.get(); }
  void silence() const noexcept {
    eventfd_t count;
    (void)::eventfd_read(fd_.get(), &count);
  }

 private:
  struct ring {
    int fd;
    void operator()() const noexcept { ::eventfd_write(fd, 1); }
  };
  file_descriptor fd_;
  std::deque<std::stop_callback<ring>> bells_;
};

class supervision {
 public:
  supervision(job& j, const holding& h, const std::string& name, signal_inbox& s, job_watch* watch)
      : job_(j),
        held_(h),
        name_(name),
        signals_(s),
        watch_(watch),
        page_(watch ? &*watch->page : nullptr),
        processes_(j.group(), ::getpid()) {
    if (watch) alert_ = std::make_unique<alert>(h);
  }

  outcome_of_job run() {
    for (;;) {
      wait();
      while (const int signal = signals_.next()) on_signal(signal);
      if (watch_) keep_guardian();
      if (page_) guard();
      if (const auto code = job_.ended()) return finish(*code);
      if (job_.stop_with_it()) on_signal(SIGCONT);
    }
  }

 private:
  void wait() {
    pollfd on[] = {{signals_.fd(), POLLIN, 0}, {alert_ ? alert_->fd() : -1, POLLIN, 0}};
    ::poll(on, 2, static_cast<int>(wait_limit().count()));
  }

  // Until the page needs the deadline of a renewal, or the group its SIGKILL.
  milliseconds wait_limit() const {
    if (!page_) return milliseconds{-1};
    const auto now = clock::now();
    const auto until =
        ending_ ? kill_at_ - now : std::min((page_->deadline() - now) / 8, presses_at() - now);
    const auto least = milliseconds{1}, most = milliseconds{60'000};
    return std::clamp(std::chrono::ceil<milliseconds>(until), least, most);
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD) {
      reap_orphans(job_.group(), guardian());
    } else if (signal == SIGCONT) {
      if (held_.held() && !(page_ && page_->ending)) job_.carry_on();
    } else {
      job_.signal(signal);
    }
  }

  void guard() {
    if (!ending_) {
      const bool held = held_.held();
      if (held) page_->set_deadline(held_.expires());
      alert_->silence();
      if (page_->ending || !held || held_.is_asked_for() || clock::now() >= presses_at())
        begin_to_end(why_it_ends());
    }
    if (ending_ && clock::now() >= kill_at_) signal_all(SIGKILL);
  }

  // When the library doubts a lease that was not renewed in time. It doubts one earlier whose
  // server was replaced: that is confirmed or lost a moment later.
  clock::time_point presses_at() const noexcept {
    return page_->deadline() - page_->grace() - 2 * page_->margin();
  }

  std::string why_it_ends() const {
    if (!held_.held()) return ": " + held_.why_lost();
    return held_.is_asked_for() ? ": another program requests it"
                                : " may soon be lost: its lease was not renewed in time";
  }

  // Without a guardian the job would outlive its lock when this process is killed.
  void keep_guardian() {
    auto& guardian = watch_->process;
    if (ending_ || page_->ending || !guardian->has_ended()) return;
    reap_orphans(job_.group(), 0);  // those behind it among the children that have ended
    if (++replaced_ > replacements_max)
      return begin_to_end(": the guardian of the command was killed repeatedly");
    say(name_ + ": the guardian of the command was killed and is replaced");
    try {
      guardian.emplace(watch_->page, name_);
    } catch (const std::system_error& e) {
      begin_to_end(std::string(": a new guardian cannot be started (") + e.what() + ')');
    }
  }

  pid_t guardian() const { return watch_ ? watch_->process->process() : 0; }

  void signal_all(int number) {
    job_.note_signal();
    processes_.signal(number, guardian());
  }

  void begin_to_end(const std::string& why) {
    ending_ = true;
    kill_at_ = page_->kill_at(clock::now());
    say(name_ + why + "; ending the command");
    if (page_->ending.exchange(true)) return;
    signal_all(SIGTERM);
    if (held_.held()) signal_all(SIGCONT);  // a stopped job cannot end itself
  }

  outcome_of_job finish(int code) {
    if (page_ && !ending_ && (page_->ending || !held_.held())) begin_to_end(why_it_ends());
    if (ending_) end_rest();
    if (page_) page_->over = true;
    job_.reap();
    return {code, ending_};
  }

  // The command has ended, but perhaps not all that it started.
  void end_rest() {
    job_.reap();
    while (processes_.is_any_left(guardian())) {
      const auto now = clock::now();
      if (now > kill_at_ + std::chrono::seconds{1}) return;  // not ours to kill
      if (now >= kill_at_) signal_all(SIGKILL);
      const timespec nap{0, 5'000'000};
      ::nanosleep(&nap, nullptr);
      reap_orphans(0, guardian());
    }
  }

  job& job_;
  const holding& held_;
  const std::string& name_;
  signal_inbox& signals_;
  job_watch* const watch_;
  deadline_page* const page_;
  job_processes processes_;
  int replaced_ = 0;  // guardians
  std::unique_ptr<alert> alert_;
  bool ending_ = false;
  clock::time_point kill_at_{};
};

}  // namespace

outcome_of_job supervise(job& j, const holding& held, const std::string& name,
                         signal_inbox& signals, job_watch* watch) {
  try {
    return supervision(j, held, name, signals, watch).run();
  } catch (...) {  // unwatched, it could outlive its lock; a lock without a ttl stays with it
    if (watch) j.signal(SIGKILL);
    throw;
  }
}

}  // namespace holdfast::cli
