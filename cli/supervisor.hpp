// From the start of the job to its end: signals, loss, deadline.
#pragma once
#include <chrono>
#include <string>

#include "cli/holding.hpp"
#include "cli/job.hpp"
#include "cli/signal_inbox.hpp"

namespace holdfast::cli {

struct outcome_of_job {
  int code = 0;       // what the command ended with
  bool lost = false;  // the lock was or may have been lost: the command was ended for it
};

// Runs until the job has ended, and after a loss until all of its group has. `page` is null for a
// lease without a deadline.
outcome_of_job supervise(job&, const holding&, const std::string& name, signal_inbox&,
                         const shared_page* page);

}  // namespace holdfast::cli
