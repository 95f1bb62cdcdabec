#include "backend/redis/transport/older_connections.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ids = std::vector<std::int64_t>;

constexpr base::time_point left_at{1h};

TEST(redis_older_connections, are_kept_by_server) {
  older_connections o;
  o.add("a", 1, left_at);
  o.add("b", 7, left_at);
  o.add("a", 2, left_at);
  EXPECT_EQ(o.of("a", left_at), (ids{1, 2}));
  EXPECT_EQ(o.of("b", left_at), ids{7});
  EXPECT_EQ(o.of("c", left_at), ids{});
}

TEST(redis_older_connections, a_server_is_clear_once_each_has_ended) {
  older_connections o;
  EXPECT_TRUE(o.is_clear("a"));
  o.add("a", 1, left_at);
  o.add("b", 7, left_at);
  EXPECT_FALSE(o.is_clear("a"));
  o.remove("a", 1);
  EXPECT_TRUE(o.is_clear("a"));
  EXPECT_FALSE(o.is_clear("b"));
}

TEST(redis_older_connections, one_without_an_id_can_never_be_ended) {
  older_connections o;
  o.add("a", 0, left_at);
  EXPECT_EQ(o.of("a", left_at), ids{});
  EXPECT_FALSE(o.is_clear("a"));
}

TEST(redis_older_connections, are_forgotten_when_nothing_of_them_can_arrive_any_more) {
  older_connections o;
  o.add("a", 1, left_at);
  EXPECT_EQ(o.of("a", left_at + 19min), ids{1});
  EXPECT_EQ(o.of("a", left_at + 21min), ids{});
  EXPECT_TRUE(o.is_clear("a"));
}

TEST(redis_older_connections, a_server_with_too_many_is_never_clear) {
  older_connections o;
  for (int i = 1; i <= 65; ++i) o.add("a", i, left_at);
  const ids known = o.of("a", left_at);
  EXPECT_EQ(known.size(), 64u);
  for (const auto id : known) o.remove("a", id);
  EXPECT_FALSE(o.is_clear("a"));
}

TEST(redis_older_connections, the_server_that_was_left_first_is_forgotten_first) {
  older_connections o;
  for (int i = 0; i < 17; ++i) o.add("s" + std::to_string(i), i + 1, left_at);
  EXPECT_EQ(o.of("s0", left_at), ids{});
  EXPECT_EQ(o.of("s1", left_at), ids{2});
}

TEST(redis_older_connections, a_server_that_is_left_again_and_again_has_one_place) {
  older_connections o;
  o.add("first", 1, left_at);
  for (int i = 0; i < 40; ++i) o.add(i % 2 == 0 ? "a" : "b", i + 2, left_at);
  EXPECT_EQ(o.of("first", left_at), ids{1});
}

TEST(redis_older_connections, are_kept_for_twenty_minutes_after_the_last_one) {
  older_connections o;
  o.add("a", 1, left_at);
  o.add("a", 2, left_at + 10min);
  EXPECT_EQ(o.of("a", left_at + 30min), (ids{1, 2}));
  EXPECT_EQ(o.of("a", left_at + 30min + 1ms), ids{});
}

TEST(redis_older_connections, a_server_that_was_left_again_is_forgotten_later) {
  older_connections o;
  for (int i = 0; i < 16; ++i) o.add("s" + std::to_string(i), i + 1, left_at);
  EXPECT_EQ(o.of("s0", left_at), ids{1});
  o.add("s0", 20, left_at);
  o.add("s16", 21, left_at);
  EXPECT_EQ(o.of("s0", left_at), (ids{1, 20}));
  EXPECT_EQ(o.of("s1", left_at), ids{});
}

TEST(redis_older_connections, the_end_of_one_that_is_not_known_changes_nothing) {
  older_connections o;
  o.add("a", 1, left_at);
  o.remove("b", 1);
  o.remove("a", 2);
  EXPECT_EQ(o.of("a", left_at), ids{1});
}

}  // namespace
}  // namespace holdfast::redis
