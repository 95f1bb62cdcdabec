// What the replies of scripts mean, whatever the layout.
#include "backend/redis/layouts/retrying_codec.hpp"

#include "backend/redis/layouts/lua/codec.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using meant = retrying_reply::verdict;

class redis_retrying_codec : public testing::Test {
 protected:
  retrying_reply read(std::string_view bytes,
                      retrying_operation what = retrying_operation::try_lock) {
    retrying_reply out;
    out.to = what;
    with_replies(bytes, [&](const value& v) { out = codec.read(v, {}, out); });
    return out;
  }
  std::vector<holder> holders(std::string_view bytes) {
    std::vector<holder> out;
    with_replies(bytes, [&](const value& v) { out = codec.read_holders_reply(v); });
    return out;
  }
  const lua::codec codec;
};

TEST_F(redis_retrying_codec, an_attempt_is_granted_or_finds_the_rest_of_a_lease) {
  EXPECT_EQ(read("*1\r\n:1\r\n").what, meant::granted);
  const retrying_reply busy = read("*2\r\n:0\r\n:5000\r\n");
  EXPECT_EQ(busy.what, meant::busy);
  EXPECT_EQ(busy.rest, 5s);
  EXPECT_EQ(read("*2\r\n:0\r\n:-1\r\n").rest, duration::max()) << "without an end";
  EXPECT_EQ(read("*1\r\n:0\r\n").rest, duration::max()) << "not known";
  EXPECT_EQ(read("*2\r\n:0\r\n:5000\r\n", retrying_operation::resolve).what, meant::busy);
}

TEST_F(redis_retrying_codec, a_release_is_done_or_not_the_owners) {
  const auto release = [&](std::string_view bytes) {
    return read(bytes, retrying_operation::release);
  };
  EXPECT_EQ(release(":1\r\n").what, meant::done);
  EXPECT_FALSE(release(":1\r\n").notified_others);
  EXPECT_EQ(release(":3\r\n").what, meant::done);
  EXPECT_TRUE(release(":3\r\n").notified_others);
  EXPECT_EQ(release(":0\r\n").what, meant::not_owner);
  EXPECT_NE(release(":0\r\n").why, errc::not_held) << "another owner has it";
  EXPECT_EQ(release(":2\r\n").what, meant::not_owner);
  EXPECT_EQ(release(":2\r\n").why, errc::not_held);
}

TEST_F(redis_retrying_codec, what_no_script_answers_is_a_failure_that_may_leave_something) {
  for (const std::string_view bytes : {":1\r\n", "+OK\r\n", "$-1\r\n"}) {
    const retrying_reply r = read(bytes);
    EXPECT_EQ(r.what, meant::failed) << bytes;
    EXPECT_EQ(r.why, errc::refused) << bytes;
    EXPECT_TRUE(r.left) << bytes;
  }
  EXPECT_TRUE(read("*1\r\n:1\r\n", retrying_operation::release).left);
}

TEST_F(redis_retrying_codec, an_error_fails_or_passes_and_may_stop_a_script_half_way) {
  const retrying_reply full = read("-OOM command not allowed\r\n");
  EXPECT_EQ(full.what, meant::not_now);
  EXPECT_EQ(full.why, errc::unavailable);
  EXPECT_FALSE(full.left);
  const retrying_reply denied = read("-NOPERM this user\r\n", retrying_operation::release);
  EXPECT_EQ(denied.what, meant::failed);
  EXPECT_EQ(denied.why, errc::refused);
  EXPECT_EQ(read("-ERR odd\r\n").why, errc::refused);
  EXPECT_TRUE(read("-ERR odd script: f_1, on @user_script:3.\r\n").left);
}

TEST_F(redis_retrying_codec, a_renewal_is_the_one_at_its_place) {
  const auto renewal = [&](std::string_view bytes, std::size_t i) {
    meant out = meant::busy;
    with_replies(bytes, [&](const value& v) { out = codec.read_renewal(v, i, {}).what; });
    return out;
  };
  EXPECT_EQ(renewal("*2\r\n:1\r\n:0\r\n", 0), meant::done);
  EXPECT_EQ(renewal("*2\r\n:1\r\n:0\r\n", 1), meant::not_owner);
  EXPECT_EQ(renewal("*2\r\n:1\r\n:0\r\n", 2), meant::failed);
  EXPECT_EQ(renewal("-LOADING the data\r\n", 1), meant::not_now);
}

TEST_F(redis_retrying_codec, a_holder_has_an_owner_and_the_rest_of_its_lease) {
  const auto found = holders("*2\r\n" + bulk("hfl:1") + ":1500\r\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, "hfl:1");
  EXPECT_EQ(found[0].expires_in, 1500ms);
  EXPECT_EQ(found[0].waiting, -1) << "not known";
  EXPECT_EQ(holders("*2\r\n" + bulk("x") + ":-1\r\n")[0].expires_in,
            std::chrono::milliseconds::max());
  EXPECT_TRUE(holders("*0\r\n").empty());
  EXPECT_TRUE(holders("*1\r\n" + bulk("x")).empty());
  EXPECT_EQ(holder_of("x", 1999us).expires_in, 1ms);
}

TEST_F(redis_retrying_codec, an_owner_is_a_prefix_and_32_digits) {
  EXPECT_EQ(hex_of({.high = 0x0123456789abcdef, .low = 0xf}), "0123456789abcdef000000000000000f");
  EXPECT_EQ(codec.text_of({.high = 1, .low = 2}), "hfl:00000000000000010000000000000002");
  EXPECT_TRUE(codec.is_owner("hfl:1"));
  EXPECT_FALSE(codec.is_owner("hf1:1"));
  EXPECT_FALSE(retrying_owner{});
  EXPECT_TRUE((retrying_owner{.high = 0, .low = 1}));
}

}  // namespace
}  // namespace holdfast::redis
