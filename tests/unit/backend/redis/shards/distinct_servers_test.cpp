#include "backend/redis/shards/list_check.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::redis {
namespace {

std::string text_of(const std::vector<server_of_shard>& all) { return text_of_same_server(all); }

TEST(redis_shard_servers, are_distinct_if_their_run_ids_differ) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({{"a", "h1:1", "r1"}}), "");
  EXPECT_EQ(text_of({{"a", "h1:1", "r1"}, {"b", "h2:1", "r2"}, {"c", "h3:1", "r3"}}), "");
}

TEST(redis_shard_servers, are_named_with_both_addresses_if_they_are_one) {
  EXPECT_EQ(text_of({{"a", "h1:1", "r1"}, {"b", "h2:1", "r2"}, {"c", "/run/redis", "r1"}}),
            "the shards a (h1:1) and c (/run/redis) are one server; name each server once");
}

TEST(redis_shard_servers, are_named_by_their_addresses_without_names) {
  EXPECT_EQ(text_of({{"h1:1", "h1:1", "r1"}, {"h2:1", "h2:1", "r1"}}),
            "the shards h1:1 and h2:1 are one server; name each server once");
}

// For example where the user has no right to INFO.
TEST(redis_shard_servers, that_report_no_run_id_are_not_compared) {
  EXPECT_EQ(text_of({{"a", "h1:1", ""}, {"b", "h2:1", ""}}), "");
}

TEST(redis_shard_servers, may_be_databases_of_one_server) {
  EXPECT_EQ(text_of({{"a", "h1:1", "r1", 0}, {"b", "h1:1", "r1", 1}}), "");
  EXPECT_NE(text_of({{"a", "h1:1", "r1", 1}, {"b", "h2:1", "r1", 1}}), "");
}

}  // namespace
}  // namespace holdfast::redis
