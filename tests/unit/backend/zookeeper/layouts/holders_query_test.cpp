// The query for the holders of many locks.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

struct counted_holders final : seam::holders_handler {
  int answers = 0;
  void on_result(std::vector<holder>) override { ++answers; }
  void on_failed(base::failure) override { ADD_FAILURE(); }
};

TEST(zookeeper_holders_query, asks_about_a_few_locks_at_a_time) {
  constexpr int locks = 500, most_at_once = 100;
  std::vector<std::string> names;
  for (int i = 0; i < locks; ++i) names.push_back("lock" + std::to_string(i));
  layout_fixture t;
  counted_holders told;
  t.layout().inspect("", told);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children(names));
  int asked = 0, answered = 0;
  while (told.answers == 0) {
    const std::string sent = t.requests();
    if (!sent.empty()) asked += 1 + static_cast<int>(std::ranges::count(sent, ' '));
    ASSERT_LT(answered, asked);
    EXPECT_LE(asked - answered, most_at_once);
    t.answer(5, zookeeper::error::no_node);
    ++answered;
  }
  EXPECT_EQ(answered, locks);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
