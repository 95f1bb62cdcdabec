// Which layout left a key, and the names that have keys of several.
#include "backend/redis/diagnosis/mixed_layouts.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace holdfast::redis {
namespace {

using names = std::set<std::string>;

names several_of(std::initializer_list<std::string_view> keys) {
  mixed_layouts on;
  for (const std::string_view key : keys) on.add(key);
  return on.several();
}

TEST(redis_mixed_layouts, keys_of_one_layout_are_right) {
  EXPECT_EQ(several_of({"a", "holdfast:n", "holdfast:{a}:a:m", "holdfast:{a}:a:q"}), names{});
  EXPECT_EQ(several_of({"redisson_lock_queue:{a}", "redisson_lock_timeout:{a}", "a"}), names{});
  EXPECT_EQ(several_of({"holdfast:{a}:a:m", "redisson_lock_token:{b}", "{c}:timeout", "d.lock"}),
            names{});
}

TEST(redis_mixed_layouts, keys_of_two_are_found_whatever_they_are) {
  EXPECT_EQ(several_of({"holdfast:{a}:a:m", "a.lock"}), names{"a (getset, string)"});
  EXPECT_EQ(several_of({"redisson_lock_token:{a}", "redisson_lock_queue:{a}", "{a}:timeout"}),
            names{"a (redisson, redisson-fair, redisson-permits)"});
  EXPECT_EQ(several_of({"{a}:8743c9c0-0795-4907-87fd-6c719a6b4586:7:rwlock_timeout:1", "a.lock"}),
            names{"a (getset, redisson-rw)"});
}

TEST(redis_mixed_layouts, names_with_braces_of_their_own_are_known) {
  EXPECT_EQ(several_of({"holdfast:{b}:a{b}:r", "redisson_lock_token:a{b}", "a{b}:timeout"}),
            names{"a{b} (redisson, redisson-permits, string)"});
}

TEST(redis_mixed_layouts, keys_that_are_nobody_s_harm_nothing) {
  EXPECT_EQ(several_of({"", ":timeout", ".lock", ":rwlock_timeout:", ":rwlock_timeout:1",
                        "x:timeout", "a:rwlock_timeout:1", "redisson_lock_token:", "{:timeout",
                        "{}:timeout"}),
            names{});
}

}  // namespace
}  // namespace holdfast::redis
