#include "backend/redis/layouts/string/codec.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using verdict = reply::verdict;

struct error_row {
  std::string_view error;
  verdict what;
  errc why;
};

constexpr error_row error_rows[] = {
    {"LOADING Redis is loading", verdict::not_now, errc::unavailable},
    {"READONLY You can't write", verdict::not_now, errc::unavailable},
    {"EXECABORT Transaction discarded because of: OOM command not allowed", verdict::not_now,
     errc::unavailable},
    {"NOPERM this user", verdict::failed, errc::refused},
    {"BADTYPE the key of the lock holds something else", verdict::failed, errc::mismatch},
    {"OTHERKIND a semaphore", verdict::failed, errc::mismatch},
    {"AHEAD holdfast:n", verdict::failed, errc::refused},
    {"ERR unknown command", verdict::failed, errc::refused},
    {"", verdict::failed, errc::refused},
};

TEST(redis_reply_errors, pass_or_fail_a_claim_for_their_reason) {
  for (const error_row& r : error_rows) {
    reply asked;
    asked.epoch = 7;
    const reply read = read_error(r.error, asked);
    EXPECT_EQ(read.what, r.what) << r.error;
    EXPECT_EQ(read.why, r.why) << r.error;
    EXPECT_EQ(read.epoch, 7u);
  }
}

TEST(redis_reply_errors, another_kind_of_lock_is_our_own_finding_and_not_quoted) {
  const std::string text = explain_reply("OTHERKIND a semaphore of 3 permits has this name");
  EXPECT_TRUE(text.starts_with("a semaphore of 3 permits has this name: a name is either")) << text;
  EXPECT_TRUE(explain_reply("OTHERKIND").starts_with(": a name is either"));
  EXPECT_TRUE(
      explain_reply("BADTYPE the key").starts_with("the server answered \"BADTYPE the key\": "));
  EXPECT_EQ(explain_reply("ERR what"), "the server answered \"ERR what\"");
}

}  // namespace
}  // namespace holdfast::redis
