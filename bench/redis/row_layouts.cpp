// redis/study, redisson-w1 and redisson-w2: what layouts cost against their own commands.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>
#include <vector>

#include "contenders.hpp"
#include "pace.hpp"
#include "redis/bare_limits.hpp"
#include "redis/fixture.hpp"
#include "redis/layouts.hpp"
#include "redis/real_redisson.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr const char* redisson = "redisson";
constexpr unsigned contender_count = 64;

// One worker, each release confirmed.
contest one_by_one(const std::shared_ptr<redis_fixture>& fixture, const std::string& layout,
                   const bare_lock& bare) {
  const std::string missing = why_not(*fixture, layout);
  if (!missing.empty()) return {layout, {}, {}, {}, missing};
  const auto client = holdfast::client::open(fixture->url(query_of(layout)));
  const auto lock = std::make_shared<holdfast::mutex>(client.mutex("order"));
  return {layout, [=](seconds length) { return bare_round_trips(fixture->port(), length, bare); },
          [=](seconds length) {
            const auto once = [&] { lock->acquire().release(); };
            return outcome{1e9 / nanoseconds_per_cycle(length, once), {}};
          }};
}

}  // namespace

std::vector<contest> redis_study() {
  const auto fixture = std::make_shared<redis_fixture>();
  return {one_by_one(fixture, "lua", setnx_in_a_script),
          one_by_one(fixture, "setnx", setnx_pexpire_del),
          one_by_one(fixture, "getset", setnx_get_del)};
}

std::vector<contest> redisson_confirmed() {
  const auto fixture = std::make_shared<redis_fixture>();
  need_layout(*fixture, redisson);
  contest c = one_by_one(fixture, redisson, hash_of_owners);
  c.peers = {redisson_peer_of(fixture->port(), 1, "peer")};
  return {c};
}

std::vector<contest> redisson_own_locks() {
  const auto fixture = std::make_shared<redis_fixture>();
  need_layout(*fixture, redisson);
  const auto client = holdfast::client::open(fixture->url(query_of(redisson)));
  const auto locks = std::make_shared<std::vector<holdfast::mutex>>();
  for (unsigned i = 0; i < contender_count; ++i)
    locks->push_back(client.mutex("order/" + std::to_string(i)));
  const auto lock_of = [locks](unsigned i) -> holdfast::mutex& { return (*locks)[i]; };
  return {
      {"",
       [fixture](seconds length) {
         return bare_pipeline(fixture->port(), contender_count, length, hash_of_owners);
       },
       [lock_of](seconds length) { return run_contenders_on(lock_of, contender_count, length); },
       {redisson_peer_of(fixture->port(), contender_count, "peer/#")}}};
}

}  // namespace bench
