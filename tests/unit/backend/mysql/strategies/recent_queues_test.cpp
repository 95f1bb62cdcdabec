#include "backend/mysql/strategies/row/recent_queues.hpp"

#include <gtest/gtest.h>

namespace holdfast::mysql_unit {
namespace {

using namespace std::chrono_literals;

TEST(mysql_recent_queues, are_kept_for_each_lock_until_their_own_time_is_over) {
  constexpr std::size_t first = 1, second = 2, third = 3;
  const base::time_point start{1s};
  mysql::row::recent_queues queues;
  queues.note(first, start);
  queues.note(second, start + 60ms);
  queues.note(third, start + 110ms);
  EXPECT_FALSE(queues.has(first, start + 110ms));
  EXPECT_TRUE(queues.has(second, start + 110ms)) << "it does not depend on the other locks";
  EXPECT_TRUE(queues.has(third, start + 110ms));
  queues.note(second, start + 120ms);
  EXPECT_TRUE(queues.has(second, start + 219ms));
  EXPECT_FALSE(queues.has(second, start + 220ms));
}

}  // namespace
}  // namespace holdfast::mysql_unit
