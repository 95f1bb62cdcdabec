#include "backend/redis/layouts/string/codec.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string_view>

namespace holdfast::redis {
namespace {

reply heard_of_join(std::string_view bytes) {
  reply_reader reader;
  reply out;
  EXPECT_TRUE(reader.feed(std::as_bytes(std::span(bytes))));
  reader.for_each([&](const value& v) {
    out = read_join(v, {}).to_claim;
    return true;
  });
  return out;
}

TEST(redis_speech, a_script_that_was_stopped_half_way_may_have_left_something) {
  for (const std::string_view error :
       {"-ERR The user executing the script can't run this command or subcommand script: "
        "bca0a03f5e0db91b558a86329fbe98793c2add62, on @user_script:52.\r\n",
        "-ERR Error running script (call to f_bca0a03f5e0db91b558a86329fbe98793c2add62): "
        "@user_script:52: @user_script: 52: -NOPERM\r\n"}) {
    const reply r = heard_of_join(error);
    EXPECT_EQ(r.what, reply::verdict::failed);
    EXPECT_TRUE(r.left) << error;
  }
}

TEST(redis_speech, what_the_server_did_not_begin_has_left_nothing) {
  for (const std::string_view error :
       {"-NOPERM this user has no permissions to run the 'evalsha' command\r\n",
        "-OTHERKIND a mutex has this name\r\n"}) {
    const reply r = heard_of_join(error);
    EXPECT_EQ(r.what, reply::verdict::failed);
    EXPECT_FALSE(r.left) << error;
  }
}

}  // namespace
}  // namespace holdfast::redis
