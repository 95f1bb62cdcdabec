// The line of those who wait at Redis.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/recipes/queueing.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

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

// A release removes a waiter whose client does not listen: PUBLISH counts the subscribers of one
// server, so a client that subscribes again, there or at another server, is not among them.
std::string a_waiter_that_did_not_listen_returns_to_the_queue() {
  redis::on_model world;
  const client c = world.open("ttl=60s"), d = world.open("ttl=60s");
  lease held = c.mutex("job").acquire();
  world.at(1s, [&] {
    world.model.close_subscribers();
    held.release();
  });
  return d.mutex("job").try_acquire_for(10s) ? "" : "a waiter sleeps though the lock is free";
}

constexpr scenario of_line[] = {
    {mutant::removed_waiter_sleeps, "redis", a_waiter_that_did_not_listen_returns_to_the_queue},
    {mutant::refused_claim_stays_queued, "redis", a_refused_claim_leaves_the_line},
};

}  // namespace

std::span<const scenario> line_scenarios() { return of_line; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::line_scenarios() { return {}; }
#endif
