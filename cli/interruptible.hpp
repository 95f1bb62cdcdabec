// Waiting for the library while signals are still heard.
#pragma once
#include <functional>
#include <stop_token>

#include "cli/signal_inbox.hpp"

namespace holdfast::cli {

// As PID 1 a process reaps the orphans that it inherits. A `work` with children of its own has to
// reap them itself.
enum class orphans : unsigned char { reaped, left };

// Runs `work` on a thread. INT, TERM, HUP and QUIT request its stop, and are the answer once it has
// ended; 0 when none came. A second one ends the process at once. Throws what `work` threw, unless
// a signal came. TSTP stops the process.
int run_interruptibly(signal_inbox&, const std::function<void(std::stop_token)>& work,
                      orphans = orphans::reaped);

}  // namespace holdfast::cli
