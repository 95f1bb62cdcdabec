#include "backend/redis/shards/rendezvous.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace holdfast::redis {
namespace {

std::string name_of(int i) { return "lock" + std::to_string(i); }

std::map<std::string, int> counts_of(const std::vector<weighted_name>& all, int locks = 100'000) {
  std::map<std::string, int> out;
  for (int i = 0; i < locks; ++i) ++out[all[shard_of(name_of(i), all)].name];
  return out;
}

// Each client has to compute this, whatever it was built with.
TEST(redis_shard_rendezvous, gives_each_name_the_shard_that_it_always_had) {
  const std::vector<weighted_name> all{{"a", 1}, {"b", 1}, {"c", 1}};
  std::string found;
  for (int i = 0; i < 40; ++i) found += all[shard_of(name_of(i), all)].name;
  EXPECT_EQ(found, "bbbbbcbcaabaccbbcacacacacacabcccaccabbbb");
  const std::vector<weighted_name> unequal{{"a", 1}, {"b", 2}, {"c", 0.5}};
  found.clear();
  for (int i = 0; i < 40; ++i) found += unequal[shard_of(name_of(i), unequal)].name;
  EXPECT_EQ(found, "bbbbbcbcabbaabbbcacacbbaaacabcacaccbbbbb");
}

TEST(redis_shard_rendezvous, spreads_the_names_evenly) {
  for (const auto& [name, count] : counts_of({{"a", 1}, {"b", 1}, {"c", 1}})) {
    EXPECT_GT(count, 32'500) << name;
    EXPECT_LT(count, 34'200) << name;
  }
}

TEST(redis_shard_rendezvous, spreads_them_by_weight) {
  const auto counts = counts_of({{"a", 1}, {"b", 2}, {"c", 1}});
  EXPECT_NEAR(counts.at("a"), 25'000, 700);
  EXPECT_NEAR(counts.at("b"), 50'000, 700);
  EXPECT_NEAR(counts.at("c"), 25'000, 700);
}

TEST(redis_shard_rendezvous, a_new_shard_takes_its_share_and_moves_nothing_else) {
  const std::vector<weighted_name> before{{"a", 1}, {"b", 1}, {"c", 1}};
  std::vector<weighted_name> after = before;
  after.push_back({"d", 1});
  int moved = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto was = before[shard_of(name_of(i), before)].name,
               is = after[shard_of(name_of(i), after)].name;
    if (was == is) continue;
    EXPECT_EQ(is, "d");
    ++moved;
  }
  EXPECT_NEAR(moved, 25'000, 700);
}

TEST(redis_shard_rendezvous, depends_on_the_names_of_the_shards_and_not_on_their_order) {
  const std::vector<weighted_name> all{{"a", 1}, {"b", 3}, {"c", 1}},
      turned{{"c", 1}, {"b", 3}, {"a", 1}};
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(all[shard_of(name_of(i), all)].name, turned[shard_of(name_of(i), turned)].name);
}

TEST(redis_shard_rendezvous, of_a_name_with_a_tag_only_the_tag_counts) {
  const std::vector<weighted_name> all{{"a", 1}, {"b", 1}, {"c", 1}};
  for (int i = 0; i < 100; ++i) {
    const std::string tag = name_of(i);
    EXPECT_EQ(shard_of("{" + tag + "}:lines", all), shard_of(tag, all));
    EXPECT_EQ(shard_of("x{" + tag + "}{y}", all), shard_of(tag, all));
  }
  EXPECT_LT(shard_of("a}b", all), 3u);
}

}  // namespace
}  // namespace holdfast::redis
