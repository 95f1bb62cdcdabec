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

std::string wait_for_replica() { return formatted({"WAIT", "1", "1000"}); }

void step(bare_redis& over, const std::string& commands, std::size_t replies) {
  over.append(commands);
  over.flush();
  over.skip(replies);
}

// The steps of a grant that counts once the replica has it: WAIT over a connection of its own,
// which it blocks, and INFO after it, which shows that the server has been the master all along.
double confirmed_over_a_second_connection(int port, seconds length) {
  bare_redis redis(port), confirming(port);
  prepare(redis, set_and_compare, {"limit"});
  const auto cycle = set_and_compare.cycle_on("limit", bare_owner);
  const std::string confirm = formatted({"PUBLISH", "limit", "0"}) + wait_for_replica() +
                              formatted({"INFO", "replication"});
  return 1e9 / nanoseconds_per_cycle(length, [&] {
           step(redis, cycle.front(), 1);
           step(confirming, confirm, 3);
           step(redis, cycle.back(), 1);
         });
}

// One connection, which does nothing else while the replica is late.
outcome bare_confirmed_round_trips(int port, seconds length) {
  bare_redis redis(port);
  prepare(redis, set_and_compare, {"limit"});
  const auto cycle = set_and_compare.cycle_on("limit", bare_owner);
  const std::string acquire = cycle.front() + wait_for_replica();
  const double each = nanoseconds_per_cycle(length, [&] {
    step(redis, acquire, 2);
    step(redis, cycle.back(), 1);
  });
  return {1e9 / each, {}};
}

}  // namespace

std::vector<contest> redis_replicated() {
  need_redis_server();
  const auto servers = std::make_shared<replicated_server>();
  const auto client = holdfast::client::open(servers->master.url() + "?replicas=1");
  const auto lock = std::make_shared<holdfast::mutex>(client.mutex("order"));
  const int port = servers->master.port();
  return {{"",
           [servers, port](seconds length) { return bare_confirmed_round_trips(port, length); },
           [servers, lock](seconds length) {
             const auto once = [&] { lock->acquire().release(); };
             return outcome{1e9 / nanoseconds_per_cycle(length, once), {}};
           },
           {{"SET, WAIT and INFO over a second connection, and a release",
             [servers, port](seconds length) {
               return confirmed_over_a_second_connection(port, length);
             }}}}};
}

}  // namespace bench
