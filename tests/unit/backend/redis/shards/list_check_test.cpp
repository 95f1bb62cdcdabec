#include "backend/redis/shards/list_check.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr const char *of_two = "a=1,b=1", *with_c = "a=1,b=1,c=1", *with_d = "a=1,b=1,d=1";

TEST(redis_shard_list, is_the_same_in_any_order_and_without_shards_of_no_weight) {
  EXPECT_EQ(text_of_list({{"b", 1}, {"c", 0}, {"a", 0.5}}), "a=0.5,b=1");
}

TEST(redis_shard_list, is_written_by_the_first_client) {
  EXPECT_EQ(judge_list("", {of_two, ""}), list_verdict::writes);
  EXPECT_EQ(judge_list("", {with_c, of_two}), list_verdict::writes);
}

TEST(redis_shard_list, opens_for_clients_that_have_it) {
  EXPECT_EQ(judge_list(of_two, {of_two, ""}), list_verdict::opens);
  EXPECT_EQ(judge_list("a=1,b=1,c=1 was a=1,b=1", {with_c, of_two}), list_verdict::opens);
}

TEST(redis_shard_list, is_refused_to_clients_that_have_another_one) {
  EXPECT_EQ(judge_list(of_two, {with_c, ""}), list_verdict::refused);
  EXPECT_EQ(judge_list(of_two, {with_c, with_d}), list_verdict::refused);
  EXPECT_EQ(judge_list("a=1,b=1,c=1 was a=1,b=1", {with_d, ""}), list_verdict::refused);
  EXPECT_EQ(judge_list("a=1,b=1,c=1 was a=1,b=1", {with_d, with_c}), list_verdict::refused);
  EXPECT_EQ(judge_list("a=1,b=1,c=1 was a=1,b=1", {with_d, of_two}), list_verdict::refused);
}

TEST(redis_shard_list, changes_in_two_steps) {
  const client_lists before{of_two, ""}, between{with_c, of_two}, after{with_c, ""};
  EXPECT_EQ(judge_list(before.text(), between), list_verdict::writes);
  EXPECT_EQ(judge_list(between.text(), before), list_verdict::opens);
  EXPECT_EQ(judge_list(between.text(), after), list_verdict::writes);
  EXPECT_EQ(judge_list(after.text(), between), list_verdict::opens);
  EXPECT_EQ(judge_list(after.text(), before), list_verdict::refused);
  EXPECT_EQ(judge_list(before.text(), after), list_verdict::refused);
}

}  // namespace
}  // namespace holdfast::redis
