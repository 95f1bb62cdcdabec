// Which layout left a key, and the names that have keys of several.
#include "backend/redis/diagnosis/mixed_layouts.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace holdfast::redis {
namespace {

using lock_names = std::set<std::string>;

lock_names several_of(std::initializer_list<std::string_view> keys) {
  mixed_layouts on;
  for (const std::string_view key : keys) on.add(key);
  return on.several();
}

TEST(redis_mixed_layouts, keys_of_one_layout_are_right) {
  EXPECT_EQ(several_of({"a", "holdfast:n", "holdfast:{a}:a:m", "holdfast:{a}:a:q"}), lock_names{});
  EXPECT_EQ(several_of({"redisson_lock_queue:{a}", "redisson_lock_timeout:{a}", "a"}),
            lock_names{});
  EXPECT_EQ(several_of({"holdfast:{a}:a:m", "redisson_lock_token:{b}", "{c}:timeout", "d.lock"}),
            lock_names{});
}

TEST(redis_mixed_layouts, keys_of_two_are_found_whatever_they_are) {
  EXPECT_EQ(several_of({"holdfast:{a}:a:m", "a.lock"}), lock_names{"a (getset, string)"});
  EXPECT_EQ(several_of({"redisson_lock_token:{a}", "redisson_lock_queue:{a}", "{a}:timeout"}),
            lock_names{"a (redisson, redisson-fair, redisson-permits)"});
  EXPECT_EQ(several_of({"{a}:8743c9c0-0795-4907-87fd-6c719a6b4586:7:rwlock_timeout:1", "a.lock"}),
            lock_names{"a (getset, redisson-rw)"});
}

TEST(redis_mixed_layouts, names_with_braces_of_their_own_are_known) {
  EXPECT_EQ(several_of({"holdfast:{b}:a{b}:r", "redisson_lock_token:a{b}", "a{b}:timeout"}),
            lock_names{"a{b} (redisson, redisson-permits, string)"});
}

TEST(redis_mixed_layouts, keys_that_are_nobody_s_harm_nothing) {
  EXPECT_EQ(several_of({"", ":timeout", ".lock", ":rwlock_timeout:", ":rwlock_timeout:1",
                        "x:timeout", "a:rwlock_timeout:1", "redisson_lock_token:", "{:timeout",
                        "{}:timeout"}),
            lock_names{});
  EXPECT_EQ(several_of({":rwlock_timeout:1", ":rwlock_timeout.lock"}), lock_names{});
}

TEST(redis_mixed_layouts, each_key_beside_a_lock_shows_its_layout) {
  EXPECT_EQ(several_of({"redisson_lock_timeout:{a}", "a.lock"}),
            lock_names{"a (getset, redisson-fair)"});
  EXPECT_EQ(several_of({"redisson_lock_queue:{a}", "a.lock"}),
            lock_names{"a (getset, redisson-fair)"});
  EXPECT_EQ(several_of({"a{b}:8743:7:rwlock_timeout:1", "a{b}.lock"}),
            lock_names{"a{b} (getset, redisson-rw)"});
  EXPECT_EQ(several_of({"a:b:8743:7:rwlock_timeout:1", "a:b.lock"}),
            lock_names{"a:b (getset, redisson-rw)"});
}

TEST(redis_mixed_layouts, names_are_listed_in_their_order) {
  EXPECT_EQ(several_of({"b.lock", "holdfast:{b}:b:m", "a.lock", "holdfast:{a}:a:q", "c.lock"}),
            (lock_names{"a (getset, string)", "b (getset, string)"}));
}

}  // namespace
}  // namespace holdfast::redis
