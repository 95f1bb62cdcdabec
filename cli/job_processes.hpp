// All processes of a job, also those that left its process group by setsid() or the like.
//
// Found by walking /proc: whatever is in the group, descends from a process that was found before,
// or descends from `run`, which adopts the job's orphans (PR_SET_CHILD_SUBREAPER). docs/cli.md says
// which processes this cannot reach.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace holdfast::cli {

// Makes this process the parent of all orphans among its descendants. False where a sandbox or an
// emulator denies it: a daemon of the job is then not found as part of the job.
bool adopt_orphans() noexcept;

// Waits for the adopted children that have ended; `job` and `guardian` are left to their owners.
void reap_orphans(pid_t job, pid_t guardian) noexcept;

// Whether this process descends from `pid`.
bool is_ancestor(pid_t pid);

class job_processes {
 public:
  static pid_t parent_of(pid_t);  // 0: not known
  // `run`: the process that adopts; 0 when it is gone.
  job_processes(pid_t group, pid_t run);

  // Both look for processes again. `guardian` is no part of the job, a zombie is no process.
  void signal(int number, pid_t guardian);  // to the group at once, to the others one by one
  bool is_any_left(pid_t guardian);

 private:
  struct process {
    pid_t number = 0, parent = 0, group = 0;
    char state = 0;
    std::uint64_t started = 0;  // with the number: unique until the next boot
  };
  static std::vector<process> all_processes();
  static bool read(pid_t number, process& to);
  void find(pid_t guardian);
  bool belongs(const process&) const;
  static bool is_same(const process& before, const process& now);

  pid_t group_, run_;
  // Children that existed before the job are no part of it: `helper & exec holdfast run ...`.
  std::uint64_t started_;
  std::vector<process> known_;
};

}  // namespace holdfast::cli
