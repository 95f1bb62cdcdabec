// A client with several shards: what it opens with, and its status.
#include "backend/redis/shards/shards.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backend/redis/layouts/layouts.hpp"
#include "tests/unit/backend/redis/on_model.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class redis_shards : public testing::Test {
 protected:
  redis_shards() { client.open({}, url_text); }
  ~redis_shards() override { client.close(world.now()); }

  static constexpr const char* url_text = "redis+shards://model,second";
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
  // The parts of a client to which the second shard is added.
  static std::vector<shards::part> second_added() {
    std::vector<shards::part> out = two_parts();
    out[1].former_weight = 0;
    return out;
  }
  // Opens another client; the error is none if it opens.
  struct outcome {
    std::error_code code;
    std::string text;
  };
  outcome opened(std::vector<shards::part> parts) {
    shards other(world, std::move(parts));
    outcome out;
    try {
      other.open({}, url_text);
    } catch (const lock_error& e) {
      out = {e.code(), e.what()};
    }
    other.close(world.now());
    return out;
  }
  std::string name_at(std::size_t shard) const {
    const std::vector<weighted_name> all{{"model", 1}, {"second", 1}};
    for (int i = 0;; ++i)
      if (std::string name = "lock" + std::to_string(i); shard_of(name, all) == shard) return name;
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

TEST_F(redis_shards, report_the_last_failure_of_a_shard_that_had_one) {
  EXPECT_EQ(client.status().last_failure, "");
  lose(world.model);
  EXPECT_TRUE(client.status().last_failure.starts_with("shard model: "))
      << client.status().last_failure;
}

TEST_F(redis_shards, the_connection_of_a_lock_is_that_of_its_shard) {
  lose(world.second);
  EXPECT_FALSE(client.of(name_at(0)).is_unavailable());
  EXPECT_TRUE(client.of(name_at(1)).is_unavailable());
}

TEST_F(redis_shards, the_connection_of_a_lock_that_moves_is_that_of_both_its_shards) {
  shards changing(world, second_added());
  changing.open({}, url_text);
  lose(world.second);
  EXPECT_FALSE(changing.of(name_at(0)).is_unavailable());
  EXPECT_TRUE(changing.of(name_at(1)).is_unavailable());
  EXPECT_NE(changing.of(name_at(1)).status().trouble.text.find("shard second: "),
            std::string::npos);
  changing.close(world.now());
}

TEST_F(redis_shards, open_for_clients_with_the_same_list) {
  world.command({"SET", "holdfast:shards", "model=1,second=1"});
  EXPECT_FALSE(opened(two_parts()).code);
}

TEST_F(redis_shards, refuse_a_client_with_another_list_and_keep_theirs) {
  world.command({"SET", "holdfast:shards", "model=1,third=1"});
  const outcome o = opened(two_parts());
  EXPECT_EQ(o.code, errc::bad_option);
  EXPECT_NE(o.text.find("shard model: its clients have another list of shards, model=1,third=1"),
            o.text.npos)
      << o.text;
  EXPECT_EQ(world.command({"GET", "holdfast:shards"}), bulk("model=1,third=1"));
}

TEST_F(redis_shards, refuse_a_client_if_another_one_writes_another_list_first) {
  world.command({"DEL", "holdfast:shards"});
  world.changed = [this](std::string bytes) {
    if (bytes == "$-1\r\n") world.command({"SET", "holdfast:shards", "model=1,third=1"});
    return bytes;
  };
  EXPECT_EQ(opened(two_parts()).code, errc::bad_option);
  world.changed = nullptr;
  EXPECT_EQ(world.command({"GET", "holdfast:shards"}), bulk("model=1,third=1"));
}

TEST_F(redis_shards, keep_the_list_of_their_first_client) {
  for (sim::model_redis* const s : {&world.model, &world.second})
    EXPECT_EQ(world.command_at(*s, {"GET", "holdfast:shards"}), bulk("model=1,second=1"));
  EXPECT_FALSE(opened(second_added()).code) << "another client has already ended the change";
  EXPECT_EQ(world.command({"GET", "holdfast:shards"}), bulk("model=1,second=1"));
}

TEST_F(redis_shards, keep_both_lists_during_a_change) {
  for (sim::model_redis* const s : {&world.model, &world.second})
    world.command_at(*s, {"SET", "holdfast:shards", "model=1"});
  EXPECT_FALSE(opened(second_added()).code);
  for (sim::model_redis* const s : {&world.model, &world.second})
    EXPECT_EQ(world.command_at(*s, {"GET", "holdfast:shards"}),
              bulk("model=1,second=1 was model=1"));
}

TEST_F(redis_shards, open_while_one_of_them_is_down) {
  world.dead = {&world.second};
  EXPECT_FALSE(opened(two_parts()).code);
}

TEST_F(redis_shards, do_not_open_while_all_are_down) {
  world.refuses_connections = true;
  const outcome o = opened(two_parts());
  EXPECT_EQ(o.code, errc::unavailable);
  EXPECT_NE(o.text.find("shard model: "), o.text.npos) << o.text;
}

TEST_F(redis_shards, do_not_open_where_one_of_them_rejects_the_client) {
  std::vector<shards::part> parts = two_parts();
  parts[1].where.password = "not of this server";
  const outcome o = opened(std::move(parts));
  EXPECT_EQ(o.code, errc::refused);
  EXPECT_NE(o.text.find("shard second: "), o.text.npos) << o.text;
}

TEST_F(redis_shards, do_not_open_where_two_of_them_are_one_server) {
  std::vector<shards::part> parts = two_parts();
  parts[1].where.where = parts[0].where.where;
  const outcome o = opened(std::move(parts));
  EXPECT_EQ(o.code, errc::bad_url);
  EXPECT_NE(o.text.find("are one server"), o.text.npos) << o.text;
}

// The two shards of a lock that moves number its grants in one sequence.
TEST_F(redis_shards, whose_tokens_cannot_be_raised_do_not_move_locks) {
  std::vector<shards::part> fixed = two_parts(), changing = second_added();
  for (auto* const parts : {&fixed, &changing})
    for (shards::part& p : *parts) p.where.layout = "redisson";
  EXPECT_FALSE(opened(std::move(fixed)).code);
  EXPECT_EQ(opened(std::move(changing)).code, errc::bad_option);
}

}  // namespace
}  // namespace holdfast::redis
