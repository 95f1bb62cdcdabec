// Messages that are lost, late or repeated.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include <optional>

#include "fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

// Within a time that is far shorter than the ttl of whoever left the lock behind.
bool comes_free(fixture& s, const client& c) {
  for (int step = 0; step < 30; ++step) {
    if (s.attempt(c)) return true;
    s.pass(1s);
  }
  return false;
}

// The first acquire is given up before its grant arrives; the grant must not pass for the answer
// to the second, while another client is next at the store.
std::string a_late_grant_is_no_grant() {
  fixture s;
  auto& hasty = s.open("ttl=60s&op-timeout=800ms&outage-timeout=800ms");
  auto& patient = s.open("ttl=60s&op-timeout=60s");
  const auto one_lock = hasty.mutex(lock_name);  // so that both are asked by the same claim
  s.store.set_latency(500ms);
  const auto given_up = s.acquire(hasty);
  s.pass(600ms, given_up.get());
  const auto next = s.acquire(patient);
  if (!s.passes_until(*given_up, 1s)) return "the acquire has no bound";
  if (given_up->result()) return "granted though no answer came in time";
  const auto again = s.acquire(hasty);
  std::optional<lease> first, second;
  for (int step = 0; step < 100; ++step) {
    s.pass(50ms, again.get());
    next->settle();
    if (!first && again->done()) first = again->result();
    if (!second && next->done()) second = next->result();
    if (first && first->held() && second && second->held()) return "two hold the lock at a time";
  }
  return second && second->held() ? "" : "the one whose turn it was does not hold the lock";
}

std::string an_unknown_acquire_leaves_no_orphan() {
  fixture s;
  auto& c = s.open("ttl=300s&op-timeout=1s");
  auto& other = s.open("ttl=300s&op-timeout=1s");
  s.store.lose_replies(1);
  s.attempt(c).unlock();
  return comes_free(s, other) ? "" : "the lock is held and nobody knows it";
}

std::string a_release_is_heard_in_the_end() {
  fixture s;
  auto& c = s.open("ttl=300s&op-timeout=1s");
  auto& other = s.open("ttl=300s&op-timeout=1s");
  auto held = s.acquire(c)->result();
  s.store.lose_requests(1);
  held.unlock();
  return comes_free(s, other) ? "" : "the release was lost and never repeated";
}

std::string an_outage_hangs_nobody() {
  fixture s;
  auto& c = s.open("op-timeout=1s");
  s.store.begin_outage();
  const auto asked = s.start<std::error_code>([&c](const std::stop_token&) {
    std::error_code ec;
    (void)c.mutex(lock_name).try_acquire({}, ec);
    return ec;
  });
  if (!s.passes_until(*asked, 10s)) {
    s.store.end_outage();  // one attempt takes no stop token: it is over when it is answered
    s.passes_until(*asked, 10min);
    return "nothing is said of the outage";
  }
  return asked->result() == outcome::unavailable ? "" : "it is called something else";
}

std::string a_bound_that_ends_in_an_outage_is_no_busy_lock() {
  fixture s;
  auto& c = s.open("op-timeout=60s");
  s.store.begin_outage();
  const auto asked = s.start<std::error_code>([&c](std::stop_token stop) {
    std::error_code ec;
    (void)c.mutex(lock_name).try_acquire_for(2s, {}, std::move(stop), ec);
    return ec;
  });
  if (!s.passes_until(*asked, 10s)) return "the wait has no bound";
  return asked->result() == outcome::unavailable ? "" : "the outage is reported as a busy lock";
}

// A waiter leaves in an outage, and the store says long afterwards that it is in line no more.
std::string close_is_clean_once_all_is_settled() {
  fixture s;
  const auto held = s.acquire(s.open("ttl=1h"))->result();
  auto& c = s.open("ttl=1h&op-timeout=1s");
  const auto waiting = s.acquire(c);
  s.store.begin_outage();
  waiting->stop();
  if (!s.passes_until(*waiting, 10s)) return "the stop ended nothing";
  s.pass(10s);
  s.store.end_outage();
  s.pass(2min);
  return c.close() ? "" : "an outage that is long over is reported as something left behind";
}

constexpr scenario of_message[] = {
    {mutant::late_reply_accepted, "memory", a_late_grant_is_no_grant},
    {mutant::unknown_acquire_dropped, "memory", an_unknown_acquire_leaves_no_orphan},
    {mutant::operation_without_bound, "memory", an_outage_hangs_nobody},
    {mutant::outage_told_as_busy, "memory", a_bound_that_ends_in_an_outage_is_no_busy_lock},
    {mutant::settled_outcome_kept, "memory", close_is_clean_once_all_is_settled},
    {mutant::release_not_repeated, "memory", a_release_is_heard_in_the_end},
};

}  // namespace

std::span<const scenario> message_scenarios() { return of_message; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::message_scenarios() { return {}; }
#endif
