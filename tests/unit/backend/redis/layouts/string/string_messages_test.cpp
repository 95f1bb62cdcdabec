#include "backend/redis/layouts/string/codec.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redis_messages, of_a_grant_have_its_number_time_and_window) {
  const auto m =
      read_message("grant|1700000000000007|1700000000000003|250|1|89abcdef|hf1:0:1|a lock");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->what, push::kind::grant);
  EXPECT_EQ(m->number, 1'700'000'000'000'007);
  EXPECT_EQ(m->at, server_time(1'700'000'000'000'003));
  EXPECT_EQ(m->window, 250ms);
  EXPECT_TRUE(m->others);
  EXPECT_EQ(m->stamp, "89abcdef");
  EXPECT_EQ(m->owner, "hf1:0:1");
  EXPECT_EQ(m->lock, "a lock");
}

TEST(redis_messages, to_look_have_a_time) {
  const auto m = read_message("look|1700000000000003|hf1:0:1|lock");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->what, push::kind::look);
  EXPECT_EQ(m->at, server_time(1'700'000'000'000'003));
  EXPECT_EQ(m->owner, "hf1:0:1");
  EXPECT_EQ(m->lock, "lock");
}

TEST(redis_messages, that_a_lock_is_wanted_name_the_holder) {
  const auto m = read_message("wanted|1|hf1:0:1|lock");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->what, push::kind::wanted);
  EXPECT_EQ(m->owner, "hf1:0:1");
  EXPECT_EQ(m->lock, "lock");
}

TEST(redis_messages, of_a_lock_with_any_bytes_in_its_name) {
  const std::string_view lock("a|b\0c|", 6);
  const std::string text = "look|1|o|" + std::string(lock);
  const auto m = read_message(text);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->lock, lock);
}

TEST(redis_messages, of_another_kind_are_none_of_ours) {
  for (const std::string_view text : {"", "|", "granted|1|2|3|0|o|l", "Grant|1|2|3|0|o|l", "bye"})
    EXPECT_FALSE(read_message(text)) << text;
}

TEST(redis_messages, that_are_cut_or_spoilt_have_nothing_that_counts) {
  for (const std::string_view text :
       {"grant", "grant|", "grant|x|y|z|w", "grant|-1|-1|-1|0||", "grant|99999999999999999999|1",
        "grant|1|18446744073709551615|9223372036854775807|1|s|o|l"}) {
    const auto m = read_message(text);
    ASSERT_TRUE(m) << text;
    EXPECT_LE(m->number, number_max);
    EXPECT_TRUE(m->at == server_time::zero() || m->at < server_time(number_max)) << text;
    EXPECT_GE(m->window, duration::zero());
  }
}

}  // namespace
}  // namespace holdfast::redis
