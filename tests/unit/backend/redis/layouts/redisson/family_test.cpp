// The names of Redisson's locks, as its clients form them.
#include <gtest/gtest.h>

#include <string>

#include "backend/redis/layouts/redisson/codec.hpp"
#include "backend/redis/layouts/redisson/family.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis::redisson {
namespace {

TEST(redisson_names, keys_beside_the_lock_have_its_name_in_braces) {
  EXPECT_EQ(prefixed("redisson_lock__channel", "job"), "redisson_lock__channel:{job}");
  EXPECT_EQ(prefixed("redisson_lock__channel", "a{b}c"), "redisson_lock__channel:a{b}c");
  EXPECT_EQ(prefixed("p", "a{b"), "p:a{b");
  EXPECT_EQ(suffixed("job", "timeout"), "{job}:timeout");
  EXPECT_EQ(suffixed("a{b}", "timeout"), "a{b}:timeout");
}

TEST(redisson_names, a_sharded_channel_is_marked_for_the_scripts) {
  EXPECT_EQ(published(channel_kind::plain, "redisson_sc:{job}"), "redisson_sc:{job}");
  EXPECT_EQ(published(channel_kind::sharded, "redisson_sc:{job}"), "sharded redisson_sc:{job}");
  EXPECT_EQ(published(channel_kind::sharded, ""), "") << "nobody listens";
}

TEST(redisson_names, a_client_is_a_random_uuid_and_an_owner_a_thread_of_it) {
  testkit::manual_environment env;
  const std::string one = new_client_id(env), other = new_client_id(env);
  EXPECT_NE(one, other);
  EXPECT_EQ(one.size(), 36u);
  EXPECT_EQ(one[14], '4');
  retrying_owner o;
  o.low = 17;
  EXPECT_EQ(owner_of(one, o), one + ":17");
  EXPECT_TRUE(is_owner(owner_of(one, o)));
  o.low = ~std::uint64_t{0};
  EXPECT_EQ(owner_of(one, o), one + ":9223372036854775807") << "a positive Java long";
}

TEST(redisson_names, an_owner_has_its_shape) {
  EXPECT_TRUE(is_owner("8743c9c0-0795-4907-87fd-6c719a6b4586:1"));
  EXPECT_FALSE(is_owner("8743c9c0-0795-4907-87fd-6c719a6b4586:"));
  EXPECT_FALSE(is_owner("8743c9c0-0795-4907-87fd-6c719a6b4586"));
  EXPECT_FALSE(is_owner("8743c9c0x0795-4907-87fd-6c719a6b4586:1"));
  EXPECT_FALSE(is_owner("mode"));
  EXPECT_FALSE(is_owner("hf1:0123456789abcdef0123456789abcdef"));
}

retrying_reply::verdict read_attempt(const std::string& bytes) {
  const codec tested("id", waiters::listen);
  retrying_reply r;
  r.to = retrying_operation::try_lock;
  with_replies(bytes, [&](const value& v) { r = tested.read(v, {}, r); });
  return r.what;
}

TEST(redisson_replies, to_an_attempt_grant_no_lock_without_a_number) {
  for (const std::string_view number : {"0", "-1", "9007199254740992"}) {
    const std::string bytes = "*2\r\n:1\r\n:" + std::string(number) + "\r\n";
    EXPECT_EQ(read_attempt(bytes), retrying_reply::verdict::failed) << number;
  }
}

TEST(redisson_replies, to_an_attempt_have_two_parts) {
  for (const char* const bytes : {"*1\r\n:0\r\n", "*3\r\n:1\r\n:5\r\n:6\r\n"})
    EXPECT_EQ(read_attempt(bytes), retrying_reply::verdict::failed) << bytes;
}

TEST(redisson_names, an_owner_ends_where_its_text_ends) {
  constexpr std::string_view text = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(is_owner(text.substr(0, size))) << size;
  EXPECT_TRUE(is_owner(text));
}

TEST(redisson_names, a_name_whose_keys_would_not_lie_together_is_refused) {
  EXPECT_EQ(name_fault("job"), "");
  EXPECT_EQ(name_fault("a{b}"), "");
  EXPECT_NE(name_fault("a}b"), "");
}

}  // namespace
}  // namespace holdfast::redis::redisson
