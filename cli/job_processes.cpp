#include "cli/job_processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "cli/deadline_page.hpp"
#include "cli/file_descriptor.hpp"

namespace holdfast::cli {
namespace {

constexpr pid_t no_group = -1;  // no process is in such a one

}  // namespace

bool adopt_orphans() noexcept { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void reap_orphans(pid_t job, pid_t guardian) noexcept {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (info.si_pid == job || info.si_pid == guardian) return;  // its owner comes next
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

// From /proc/PID/stat. The name of the program stands in parentheses and may contain anything.
bool job_processes::read(pid_t number, process& to) {
  const std::string path = "/proc/" + std::to_string(number) + "/stat";
  const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) return false;
  const char* const name_end = std::strrchr(text.data(), ')');
  if (!name_end) return false;
  to.number = number;
  unsigned long long started = 0;
  // state ppid pgrp, 16 fields that do not matter here, starttime
  const int fields = std::sscanf(name_end + 1,
                                 " %c %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                 "%*s %*s %*s %llu",
                                 &to.state, &to.parent, &to.group, &started);
  to.started = started;
  return fields == 4;
}

pid_t job_processes::parent_of(pid_t number) {
  process found;
  return read(number, found) ? found.parent : 0;
}

bool is_ancestor(pid_t pid) {
  pid_t at = ::getppid();
  while (at > 1 && at != pid) at = job_processes::parent_of(at);
  return at == pid;
}

job_processes::job_processes(pid_t group, pid_t run) : group_(group), run_(run) {
  process leader;
  started_ = read(group, leader) ? leader.started : 0;
}

std::vector<job_processes::process> job_processes::all_processes() {
  std::vector<process> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir("/proc"), &::closedir);
  if (!entries) return all;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on a listing of our own
  while (const dirent* entry = ::readdir(entries.get())) {
    process found;
    const int number = std::atoi(entry->d_name);
    if (number > 0 && read(number, found)) all.push_back(found);
  }
  return all;
}

bool job_processes::belongs(const process& p) const {
  if (p.group == group_ || (run_ != 0 && p.parent == run_ && p.started >= started_)) return true;
  return std::ranges::find(known_, p.parent, &process::number) != known_.end();
}

void job_processes::find(pid_t guardian) {
  const auto all = all_processes();
  const auto is_in_group = [&](const process& p) { return p.group == group_; };
  if (std::ranges::none_of(all, is_in_group)) group_ = no_group;  // its number is free for others
  std::erase_if(known_, [&](const process& p) {
    return std::ranges::none_of(all, [&](const process& now) { return is_same(p, now); });
  });
  for (bool more = true; more;) {
    more = false;
    for (const process& p : all) {
      if (std::ranges::find(known_, p.number, &process::number) != known_.end()) continue;
      if (p.state == 'Z' || p.number == guardian || p.number == run_ || !belongs(p)) continue;
      known_.push_back(p);
      more = true;
    }
  }
}

bool job_processes::is_same(const process& before, const process& now) {
  return now.number == before.number && now.started == before.started && now.state != 'Z';
}

void job_processes::signal(int number, pid_t guardian) {
  find(guardian);
  if (group_ != no_group) signal_group(group_, number);
  for (const process& p : known_) {
    if (p.group == group_) continue;
    // Held by a descriptor before it is compared: the number cannot come to mean another process.
    // Not by pidfd_open(): glibc 2.36 declares it without extern "C".
    const file_descriptor fd(static_cast<int>(::syscall(SYS_pidfd_open, p.number, 0)));
    process now;
    if (fd && read(p.number, now) && is_same(p, now))
      ::syscall(SYS_pidfd_send_signal, fd.get(), number, nullptr, 0);
  }
}

bool job_processes::is_any_left(pid_t guardian) {
  find(guardian);
  return !known_.empty();
}

}  // namespace holdfast::cli
