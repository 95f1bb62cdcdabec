// Several locks for one caller.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include <holdfast/detail/multi_access.hpp>

#include "fixture.hpp"
#include "multi/multi_acquire.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

// Each waits for what the other has, unless both take them in one order.
std::string two_of_two_locks_do_not_wait_for_each_other() {
  fixture s;
  auto& holder = s.open("ttl=60s");
  auto& one = s.open("ttl=60s&turns=4");
  auto& two = s.open("ttl=60s&turns=8");
  auto a = holder.mutex("a").acquire();
  auto b = holder.mutex("b").acquire();
  const auto take = [&s](const client& c, std::string_view first, std::string_view second) {
    return s.start<bool>([=](std::stop_token t) {
      return static_cast<bool>(c.acquire_all({first, second}, {}, std::move(t)));
    });
  };
  const auto forth = take(one, "a", "b");
  const auto back = take(two, "b", "a");
  a.unlock();
  b.unlock();
  for (auto* const each : {&forth, &back})
    if (!s.passes_until(**each, 1min)) return "they wait for each other";
  return forth->result() && back->result() ? "" : "not granted";
}

struct counted_steps final : detail::multi_acquire {
  using multi_acquire::multi_acquire;
  void step_answered() noexcept override { ++answers; }
  int answers = 0;
};

// The time is over when the first of two is granted, and another client has the second.
std::string several_are_waited_for_no_longer_than_asked() {
  fixture s;
  auto& holder = s.open("ttl=60s");
  auto& c = s.open("ttl=60s");
  const auto held = holder.mutex("b").acquire();
  mutex a(c, "a"), b(c, "b");
  exclusive_lockable* const both[] = {&a, &b};
  const detail::acquire_call call(detail::wait_bound::within(1s), nullptr);
  counted_steps all(detail::multi_access::asked_of(both, call), call.bound);
  for (int steps = 0; steps < 2; ++steps)
    if (all.advance()) return "it is over at once";
  s.pass(2s);
  const int before = all.answers;
  if (all.advance()) return "it is over while a lock was granted in time";
  const bool is_answered = all.answers > before;
  all.withdraw();
  while (!all.advance()) {}
  return is_answered ? "" : "it waits on, with its time over";
}

constexpr scenario of_several[] = {
    {mutant::multi_deadlocks, "memory", two_of_two_locks_do_not_wait_for_each_other},
    {mutant::passed_bound_waits_on, "memory", several_are_waited_for_no_longer_than_asked},
};

}  // namespace

std::span<const scenario> several_scenarios() { return of_several; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::several_scenarios() { return {}; }
#endif
