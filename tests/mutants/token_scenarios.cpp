// Fencing tokens.
#include <memory>
#include <mutex>
#include <vector>

#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

std::string each_turn_has_a_token_of_its_own() {
  fixture s;
  auto& c = s.open("");
  auto held = s.acquire(c)->result();
  const auto first = held.token();
  const auto next = s.acquire(c);
  held.unlock();
  if (!s.passes_until(*next, 1s)) return "no turn";
  return next->result().token() > first ? "" : "the resource cannot tell the two holders apart";
}

// A queue long enough to use up the numbers of one grant, then a grant to somebody else.
std::string the_turns_of_a_grant_are_limited() {
  constexpr int contenders = 1030;
  fixture s;
  auto& c = s.open("ttl=600s");
  auto& other = s.open("ttl=600s");
  auto held = s.acquire(c)->result();
  const mutex lock(c, lock_name);
  std::int64_t highest = held.token();  // guarded by the lock
  std::vector<std::unique_ptr<call<int>>> all;
  std::vector<pid_t> threads;
  for (int i = 0; i < contenders; ++i) {
    all.push_back(std::make_unique<call<int>>([&](std::stop_token) {
      const auto mine = lock.acquire();
      highest = std::max(highest, mine.token());
      return 0;
    }));
    threads.push_back(all.back()->thread());
  }
  if (!testkit::all_fall_asleep(threads)) return "not all wait";
  held.unlock();
  for (auto& one : all) one->result();  // no time has to pass for that
  const auto next = s.attempt(other);
  if (!next) return "not granted";
  return next.token() > highest ? "" : "the next grant has a token that was given before";
}

std::string a_guard_refuses_smaller_tokens() {
  fixture s;
  auto& c = s.open("");
  fencing_guard guard;
  auto held = s.acquire(c)->result();
  const auto old_token = held.token();
  const auto old_owner = held.owner();
  held.release();
  held = s.acquire(c)->result();
  if (!guard.admit(held)) return "the holder was refused";
  return guard.admit(old_token, old_owner) ? "a stale write was admitted" : "";
}

std::string numbers_are_not_below_the_clock() {
  fixture s;
  auto& c = s.open("");
  auto held = s.acquire(c)->result();
  const auto before = held.token();
  held.release();
  s.pass(1s);
  s.store.restart_empty();
  const auto after = s.acquire(c)->result().token();
  return after > before ? "" : "a store that forgot everything gives the old tokens again";
}

constexpr scenario of_token[] = {
    {mutant::turn_not_counted, "memory", each_turn_has_a_token_of_its_own},
    {mutant::turn_past_1023, "memory", the_turns_of_a_grant_are_limited},
    {mutant::number_not_floored, "memory", numbers_are_not_below_the_clock},
    {mutant::guard_admits_all, "memory", a_guard_refuses_smaller_tokens},
};

}  // namespace

std::span<const scenario> token_scenarios() { return of_token; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::token_scenarios() { return {}; }
#endif
