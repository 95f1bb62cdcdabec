// The status of a client with several shards.
#include "backend/redis/shards/shards.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/redis/layouts/layouts.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class redis_shards : public testing::Test {
 protected:
  redis_shards() { client.open({}, "redis+shards://model,second"); }
  ~redis_shards() override { client.close(world.now()); }

  static std::vector<shards::part> two_parts() {
    std::vector<shards::part> out;
    for (const char* const host : {"model", "second"}) {
      shards::part p;
      p.name = host;
      p.where.layout = default_layout;
      p.where.where.host = host;
      p.where.text = std::string("redis://") + host;
      p.where.retry_base = 50ms;
      p.where.connect_timeout = 1s;
      p.where.op_timeout = p.where.rules.op_timeout = 2s;
      out.push_back(p);
    }
    return out;
  }
  void lose(sim::model_redis& server) {
    world.dead.push_back(&server);
    server.restart(sim::kept::everything);
    world.pass(100ms);
  }
  std::string trouble() { return client.status().trouble.text; }

  on_model world;
  shards client{world, two_parts()};
};

TEST_F(redis_shards, report_the_trouble_of_the_first_one_that_has_any) {
  EXPECT_EQ(trouble(), "");
  lose(world.second);
  EXPECT_EQ(trouble().substr(0, 14), "shard second: ") << trouble();
  lose(world.model);
  EXPECT_EQ(trouble().substr(0, 13), "shard model: ") << trouble();
}

TEST_F(redis_shards, are_connected_while_each_of_them_is) {
  EXPECT_TRUE(client.status().connected);
  lose(world.model);
  EXPECT_FALSE(client.status().connected);
}

}  // namespace
}  // namespace holdfast::redis
