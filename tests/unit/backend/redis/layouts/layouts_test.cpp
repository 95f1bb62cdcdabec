// The layouts by their names, and what differs where their keys are those of a cluster: names of
// locks, channels and counters.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "backend/redis/extensions.hpp"
#include "backend/redis/layouts/retrying_layout.hpp"
#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

namespace holdfast::redis {
namespace {

TEST(redis_layouts, that_are_demonstrations_have_a_warning) {
  for (const std::string_view name : {"setnx", "setnx-exists", "getset"})
    EXPECT_TRUE(danger_of(name).starts_with("a demonstration and not safe")) << name;
  for (const std::string_view name : {"string", "lua", "redisson", "no such layout"})
    EXPECT_EQ(danger_of(name), "") << name;
}

TEST(redis_layouts, refuse_a_name_that_a_cluster_cannot_keep_together_in_a_cluster_only) {
  for (const std::string_view name : {"string", "lua"}) {
    const two_nodes alone(false, name), in_cluster(true, name);
    EXPECT_EQ(alone.tested->name_fault("a}b"), "") << name;
    EXPECT_NE(in_cluster.tested->name_fault("a}b"), "") << name;
    EXPECT_EQ(in_cluster.tested->name_fault("a{b}"), "") << name;
  }
}

TEST(redis_layouts, of_redisson_have_sharded_channels_in_a_cluster_only) {
  const auto kind = [](const two_nodes& w) {
    return static_cast<const retrying_layout&>(*w.tested).codec().kind_of_channels();
  };
  for (const std::string_view name :
       {"redisson", "redisson-fair", "redisson-rw", "redisson-permits"}) {
    EXPECT_EQ(kind(two_nodes(false, name)), channel_kind::plain) << name;
    EXPECT_EQ(kind(two_nodes(true, name)), channel_kind::sharded) << name;
  }
}

TEST(redis_layouts, of_strings_need_one_counter_or_one_for_each_slot) {
  const layout_needs alone = two_nodes(false).tested->needs(),
                     in_cluster = two_nodes(true).tested->needs();
  EXPECT_EQ(alone.counter, "holdfast:n");
  EXPECT_FALSE(alone.counts_by_slot);
  EXPECT_EQ(in_cluster.counter, "");
  EXPECT_TRUE(in_cluster.counts_by_slot);
}

struct awaited_decision final : seam::decision_handler {
  void on_result(bool yes) override { decided = yes; }
  void on_failed(base::failure) override {}
  std::optional<bool> decided;
};

TEST(redis_layouts, of_strings_raise_the_counter_that_the_next_grant_has) {
  for (const bool are_in_cluster : {false, true}) {
    two_nodes w(are_in_cluster);
    w.pass();
    const std::int64_t floor = w.world.wall().count() + 100'000;
    awaited_decision to;
    w.tested->find<grant_counters>()->raise("first-job", floor, to);
    w.pass();
    EXPECT_EQ(to.decided, true);
    EXPECT_GT(w.held("first-job").number, floor) << are_in_cluster;
  }
}

}  // namespace
}  // namespace holdfast::redis
