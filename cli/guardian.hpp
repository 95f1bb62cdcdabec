// The guardian of a job under a lock that runs out: it ends the job when `run` can no longer do so,
// because it was killed or is stopped.
#pragma once
#include <sys/types.h>

#include <string>

#include "cli/deadline_page.hpp"

namespace holdfast::cli {

inline constexpr const char* guardian_word = ":guardian";

// A process in a session of its own, so that no signal of the terminal reaches it, without the
// environment of the caller.
class guardian {
 public:
  guardian(const shared_page&, const std::string& name);  // throws std::system_error
  ~guardian();                                            // the process is gone
  pid_t process() const noexcept { return process_; }
  bool has_ended() noexcept;  // killed, or because it has ended the job
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

 private:
  pid_t process_ = 0;  // 0: waited for
};

// argv[0] is the guardian's word.
int run_guardian(int argc, char** argv);

}  // namespace holdfast::cli
