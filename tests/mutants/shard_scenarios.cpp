// A lock that moves from one shard to another.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/shards/list_check.hpp"
#include "tests/unit/backend/redis/shards/two_shards.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using redis::two_shards;
using namespace std::chrono_literals;

std::string a_client_with_the_former_list_is_excluded() {
  two_shards shards;
  two_shards::mover c(shards);
  two_shards::other former(shards.former);
  c.acquire();
  former.acquire();
  const bool is_excluded = former.sink.log.empty();
  c.claim.release(nullptr);
  former.release();
  return is_excluded ? "" : "two hold the lock";
}

std::string the_next_grant_has_a_larger_number() {
  two_shards shards;
  two_shards::mover c(shards);
  two_shards::other former(shards.former);
  c.acquire();
  former.acquire();
  c.claim.release(nullptr);
  const bool is_larger = former.sink.granted.number > c.sink.granted.number;
  former.release();
  return is_larger ? "" : "a later grant has a smaller number";
}

std::string a_shard_that_does_not_answer_extends_nothing() {
  two_shards shards;
  two_shards::mover c(shards);
  c.acquire();
  shards.former.answers = false;
  shards.pass(5s);
  c.claim.renew(10s, 1);
  const bool is_extended = c.sink.log != "granted ";
  c.claim.release(nullptr);
  return is_extended ? "the lease outlives its lock at one shard" : "";
}

std::string another_list_is_refused() {
  const auto verdict = redis::judge_list("a=1,b=1", {"a=1,b=1,c=1", ""});
  return verdict == redis::list_verdict::refused ? "" : "clients have two lists of shards";
}

constexpr scenario of_shards[] = {
    {mutant::former_shard_omitted, "redis", a_client_with_the_former_list_is_excluded},
    {mutant::counter_of_other_shard_kept, "redis", the_next_grant_has_a_larger_number},
    {mutant::renewal_of_one_shard_believed, "redis", a_shard_that_does_not_answer_extends_nothing},
    {mutant::other_shard_list_accepted, "redis", another_list_is_refused},
};

}  // namespace

std::span<const scenario> shard_scenarios() { return of_shards; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {

std::span<const scenario> shard_scenarios() { return {}; }

}  // namespace holdfast::mutants
#endif
