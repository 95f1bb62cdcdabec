#include "cli/lock_wait.hpp"

#include <unistd.h>
#include <holdfast/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/duration_text.hpp"
#include "cli/interruptible.hpp"
#include "cli/job_processes.hpp"
#include "cli/message.hpp"
#include "cli/waiting_line.hpp"

namespace holdfast::cli {
namespace {

std::string variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// `names`: one a line.
bool has_line(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const auto end = std::min(names.find('\n'), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

// An exclusive run that waits for a lock of the run around it would wait for its own end. Throws
// usage_error. The outer run is found by the environment of its command.
void refuse_wait_for_outer_run(const run_arguments& arguments, const place& at) {
  if (arguments.shared || arguments.permits || variable("HOLDFAST_STORE") != at.identity()) return;
  // A daemon keeps the variables of a run that has ended.
  const int outer = std::atoi(variable("HOLDFAST_PID").c_str());
  if (outer <= 1 || !is_ancestor(outer)) return;
  const std::string held = variable("HOLDFAST_NAME");
  for (const std::string& name : arguments.names)
    if (has_line(held, name))
      throw usage_error("this command already runs under " + name + ", which pid " +
                        std::to_string(outer) +
                        " holds until this command ends: leave out the inner run, or give it "
                        "another NAME");
}

}  // namespace

int lock_wait::obtain() {
  terms_ = terms_of(arguments_, at_.parsed);
  if (const int signal = open()) return signal;
  refuse_useless_options();
  const bool waits = !arguments_.nonblock && (!arguments_.wait || arguments_.wait->count() > 0);
  if (const int signal = try_once(waits)) return give_up(signal);
  if (!held_ && waits) {
    refuse_wait_for_outer_run(arguments_, at_);
    if (const int signal = wait_for_turn()) return give_up(signal);
  }
  fit_terms_to_lease();
  return 0;
}

// Under a session its timeout, which the server has the last word on, takes the place of the ttl.
void lock_wait::fit_terms_to_lease() {
  if (!held_ || has_ttl() || !has_deadline()) return;
  terms_.ttl = std::max<std::chrono::nanoseconds>(held_.expires() - lease_clock::now(), {});
  const auto limit = terms_.ttl / 3;
  if (arguments_.grace && *arguments_.grace > limit)
    throw usage_error("--grace is above a third of the session's time (" +
                      seconds(std::chrono::round<std::chrono::seconds>(terms_.ttl)) + " s) at " +
                      at_.shown() + "; lower it, or raise the URL's session-timeout=");
  terms_.grace = std::min(terms_.grace, limit);
}

int lock_wait::open() {
  if (at_.local()) {
    client_.emplace(client::open(at_.text));
    return 0;
  }
  // The library warns as early as the grace of the job needs it.
  open_options options;
  options.ttl = std::chrono::ceil<std::chrono::milliseconds>(terms_.ttl);
  options.grace = std::chrono::floor<std::chrono::milliseconds>(terms_.grace);
  // The library compares the grace with the ttl. Under a session the ttl has no effect, and the
  // grace is compared with the session after the grant.
  if (at_.has_session()) options.ttl = std::max(*options.ttl, *options.grace * 3);
  return run_interruptibly(signals_, [&](std::stop_token stop) {
    client_.emplace(client::open(at_.text, options, std::move(stop)));
  });
}

// --ttl, and without a deadline --grace, bound what a lock that ends with its holder bounds better.
void lock_wait::refuse_useless_options() const {
  if (has_ttl()) return;
  if (arguments_.no_renew)
    throw usage_error("--no-renew is not possible at " + at_.shown() +
                      ": its locks end with their holder and have no ttl; leave it out");
  const bool has_grace = arguments_.grace && !has_deadline();
  const char* const given = arguments_.ttl ? "--ttl" : has_grace ? "--grace" : nullptr;
  if (given && at_.strict())
    throw usage_error(std::string(given) + " has no effect at " + at_.shown() +
                      ": its locks end with their holder and have no ttl; leave it out, or the "
                      "URL's strict=1");
}

int lock_wait::try_once(bool waits) {
  const auto attempt = [&](const std::stop_token& stop) {
    try {
      held_ = take(*client_, arguments_, std::chrono::nanoseconds{0}, stop);
    } catch (const lock_error& e) {
      // Servers that reply but do not vote yet are waited for.
      if (!waits || e.code() != errc::no_quorum) throw;
    }
    if (held_ && has_ttl()) held_.confirm(terms().ttl);
  };
  if (!at_.local()) return run_interruptibly(signals_, attempt);
  attempt({});
  return 0;
}

int lock_wait::wait_for_turn() {
  std::optional<waiting_line> line;
  if (!arguments_.quiet) line.emplace(*client_, at_, arguments_.names);
  return run_interruptibly(signals_, [&](std::stop_token stop) {
    held_ = take(*client_, arguments_, arguments_.wait, std::move(stop));
    if (held_ && has_ttl()) held_.confirm(terms().ttl);
  });
}

void lock_wait::leave() noexcept {
  if (client_ && has_deadline()) client_->close();
}

int lock_wait::give_up(int signal) {
  try {
    if (held_) held_.release();
  } catch (const lock_error&) {  // the process ends; what is not given back runs out
  }
  return signal;
}

}  // namespace holdfast::cli
