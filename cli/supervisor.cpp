#include "cli/supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stop_token>

#include "cli/message.hpp"

namespace holdfast::cli {
namespace {

using clock = lease_clock;
using std::chrono::milliseconds;

// Wakes the poll when the library doubts one of the leases.
class alert {
 public:
  explicit alert(const holding& held) : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (const lease& l : held.leases()) {
      bells_.emplace_back(l.doubtful(), ring{fd_.get()});
      bells_.emplace_back(l.lost(), ring{fd_.get()});
    }
  }
  int fd() const noexcept { return fd_.get(); }
  bool rung() const noexcept {
    eventfd_t count;
    return ::eventfd_read(fd_.get(), &count) == 0;
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
  supervision(job& j, const holding& h, const std::string& name, signal_inbox& s,
              deadline_page* page)
      : job_(j), held_(h), name_(name), signals_(s), page_(page) {
    if (page) alert_ = std::make_unique<alert>(h);
  }

  outcome_of_job run() {
    for (;;) {
      wait();
      while (const int signal = signals_.next()) on_signal(signal);
      if (page_) guard();
      if (const auto code = job_.ended()) return finish(*code);
      if (job_.stop_with_it()) on_signal(SIGCONT);
    }
  }

 private:
  void wait() {
    pollfd on[] = {{signals_.fd(), POLLIN, 0}, {alert_ ? alert_->fd() : -1, POLLIN, 0}};
    ::poll(on, 2, static_cast<int>(patience().count()));
  }

  // Until the page needs the deadline of a renewal, or the group its SIGKILL.
  milliseconds patience() const {
    if (!page_) return milliseconds{-1};
    const auto now = clock::now();
    const auto until = ending_ ? kill_at_ - now : (page_->deadline() - now) / 8;
    const auto least = milliseconds{1}, most = milliseconds{60'000};
    return std::clamp(std::chrono::ceil<milliseconds>(until), least, most);
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGCONT) {
      if (held_.held() && !(page_ && page_->ending)) job_.carry_on();
    } else {
      job_.signal(signal);
    }
  }

  void guard() {
    const auto now = clock::now();
    if (!ending_) {
      const bool held = held_.held();
      if (held) page_->set_deadline(held_.expires());
      if (alert_->rung() || page_->ending || !held) begin_to_end(now);
    }
    if (ending_ && now >= kill_at_) job_.signal(SIGKILL);
  }

  void begin_to_end(clock::time_point now) {
    ending_ = true;
    kill_at_ = page_->kill_at(now);
    const bool held = held_.held();
    say(name_ + (held ? " may soon be lost: its lease was not renewed in time; ending the command"
                      : " was lost: " + held_.status().message() + "; ending the command"));
    if (page_->ending.exchange(true)) return;
    job_.signal(SIGTERM);
    if (held) job_.signal(SIGCONT);  // a stopped job cannot end itself
  }

  outcome_of_job finish(int code) {
    if (page_ && !ending_ && (page_->ending || !held_.held())) begin_to_end(clock::now());
    if (ending_) end_rest_of_group();
    if (page_) page_->over = true;
    job_.reap();
    return {code, ending_};
  }

  // The command has ended, but perhaps not all that it started.
  void end_rest_of_group() {
    job_.reap();
    while (signal_group(job_.group(), clock::now() < kill_at_ ? 0 : SIGKILL)) {
      if (clock::now() > kill_at_ + std::chrono::seconds{1}) return;  // zombies nobody reaps
      const timespec nap{0, 5'000'000};
      ::nanosleep(&nap, nullptr);
    }
  }

  job& job_;
  const holding& held_;
  const std::string& name_;
  signal_inbox& signals_;
  deadline_page* const page_;
  std::unique_ptr<alert> alert_;
  bool ending_ = false;
  clock::time_point kill_at_{};
};

}  // namespace

outcome_of_job supervise(job& j, const holding& held, const std::string& name,
                         signal_inbox& signals, const shared_page* page) {
  try {
    return supervision(j, held, name, signals, page ? &**page : nullptr).run();
  } catch (...) {  // unwatched, it could outlive its lock; a lock without a ttl stays with it
    if (page) j.signal(SIGKILL);
    throw;
  }
}

}  // namespace holdfast::cli
