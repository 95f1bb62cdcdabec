// The numbers with which servers of a Redlock begin that have lost theirs.
#include <gtest/gtest.h>

#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

// The second server has voted for later grants before it became a replica of the first one. The
// third one had their numbers too, and has lost them.
TEST(redlock_records, a_copied_record_is_no_proof_of_the_largest_number) {
  three_servers w;
  w.second.set_keeps_log(true);
  w.copy_record(w.second, w.model);
  w.third.flushall();
  const std::int64_t clock = w.wall().count();
  client c = w.open();
  w.pass(50s);
  EXPECT_EQ(w.number_at(w.third), 0);
  w.pass(70s);
  EXPECT_GT(w.number_at(w.third), clock);
}

// Another client has been granted locks by the first two servers since this one looked at them.
TEST(redlock_records, a_server_that_has_lost_its_record_goes_on_above_grants_of_other_clients) {
  three_servers w;
  client c = w.open();
  w.third.flushall();
  (void)c.mutex("x").acquire();  // finds it out
  w.pass(30s);
  for (sim::model_redis* const s : {&w.model, &w.second})
    w.command_at(*s, {"HSET", w.record, "number", "9000"});
  w.pass(40s);
  EXPECT_GE(w.number_at(w.third), 9000);
}

// The others are asked when it may begin, and answer seconds later. Meanwhile one of them has got a
// larger number, and the server has been found without a record again.
TEST(redlock_records,
     a_server_goes_on_above_numbers_that_were_asked_for_after_the_last_look_at_it) {
  three_servers w({500, 500, 500});
  client c = w.open("op-timeout=20s");
  w.third.flushall();
  (void)c.mutex("x").acquire();  // finds it out
  w.pass(58s);
  w.stopped = {&w.model, &w.second};
  w.pass(4s);
  w.command_at(w.second, {"HSET", w.record, "number", "900"});
  w.stopped.clear();
  w.pass(5s);
  EXPECT_GE(w.number_at(w.third), 900);
}

}  // namespace
}  // namespace holdfast::redis
