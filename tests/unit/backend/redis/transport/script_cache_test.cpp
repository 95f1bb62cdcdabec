#include "backend/redis/transport/script_cache.hpp"

#include "backend/redis/transport/request_writer.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

constexpr script three_scripts[] = {{"return 1", "aaaa"},
                                    {"return 2", "bbbb"},
                                    {"return 3", "cccc"}};

class redis_script_cache : public testing::Test {
 protected:
  std::string called(const script& s) {
    std::string out;
    command_writer(out, cache).call(s, 1, 1) << "key" << 7;
    return commands_in(out);
  }
  script_cache cache{three_scripts};
};

TEST_F(redis_script_cache, calls_by_hash) {
  EXPECT_EQ(called(three_scripts[0]), "EVALSHA aaaa 1 key 7");
  EXPECT_EQ(called(three_scripts[0]), "EVALSHA aaaa 1 key 7");
}

TEST_F(redis_script_cache, calls_once_by_text_after_a_call_was_not_executed) {
  cache.on_missing(cache.place_of(three_scripts[1]));
  EXPECT_EQ(called(three_scripts[0]), "EVALSHA aaaa 1 key 7");
  EXPECT_EQ(called(three_scripts[1]), "EVAL return 2 1 key 7");
  EXPECT_EQ(called(three_scripts[1]), "EVALSHA bbbb 1 key 7");
}

TEST_F(redis_script_cache, several_calls_that_were_not_executed_need_one_by_text) {
  for (int i = 0; i < 3; ++i) cache.on_missing(cache.place_of(three_scripts[2]));
  EXPECT_EQ(called(three_scripts[2]), "EVAL return 3 1 key 7");
  EXPECT_EQ(called(three_scripts[2]), "EVALSHA cccc 1 key 7");
}

TEST_F(redis_script_cache, a_server_that_loses_its_scripts_again_is_taught_again) {
  cache.on_missing(cache.place_of(three_scripts[0]));
  called(three_scripts[0]);
  cache.on_missing(cache.place_of(three_scripts[0]));
  EXPECT_EQ(called(three_scripts[0]), "EVAL return 1 1 key 7");
}

TEST_F(redis_script_cache, a_reply_that_belongs_to_no_script_changes_nothing) {
  cache.on_missing(script_cache::none);
  for (const script& s : three_scripts) EXPECT_EQ(called(s).substr(0, 8), "EVALSHA ");
}

}  // namespace
}  // namespace holdfast::redis
