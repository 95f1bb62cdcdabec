// redis/w1-replicas: a lock that a replica has to confirm.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>
#include <vector>

#include "pace.hpp"
#include "redis/bare_limits.hpp"
#include "redis/fixture.hpp"
#include "row.hpp"

namespace bench {
namespace {

struct replicated_server {
  replicated_server() { replica.replicate(master); }

  holdfast::testkit::redis_server master, replica;
};

// The first step and a WAIT for one replica in one write, the second step in another.
outcome bare_confirmed_round_trips(int port, seconds length) {
  bare_redis redis(port);
  prepare(redis, set_and_compare, {"limit"});
  const auto cycle = set_and_compare.cycle_on("limit", bare_owner);
  const std::string wait = formatted({"WAIT", "1", "1000"});
  const double each = nanoseconds_per_cycle(length, [&] {
    redis.append(cycle.front());
    redis.append(wait);
    redis.flush();
    redis.skip(2);
    redis.append(cycle.back());
    redis.flush();
    redis.skip(1);
  });
  return {1e9 / each, {}};
}

}  // namespace

std::vector<contest> redis_replicated() {
  need_redis_server();
  const auto servers = std::make_shared<replicated_server>();
  const auto client = holdfast::client::open(servers->master.url() + "?replicas=1");
  const auto lock = std::make_shared<holdfast::mutex>(client.mutex("order"));
  return {{"",
           [servers](seconds length) {
             return bare_confirmed_round_trips(servers->master.port(), length);
           },
           [servers, lock](seconds length) {
             const auto once = [&] { lock->acquire().release(); };
             return outcome{1e9 / nanoseconds_per_cycle(length, once), {}};
           }}};
}

}  // namespace bench
