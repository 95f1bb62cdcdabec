// Turns inside a client.
#include <algorithm>
#include <vector>

#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

std::string nobody_enters_before_a_lost_lease_is_left() {
  fixture s;
  auto& c = s.open("");
  auto lost = s.acquire(c, by_hand(1s))->result();
  s.pass(2s);
  if (lost.held()) return "still held";
  if (s.attempt(c)) return "two threads of one process work at a time";
  lost.unlock();
  return s.attempt(c) ? "" : "the lock never came free";
}

// Twenty of one client, and one of another that must not wait for them all.
std::string turns_are_cut_short_when_somebody_waits() {
  fixture s;
  auto& contenders = s.open("ttl=60s&turns=4");
  auto& other = s.open("ttl=60s");
  auto held = s.acquire(contenders)->result();
  const auto take = [&s](const client& c) {
    return s.start<std::int64_t>([lock = std::make_shared<mutex>(c, lock_name)](std::stop_token t) {
      std::error_code ec;
      return lock->acquire({}, std::move(t), ec).token();
    });
  };
  std::vector<std::shared_ptr<call<std::int64_t>>> local;
  for (int i = 0; i < 20; ++i) local.push_back(take(contenders));
  const auto waiting = take(other);
  held.unlock();
  if (!s.passes_until(*waiting, 1min)) return "the other was never served";
  const auto foreign = waiting->result();
  bool overtakes = false;
  for (auto& one : local) {
    if (!s.passes_until(*one, 1min)) return "one of the contenders was never served";
    overtakes = one->result() > foreign || overtakes;
  }
  return overtakes ? "" : "the other client was served last of all";
}

std::string a_leaver_passes_its_wake_up_on() {
  fixture s;
  auto& holder = s.open("ttl=60s");
  auto& c = s.open("ttl=60s");
  auto held = s.acquire(holder)->result();
  const auto leaver = s.acquire(c);
  const auto stays = s.acquire(c);
  leaver->stop();
  if (!s.passes_until(*leaver, 1s)) return "the stop ended nothing";
  held.unlock();
  if (!s.passes_until(*stays, 50s)) return "the lock is free and somebody waits for it";
  return stays->result() ? "" : "not granted";
}

std::string a_turn_starts_with_time_left() {
  fixture s;
  auto& c = s.open("");
  auto held = s.acquire(c, by_hand(1s))->result();
  const auto next = s.acquire(c, by_hand(1s));
  s.pass(800ms, next.get());
  held.unlock();
  if (!s.passes_until(*next, 1min)) return "no turn";
  const auto granted = next->result();
  return granted.expires() - s.now() >= 450ms ? "" : "the turn is over before it has begun";
}

std::string waiters_are_served_in_order() {
  fixture s;
  auto& c = s.open("ttl=60s");
  auto held = s.acquire(c)->result();
  std::vector<std::shared_ptr<call<lease>>> line;
  for (int i = 0; i < 3; ++i) line.push_back(s.acquire(c));
  held.unlock();
  std::int64_t last = 0;
  for (auto& one : line) {
    one->settle();
    if (!one->done()) return "somebody who came later was served first";
    auto next = one->result();
    if (next.token() <= last) return "the tokens do not tell the order";
    last = next.token();
    next.unlock();
  }
  return "";
}

std::string lingering_ends_when_somebody_waits() {
  fixture s;
  auto& c = s.open("ttl=60s&linger=50s");
  auto& other = s.open("ttl=60s");
  s.acquire(c)->result().unlock();
  if (s.attempt(other)) return "the lock was given back at once";
  const auto waiting = s.acquire(other);
  if (!s.passes_until(*waiting, 5s)) return "nobody holds the lock and somebody waits for it";
  return waiting->result() ? "" : "not granted";
}

std::shared_ptr<call<bool>> try_to_read(fixture& s, shared_mutex& m) {
  return s.start<bool>([&m](std::stop_token) {
    const bool is_in = m.try_lock_shared();
    if (is_in) m.unlock_shared();
    return is_in;
  });
}

std::string a_share_in_common_lets_nobody_past_a_writer() {
  fixture s;
  auto& c = s.open("ttl=60s");
  auto m = c.shared_mutex(lock_name);
  for (client* const of : {&c, &s.open("ttl=60s")}) {
    m.lock_shared();
    const bool before = try_to_read(s, m)->result();
    const auto writer = s.acquire(*of);
    const bool after = try_to_read(s, m)->result();
    m.unlock_shared();
    if (!s.passes_until(*writer, 1min)) return "the writer was never served";
    if (!before) return "a reader waits for nobody";
    if (after) return "readers that come and go keep a writer out";
    writer->result().unlock();
  }
  return "";
}

std::string nobody_joins_a_share_that_has_run_out() {
  fixture s;
  auto m = s.open("ttl=10s").shared_mutex(lock_name);
  m.lock_shared();
  s.env.freeze(1min);
  const auto late = try_to_read(s, m);
  const bool is_in = late->done() && late->result();
  m.unlock_shared();
  if (!s.passes_until(*late, 1min)) return "it waits for nobody";
  return is_in ? "a reader was let in long after the lease" : "";
}

std::string a_wait_that_no_timer_ends_is_refused() {
  fixture s;
  auto& holder = s.open("ttl=60s");
  auto& other = s.open("ttl=60s");
  const auto held = s.acquire(holder)->result();
  s.env.have_threads(false);
  const auto timed = s.start<std::error_code>([&other](std::stop_token t) {
    std::error_code ec;
    (void)other.mutex(lock_name).try_acquire_for(1s, {}, std::move(t), ec);
    return ec;
  });
  if (!s.passes_until(*timed, 50s)) return "it waits on, far beyond its bound";
  return timed->result() == errc::unavailable ? "" : "it is not refused as unavailable";
}

constexpr scenario of_cohort[] = {
    {mutant::turn_before_release, "memory", nobody_enters_before_a_lost_lease_is_left},
    {mutant::wanted_ignored, "memory", turns_are_cut_short_when_somebody_waits},
    {mutant::newcomer_first, "memory", waiters_are_served_in_order},
    {mutant::leaver_ends_the_wait, "memory", a_leaver_passes_its_wake_up_on},
    {mutant::linger_kept, "memory", lingering_ends_when_somebody_waits},
    {mutant::door_left_open, "memory", a_share_in_common_lets_nobody_past_a_writer},
    {mutant::run_out_share_joined, "memory", nobody_joins_a_share_that_has_run_out},
    {mutant::turn_on_short_lease, "memory", a_turn_starts_with_time_left},
    {mutant::wait_without_timer, "memory", a_wait_that_no_timer_ends_is_refused},
};

}  // namespace

std::span<const scenario> cohort_scenarios() { return of_cohort; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::cohort_scenarios() { return {}; }
#endif
