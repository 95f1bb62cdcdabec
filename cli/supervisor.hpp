// From the start of the job to its end: signals, loss, deadline.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "cli/deadline_page.hpp"
#include "cli/guardian.hpp"
#include "cli/holding.hpp"
#include "cli/job.hpp"
#include "cli/signal_inbox.hpp"

namespace holdfast::cli {

// The processes and pages that watch the job of a lease with a deadline.
struct job_watch {
  shared_page page;
  std::optional<guardian> process;
};

struct outcome_of_job {
  int code = 0;       // what the command ended with
  bool lost = false;  // the lock was or may have been lost: the command was ended for it
};

// Runs until the job has ended, and after a loss until all its processes have. Replaces a guardian
// that was killed. `watch` is null for a lease without a deadline.
outcome_of_job supervise(job&, const holding&, const std::string& name, signal_inbox&,
                         job_watch* watch);

}  // namespace holdfast::cli
