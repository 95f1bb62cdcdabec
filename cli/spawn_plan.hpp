// posix_spawn, without its bookkeeping. Unlike fork() it runs no atfork handlers and copies no
// page tables.
#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::cli {

class spawn_plan {
 public:
  spawn_plan() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~spawn_plan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  void set_flags(int flags) { ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)); }
  void set_mask(const sigset_t& mask) { ::posix_spawnattr_setsigmask(&attributes_, &mask); }
  void open(int fd, const char* path, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, fd, path, flags, 0);
  }
  // Duplicating a descriptor onto itself takes its close-on-exec mark off.
  void keep(int fd) { ::posix_spawn_file_actions_adddup2(&actions_, fd, fd); }
  // Before glibc 2.35 the new process cannot take the foreground itself: its parent gives it.
#if __GLIBC_PREREQ(2, 35)
  static constexpr bool takes_foreground = true;
  void take_foreground_of(int terminal) {
    ::posix_spawn_file_actions_addtcsetpgrp_np(&actions_, terminal);
  }
#else
  static constexpr bool takes_foreground = false;
  void take_foreground_of(int) {}
#endif

  // Searches PATH for a file without '/'. An errno, 0 when it runs.
  int start(pid_t& process, const char* file, char** argv, char** environment) const {
    return ::posix_spawnp(&process, file, &actions_, &attributes_, argv, environment);
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

inline std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace holdfast::cli
