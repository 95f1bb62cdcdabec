// The line of those who wait at Redis.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/recipes/queueing.hpp"

namespace holdfast::mutants {
namespace {

using namespace std::chrono_literals;
using base::mutant;

// It stands in line by its first operation_of_state, and its second one is refused.
std::string a_refused_claim_leaves_the_line() {
  const base::time_point now{1000s};
  const redis::timing rules{.op_timeout = 5s};
  redis::queueing_recipe steps;
  const auto hear = [&](redis::operation to, redis::reply::verdict what) {
    redis::reply r;
    r.to = to;
    r.what = what;
    r.epoch = steps.epoch();
    r.number = 17;
    r.rest = r.ttl = 10s;
    r.sent = now;
    return steps.on(r, now, rules);
  };
  steps.acquire({.ttl = 10s}, now, rules);
  hear(redis::operation::try_lock, redis::reply::verdict::busy);
  hear(redis::operation::lock_or_queue, redis::reply::verdict::queued);
  steps.on_wake(now, rules);
  const redis::effects out = hear(redis::operation::lock_or_queue, redis::reply::verdict::failed);
  if (out.event != redis::claim_event::refused) return "it was not refused";
  return out.orphan ? "" : "a claim stays in line that nobody has";
}

constexpr scenario of_line[] = {
    {mutant::refused_claim_stays_queued, "redis", a_refused_claim_leaves_the_line},
};

}  // namespace

std::span<const scenario> line_scenarios() { return of_line; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::line_scenarios() { return {}; }
#endif
