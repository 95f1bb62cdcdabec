// A waiting claim's knowledge of the nodes ahead of it, from its lists and its watches.
#include "backend/zookeeper/layouts/nodes_ahead.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::zookeeper::layout_tests {
namespace {

constexpr std::int64_t older = 5, own = 9, younger = 11;

std::vector<std::string> asked(nodes_ahead& n) {
  std::vector<std::string> out;
  n.ask_of_each([&](const std::string& name) { out.push_back(name); });
  return out;
}

// Behind c, b and a, each of which is there and watched.
nodes_ahead behind_three(bool are_all) {
  nodes_ahead out;
  out.show({"c", "b", "a"}, are_all);
  (void)asked(out);
  for (const unsigned answer : {0u, 1u, 2u}) out.on_watched(answer, older);
  return out;
}

TEST(zookeeper_nodes_ahead, where_all_are_watched_nothing_is_ahead_once_all_have_ended) {
  for (const auto& order : {std::vector{"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}}) {
    nodes_ahead n = behind_three(true);
    for (const char* name : order) {
      EXPECT_EQ(n.now(), what_is_ahead::watched) << name;
      n.on_event(name, true, own);
    }
    EXPECT_EQ(n.now(), what_is_ahead::nothing);
  }
}

TEST(zookeeper_nodes_ahead, the_end_of_the_farthest_calls_for_a_list_where_more_is_ahead) {
  nodes_ahead n = behind_three(false);
  n.on_event("b", true, own);
  n.on_event("c", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::watched) << "those that gave up waiting prove nothing";
  n.on_event("a", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::unknown);
}

TEST(zookeeper_nodes_ahead, a_list_keeps_the_watches_that_stand) {
  nodes_ahead n = behind_three(false);
  n.on_event("a", true, own);
  n.show({"c", "b"}, true);
  EXPECT_EQ(n.now(), what_is_ahead::watched);
  EXPECT_TRUE(n.are_watched());
  n.show({"d", "c", "b"}, true);
  EXPECT_FALSE(n.are_watched());
  EXPECT_EQ(asked(n), std::vector<std::string>{"d"});
}

TEST(zookeeper_nodes_ahead, one_that_is_gone_before_its_watch_has_ended) {
  nodes_ahead n;
  n.show({"b", "a"}, true);
  EXPECT_EQ(asked(n), (std::vector<std::string>{"b", "a"}));
  n.on_watched(0, older);
  n.on_missing(1);
  EXPECT_EQ(n.now(), what_is_ahead::watched);
  n.on_event("b", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::nothing);
}

TEST(zookeeper_nodes_ahead, a_change_of_its_data_uses_the_watch_up) {
  nodes_ahead n = behind_three(true);
  n.on_event("b", false, own);
  EXPECT_EQ(n.now(), what_is_ahead::unknown);
  n.show({"c", "b", "a"}, true);
  EXPECT_EQ(asked(n), std::vector<std::string>{"b"});
}

// The event comes while the answer of another request is awaited.
TEST(zookeeper_nodes_ahead, an_answer_counts_only_for_the_node_that_was_asked_about) {
  nodes_ahead n = behind_three(true);
  n.on_event("a", false, own);
  n.show({"c", "b", "a"}, true);
  EXPECT_EQ(asked(n), std::vector<std::string>{"a"});
  n.on_event("c", false, own);
  n.on_watched(0, older);
  n.show({"c", "b", "a"}, true);
  EXPECT_EQ(asked(n), std::vector<std::string>{"c"});
}

TEST(zookeeper_nodes_ahead, one_that_is_missing_is_no_other_that_was_asked_about_before) {
  nodes_ahead n = behind_three(false);
  n.on_event("a", true, own);
  n.show({"c", "b", "x"}, true);
  EXPECT_EQ(asked(n), std::vector<std::string>{"x"});
  n.on_missing(0);
  n.on_event("c", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::watched);
  n.on_event("b", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::nothing);
}

// The event is that of an earlier watch, and its node may be there again.
TEST(zookeeper_nodes_ahead, the_end_of_a_node_that_is_not_watched_yet_proves_nothing) {
  nodes_ahead n;
  n.show({"a"}, true);
  (void)asked(n);
  n.on_event("a", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::unknown);
}

TEST(zookeeper_nodes_ahead, the_end_of_a_younger_node_proves_nothing) {
  nodes_ahead n;
  n.show({"a"}, true);
  (void)asked(n);
  n.on_watched(0, younger);
  n.on_event("a", true, own);
  EXPECT_EQ(n.now(), what_is_ahead::unknown);
}

TEST(zookeeper_nodes_ahead, an_event_of_another_node_changes_nothing) {
  nodes_ahead n = behind_three(true);
  EXPECT_FALSE(n.on_event("d", true, own));
  EXPECT_EQ(n.now(), what_is_ahead::watched);
  EXPECT_TRUE(n.on_event("c", true, own));
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
