#include "cli/guardian.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/job_processes.hpp"
#include "cli/message.hpp"
#include "cli/spawn_plan.hpp"

namespace holdfast::cli {
namespace {

using clock = lease_clock;

class alarm_clock {
 public:
  explicit alarm_clock(int timer) : fd_(timer) {}
  int fd() const noexcept { return fd_.get(); }

  void set(clock::time_point t) noexcept {
    const auto ns = std::max<std::int64_t>(t.time_since_epoch().count(), 1);
    itimerspec when{};
    when.it_value = {ns / 1'000'000'000, ns % 1'000'000'000};
    ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  }

 private:
  file_descriptor fd_;
};

// TERM, and KILL when the grace is over; returns when no process of the job is left. `run`: 0 when
// it has ended.
void end_job(deadline_page& page, pid_t run, const std::string& why) {
  auto group = deadline_page::not_started;
  if (page.group.compare_exchange_strong(group, deadline_page::never_start)) return;
  job_processes job(group, run);
  const pid_t self = ::getpid();
  const auto kill_at = page.kill_at(clock::now());
  if (!page.ending.exchange(true)) {
    say(why);
    job.signal(SIGTERM, self);
    if (clock::now() < kill_at) job.signal(SIGCONT, self);  // a stopped job cannot end itself
  }
  const auto give_up_at = kill_at + std::chrono::seconds{1};  // it may not be ours to kill
  while (clock::now() < give_up_at && !page.over && job.is_any_left(self)) {
    if (clock::now() >= kill_at) job.signal(SIGKILL, self);
    const timespec nap{0, 5'000'000};
    ::nanosleep(&nap, nullptr);
  }
}

int watch(int wrapper, alarm_clock& alarm, pid_t run, deadline_page& page,
          const std::string& name) {
  for (;;) {
    // Later than `run` itself would: it goes first as long as it can.
    const auto act_at = page.deadline() - page.grace() - page.margin();
    alarm.set(act_at);
    pollfd on[] = {{wrapper, POLLIN, 0}, {alarm.fd(), POLLIN, 0}};
    ::poll(on, 2, -1);
    if (page.over) return 0;
    if (on[0].revents != 0) {
      end_job(page, 0, name + ": the run that held it was killed; ending its command");
      return 0;
    }
    if (clock::now() < page.deadline() - page.grace() - page.margin()) continue;
    end_job(page, run, name + ": the run that holds it does not renew it; ending its command");
    return 0;
  }
}

bool close_from(unsigned first, unsigned last) noexcept {
  return first > last || ::syscall(SYS_close_range, first, last, 0) == 0;
}

// For a kernel before 5.9, or a sandbox that denies close_range().
template <class Numbers>
void close_listed_but(const Numbers& kept) {
  std::vector<int> others;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir("/proc/self/fd"), &::closedir);
  if (!entries) return;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on a listing of our own
  while (const dirent* entry = ::readdir(entries.get())) {
    const int fd = std::atoi(entry->d_name);
    if (fd >= 3 && fd != ::dirfd(entries.get()) && std::ranges::find(kept, fd) == kept.end())
      others.push_back(fd);
  }
  for (const int fd : others) ::close(fd);
}

// An inherited descriptor would keep a pipe open for its reader.
void close_all_but(std::array<int, 3> kept) {
  std::ranges::sort(kept);
  unsigned first = 3;
  bool done = true;
  for (const int fd : kept) {
    done = close_from(first, static_cast<unsigned>(fd) - 1) && done;
    first = static_cast<unsigned>(fd) + 1;
  }
  if (!close_from(first, ~0u) || !done) close_listed_but(kept);
}

std::system_error lacking(const char* call) {
  return {errno, std::generic_category(),
          std::string("the guardian of the command needs ") + call +
              "; permit this call in the sandbox (seccomp), or use Linux 5.3 or later"};
}

}  // namespace

guardian::guardian(const shared_page& page, const std::string& name) {
  // Not by pidfd_open(): glibc 2.36 declares it without extern "C".
  const file_descriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) throw lacking("pidfd_open");
  // Created here: a guardian that cannot create its timer would never end the command.
  const file_descriptor timer(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
  if (!timer) throw lacking("timerfd_create");
  spawn_plan plan;
  plan.set_flags(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t all;
  ::sigfillset(&all);
  plan.set_mask(all);
  plan.open(0, "/dev/null", O_RDONLY);
  plan.open(1, "/dev/null", O_WRONLY);
  plan.keep(self.get());
  plan.keep(page.fd());
  plan.keep(timer.get());
  std::vector<std::string> words = {"holdfast",
                                    guardian_word,
                                    std::to_string(self.get()),
                                    std::to_string(page.fd()),
                                    std::to_string(timer.get()),
                                    name};
  char* no_environment[] = {nullptr};
  const int error = plan.start(process_, own_program, pointers_to(words).data(), no_environment);
  if (error != 0)
    throw std::system_error(error, std::generic_category(),
                            "cannot start the guardian of the command (is /proc mounted?)");
}

bool guardian::has_ended() noexcept {
  if (process_ != 0 && ::waitpid(process_, nullptr, WNOHANG) == process_) process_ = 0;
  return process_ == 0;
}

guardian::~guardian() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
}

int run_guardian(int argc, char** argv) {
  if (argc != 5) return exit_usage;
  const int wrapper = std::atoi(argv[1]), page_fd = std::atoi(argv[2]), timer = std::atoi(argv[3]);
  if (wrapper < 3 || page_fd < 3 || timer < 3) return exit_usage;
  close_all_but({wrapper, page_fd, timer});
  alarm_clock alarm(timer);
  [[maybe_unused]] const int moved = ::chdir("/");  // keeps no file system busy
  const pid_t run = ::getppid();                    // only used while its pidfd says that it lives
  const shared_page page(page_fd);
  return page ? watch(wrapper, alarm, run, *page, argv[4]) : exit_broken;
}

}  // namespace holdfast::cli
