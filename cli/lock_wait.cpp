#include "cli/lock_wait.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

#include "cli/interruptible.hpp"
#include "cli/message.hpp"
#include "cli/waiting_line.hpp"

namespace holdfast::cli {
int lock_wait::obtain() {
  terms_ = terms_of(arguments_, at_.parsed);
  if (const int signal = open()) return signal;
  refuse_useless_options();
  if (const int signal = try_once()) return give_up(signal);
  const bool waits = !arguments_.nonblock && (!arguments_.wait || arguments_.wait->count() > 0);
  if (!held_ && waits) {
    if (const int signal = wait_for_turn()) return give_up(signal);
  }
  fit_terms_to_lease();
  return 0;
}

// Under a session its time-out, which the server has the last word on, takes the place of the ttl.
void lock_wait::fit_terms_to_lease() {
  if (!held_ || has_ttl() || !has_deadline()) return;
  terms_.ttl = std::max<std::chrono::nanoseconds>(held_.expires() - lease_clock::now(), {});
  terms_.grace = std::min(terms_.grace, terms_.ttl / 3);
}

int lock_wait::open() {
  if (at_.local()) {
    client_.emplace(client::open(at_.text));
    return 0;
  }
  // The library warns as early as the grace of the job needs it.
  open_options how;
  how.ttl = std::chrono::ceil<std::chrono::milliseconds>(terms_.ttl);
  how.grace = std::chrono::floor<std::chrono::milliseconds>(terms_.grace);
  return run_interruptibly(signals_, [&](std::stop_token stop) {
    client_.emplace(client::open(at_.text, how, std::move(stop)));
  });
}

// --ttl, and without a deadline --grace, bound what a lock that ends with its holder bounds better.
void lock_wait::refuse_useless_options() const {
  if (has_ttl()) return;
  if (arguments_.no_renew)
    throw usage_error("--no-renew cannot be kept at " + at_.shown() +
                      ": its locks end with their holder, never with a ttl; leave it out");
  const bool has_grace = arguments_.grace && !has_deadline();
  const char* const given = arguments_.ttl ? "--ttl" : has_grace ? "--grace" : nullptr;
  if (given && at_.strict())
    throw usage_error(std::string(given) + " means nothing at " + at_.shown() +
                      ": its locks end with their holder and have no ttl; leave it out, or the "
                      "URL's strict=1");
}

int lock_wait::try_once() {
  const auto attempt = [&](const std::stop_token& stop) {
    held_ = take(*client_, arguments_, std::chrono::nanoseconds{0}, stop);
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
    if (has_ttl()) held_.make_firm(terms().ttl);
  });
}

void lock_wait::leave() noexcept {
  if (client_ && !has_ttl() && has_deadline()) client_->close();
}

int lock_wait::give_up(int signal) {
  try {
    if (held_) held_.release();
  } catch (const lock_error&) {  // the process ends; what is not given back runs out
  }
  return signal;
}

}  // namespace holdfast::cli
