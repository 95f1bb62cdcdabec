#include <unistd.h>
#include <holdfast/error.hpp>

#include <optional>

#include "cli/commands.hpp"
#include "cli/duration_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/guardian.hpp"
#include "cli/help.hpp"
#include "cli/holders.hpp"
#include "cli/job.hpp"
#include "cli/job_processes.hpp"
#include "cli/lock_wait.hpp"
#include "cli/message.hpp"
#include "cli/supervisor.hpp"

namespace holdfast::cli {
namespace {

int report_busy(const run_arguments& arguments, const lock_wait& lock) {
  const auto code = static_cast<int>(arguments.conflict_exit_code.value_or(exit_busy));
  if (arguments.quiet) return code;
  std::string text = who_holds(lock.where(), arguments.names).text;
  if (arguments.wait) text += "; gave up after " + spoken(*arguments.wait);
  say(text);
  return code;
}

job_environment environment_for(const run_arguments& arguments, lock_wait& lock) {
  job_environment out(lock.at().secret_variables());
  std::string names;  // a name may hold a comma, but no end of a line
  for (const std::string& name : arguments.names)
    names.append(names.empty() ? "" : "\n").append(name);
  out.add("HOLDFAST_NAME", names);
  out.add("HOLDFAST_STORE", lock.at().identity());
  out.add("HOLDFAST_PID", std::to_string(::getpid()));
  out.add("HOLDFAST_TOKEN", lock.held().tokens());
  if (lock.has_deadline()) out.add("HOLDFAST_EXPIRES", wall_clock_text(lock.held().expires()));
  if (lock.has_ttl()) out.add("HOLDFAST_TTL", seconds(lock.terms().ttl));
  return out;
}

void set_terms(deadline_page& page, lock_wait& lock) {
  page.set_deadline(lock.held().expires());
  page.grace_ns = lock.terms().grace.count();
  page.margin_ns = (lock.terms().ttl / 20).count();
}

int run_job(const run_arguments& arguments, lock_wait& lock, signal_inbox& signals) {
  std::optional<job_watch> watch;
  if (lock.has_deadline()) {
    if (!adopt_orphans())
      say("cannot adopt the daemons that the command starts (prctl PR_SET_CHILD_SUBREAPER failed): "
          "they continue after a loss of the lock; permit this call in the sandbox (seccomp)");
    set_terms(*watch.emplace().page, lock);
    watch->process.emplace(watch->page, shown_names(arguments));
  }
  auto environment = environment_for(arguments, lock);
  const shared_page* const shared = watch ? &watch->page : nullptr;
  const auto inherited = arguments.close ? std::vector<int>() : lock.held().descriptors();
  job command(signals);
  if (const int error = command.start({arguments.command, &environment, inherited, shared}))
    return cannot_run(arguments.command[0], error);
  const auto end =
      supervise(command, lock.held(), shown_names(arguments), signals, watch ? &*watch : nullptr);
  command.leave_terminal();
  return end.lost ? exit_lost : end.code;
}

// Answers whether the lock was still ours.
bool give_back(lock_wait& lock, const std::string& name) {
  holding& held = lock.held();
  // Left to the end of the process: what the job has left running goes on holding the lock.
  if (!held.descriptors().empty()) return true;
  if (!held.held()) return false;  // nothing is released early after a loss
  try {
    held.release();
  } catch (const lock_error& e) {
    const std::string why = e.detail().empty() ? e.code().message() : std::string(e.detail());
    if (e.code() == outcome::lost) {
      say(name + " was lost before it was released: " + why +
          "; the last actions of the command may have been without the lock");
      return false;
    }
    say(name + " may not be released: " + why +
        (lock.has_ttl()
             ? "; it is free when its ttl of " + seconds(lock.terms().ttl) + " s has passed"
         : lock.has_deadline() ? "; it is free when its session ends"
                               : std::string{}));
  }
  lock.leave();
  return true;
}

// Where nothing is obtained nothing is left in a line of waiters either.
int obtain(lock_wait& lock) {
  try {
    const int signal = lock.obtain();
    if (signal != 0) lock.leave();
    return signal;
  } catch (...) {
    lock.leave();
    throw;
  }
}

int run_held(const run_arguments& arguments, lock_wait& lock, signal_inbox& signals) {
  try {
    const int code = run_job(arguments, lock, signals);
    const bool is_ours = give_back(lock, shown_names(arguments));
    return is_ours ? code : exit_lost;
  } catch (...) {
    give_back(lock, shown_names(arguments));
    throw;
  }
}

}  // namespace

int run(int argc, char** argv) {
  const run_arguments arguments = parse_run_arguments(argc, argv);
  if (arguments.help) return print(help_text("run"));
  if (arguments.quiet) leave_out_notices();
  signal_inbox signals;
  // Never destroyed: its end would give back a lock that the job may still rely on.
  lock_wait& lock = *new lock_wait(arguments, signals);
  const auto begun = std::chrono::steady_clock::now();
  if (const int signal = obtain(lock)) return exit_by_signal + signal;
  if (lock.held()) {
    if (arguments.verbose)
      say(shown_names(arguments) + " is acquired at " + lock.at().shown() + " after " +
          seconds(std::chrono::steady_clock::now() - begun) + " s, token " + lock.held().tokens());
    return run_held(arguments, lock, signals);
  }
  const int code = report_busy(arguments, lock);
  lock.leave();
  return code;
}

}  // namespace holdfast::cli
