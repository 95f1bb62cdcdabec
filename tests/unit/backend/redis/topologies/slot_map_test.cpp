#include <gtest/gtest.h>

#include "some_nodes.hpp"

namespace holdfast::redis {
namespace {

constexpr slot_number last_slot = slot_count - 1;

class redis_slot_map : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(map.learn({a_master("a", 1, {{0, 99}}), a_master("b", 2, {{100, last_slot}}),
                           a_replica("c", "a"), a_replica("d", "b")}));
  }
  slot_map map;
};

TEST_F(redis_slot_map, gives_each_slot_to_the_master_that_claims_it) {
  EXPECT_TRUE(map.is_whole());
  EXPECT_EQ(master_of(map, 0), "a");
  EXPECT_EQ(master_of(map, 99), "a");
  EXPECT_EQ(master_of(map, 100), "b");
  EXPECT_EQ(map.shards()[0].slots, 100u);
  EXPECT_EQ(map.shards()[1].slots, slot_count - 100);
}

TEST_F(redis_slot_map, what_is_known_is_no_news) {
  EXPECT_FALSE(map.learn({a_master("a", 1, {{0, 99}}), a_master("b", 2, {{100, last_slot}})}));
}

TEST_F(redis_slot_map, a_slot_follows_a_higher_epoch_and_no_lower_one) {
  EXPECT_TRUE(map.learn({a_master("a", 3, {{0, 100}}), a_master("b", 2, {{101, last_slot}})}));
  EXPECT_EQ(master_of(map, 100), "a");
  // A node that was cut off says what was true before.
  EXPECT_FALSE(map.learn({a_master("a", 1, {{0, 99}}), a_master("b", 2, {{100, last_slot}})}));
  EXPECT_EQ(master_of(map, 100), "a");
}

TEST_F(redis_slot_map, a_replica_that_takes_its_masters_place_is_of_the_same_shard) {
  EXPECT_TRUE(map.learn(
      {a_master("c", 3, {{0, 99}}), a_replica("a", "c"), a_master("b", 2, {{100, last_slot}})}));
  EXPECT_EQ(map.shards().size(), 2u);
  EXPECT_EQ(master_of(map, 0), "c");
  EXPECT_EQ(map.shards()[0].at.host, "c");
  EXPECT_FALSE(map.learn({a_master("a", 1, {{0, 99}}), a_master("b", 2, {{100, last_slot}})}));
  EXPECT_EQ(map.shards()[0].at.host, "c") << "the former master still claims its slots";
  EXPECT_TRUE(map.learn({a_master("a", 4, {{0, 99}}), a_replica("c", "a")}));
  EXPECT_EQ(map.shards()[0].at.host, "a") << "it has taken its place again";
}

TEST_F(redis_slot_map, a_replica_of_another_master_now_takes_that_ones_place) {
  map.learn(
      {a_master("a", 1, {{0, 99}}), a_master("b", 2, {{100, last_slot}}), a_replica("c", "b")});
  EXPECT_TRUE(map.learn({a_master("c", 3, {{100, last_slot}}), a_replica("b", "c")}));
  EXPECT_EQ(master_of(map, 100), "c");
  EXPECT_EQ(master_of(map, 0), "a");
}

TEST_F(redis_slot_map, a_replica_that_has_slots_beside_its_master_makes_a_new_shard) {
  EXPECT_TRUE(map.learn({a_master("a", 1, {{0, 98}}), a_master("b", 2, {{100, last_slot}}),
                         a_master("c", 7, {{99, 99}})}));
  EXPECT_EQ(master_of(map, 99), "c");
  EXPECT_EQ(master_of(map, 98), "a");
  EXPECT_EQ(map.shards()[0].at.host, "a");
}

TEST_F(redis_slot_map, a_replica_that_is_listed_with_slots_stays_of_its_shard) {
  cluster_node c = a_replica("c", "unknown");
  c.slots = {{0, 99}};
  c.epoch = 2;
  map.learn({a_master("a", 1, {{0, 99}}), a_master("b", 2, {{100, last_slot}}), c});
  EXPECT_EQ(map.shards()[0].master, "a");
  map.learn({a_master("c", 3, {{0, 99}}), a_master("b", 2, {{100, last_slot}})});
  EXPECT_EQ(map.shards().size(), 2u);
  EXPECT_EQ(map.shards()[0].master, "c");
}

TEST_F(redis_slot_map, a_new_master_makes_a_new_shard_and_none_is_removed) {
  EXPECT_TRUE(map.learn({a_master("e", 5, {{0, 99}})}));
  EXPECT_EQ(map.shards().size(), 3u);
  EXPECT_EQ(master_of(map, 0), "e");
  EXPECT_EQ(map.shards()[0].slots, 0u);
}

// Epochs need not tell: a cluster may have been made anew on the same servers.
TEST_F(redis_slot_map, a_slot_goes_where_its_own_master_says_once_that_one_claims_it) {
  map.mark_moved(5, "b:6379");
  EXPECT_EQ(master_of(map, 5), "a");
  EXPECT_FALSE(map.learn({a_master("a", 1, {{0, 99}})}));
  EXPECT_TRUE(map.learn({a_master("b", 0, {{5, 6}})}));
  EXPECT_EQ(master_of(map, 5), "b");
  EXPECT_EQ(master_of(map, 6), "a");
}

TEST_F(redis_slot_map, a_slot_that_has_arrived_is_believed_of_a_higher_epoch_again) {
  map.mark_moved(5, "b:6379");
  map.learn({a_master("b", 0, {{5, 5}})});
  EXPECT_TRUE(map.learn({a_master("a", 7, {{0, 99}})}));
  EXPECT_FALSE(map.learn({a_master("b", 0, {{5, 5}})}));
  EXPECT_EQ(master_of(map, 5), "a");
}

TEST_F(redis_slot_map, a_slot_that_has_moved_goes_nowhere_else) {
  map.mark_moved(5, "b:6379");
  map.learn({a_master("former", 0, {{0, 99}})});
  EXPECT_EQ(master_of(map, 5), "a");
}

TEST_F(redis_slot_map, a_master_that_does_not_know_the_others_host_names_a_port) {
  map.mark_moved(5, ":6379");
  EXPECT_TRUE(map.learn({a_master("b", 0, {{5, 5}})}));
  map.mark_moved(6, "?:6379");
  EXPECT_TRUE(map.learn({a_master("b", 0, {{6, 6}})}));
}

TEST_F(redis_slot_map, an_ipv6_address_is_named_with_and_without_brackets) {
  cluster_node six = a_master("six", 0, {{5, 6}});
  six.at.host = "::1";
  map.mark_moved(5, "::1:6379");
  map.mark_moved(6, "[::1]:6379");
  EXPECT_TRUE(map.learn({six}));
  EXPECT_EQ(master_of(map, 5), "six");
  EXPECT_EQ(master_of(map, 6), "six");
}

TEST_F(redis_slot_map, a_master_without_an_address_or_without_slots_counts_for_nothing) {
  cluster_node nowhere = a_master("e", 9, {{0, last_slot}});
  nowhere.at.port = 0;
  EXPECT_FALSE(map.learn({nowhere, a_master("f", 9, {})}));
  nowhere.at = {"", 6379, {}};
  EXPECT_FALSE(map.learn({nowhere}));
  EXPECT_EQ(map.shards().size(), 2u);
}

TEST_F(redis_slot_map, a_master_may_have_another_address) {
  cluster_node moved = a_master("a", 1, {{0, 99}});
  moved.at.host = "elsewhere";
  EXPECT_TRUE(map.learn({moved}));
  EXPECT_EQ(map.shards()[0].at.host, "elsewhere");
}

TEST(redis_slot_map_in_part, a_new_cluster_has_masters_without_an_epoch) {
  slot_map map;
  EXPECT_TRUE(map.learn({a_master("a", 0, {{0, last_slot}})}));
  EXPECT_EQ(master_of(map, 0), "a");
  EXPECT_EQ(map.shards()[0].at.host, "a");
}

TEST(redis_slot_map_in_part, names_a_slot_that_nobody_has) {
  slot_map map;
  map.learn({a_master("a", 1, {{0, 7}, {9, last_slot}})});
  EXPECT_FALSE(map.is_whole());
  EXPECT_EQ(map.first_without_shard(), 8);
  EXPECT_EQ(master_of(map, 8), "nobody");
}

TEST(redis_cluster_nodes, are_read_as_a_node_lists_them) {
  const auto all = read_cluster_nodes(
      "07c 127.0.0.1:30004@31004,host4 slave e7d 0 1426238317239 4 connected\n"
      "67e 127.0.0.1:30002@31002 master - 0 1426238316232 2 connected 5461-10922 16383\n"
      "292 10.0.0.9:30003@31003 master,fail - 1 2 3 disconnected [93->-67e]\n"
      "e7d :30001@31001 myself,master - 0 0 1 connected 0-5460 [93->-292] [77-<-67e]\n",
      {"seed", 30001, {}});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 4u);
  EXPECT_FALSE((*all)[0].is_master);
  EXPECT_EQ((*all)[0].master, "e7d");
  EXPECT_EQ((*all)[0].at.host + ':' + std::to_string((*all)[0].at.port), "127.0.0.1:30004");
  EXPECT_TRUE((*all)[1].is_master);
  EXPECT_EQ((*all)[1].master, "");
  EXPECT_FALSE((*all)[1].has_failed);
  EXPECT_EQ((*all)[1].epoch, 2u);
  ASSERT_EQ((*all)[1].slots.size(), 2u);
  EXPECT_EQ((*all)[1].slots[0], (std::pair<slot_number, slot_number>{5461, 10922}));
  EXPECT_EQ((*all)[1].slots[1], (std::pair<slot_number, slot_number>{16383, 16383}));
  EXPECT_TRUE((*all)[2].has_failed);
  EXPECT_EQ((*all)[3].at.host, "seed") << "a node need not know its own address";
  EXPECT_EQ((*all)[3].slots.size(), 1u) << "slots on their way are not counted";
}

TEST(redis_cluster_nodes, that_cannot_be_read_are_none) {
  for (const char* text :
       {"", "\n", "x", "a b c", "a 1.2.3.4 master - 0 0 1 connected", "a h:x@1 master - 0 0 1 c",
        "a h:1@2 master - 0 0 x connected", "a h:1@2 master - 0 0 1 connected 7-",
        "a h:1@2 master - 0 0 1 connected 9-7", "a h:1@2 master - 0 0 1 connected 0-16384",
        "a h:1@2 master - 0 0 1 connected y", "a h:1@2 master - 0 0 1 connected 70000",
        "a h:1@2 master - 0 0 1 connected 5-70000", "a h:99999999999@2 master - 0 0 1 connected",
        "a h@2 master - 0 0 1 connected", "a 6379@2 master - 0 0 1 connected",
        "a h:1@2 master - 0 0 1 connected 5-6\nb"})
    EXPECT_FALSE(read_cluster_nodes(text, {"seed", 1, {}})) << text;
}

TEST(redis_cluster_nodes, have_failed_if_the_others_agree_or_their_address_is_unknown) {
  const auto all = read_cluster_nodes("a h:1@2 master,fail? - 0 0 1 connected\r\n"
                                      "b h:2@2 slave,fail a 0 0 1 connected\r\n\r\n"
                                      "c :0@0 master,noaddr - 0 0 1 disconnected\r\n",
                                      {"seed", 1, {}});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_FALSE((*all)[0].has_failed);
  EXPECT_TRUE((*all)[1].has_failed);
  EXPECT_TRUE((*all)[2].has_failed);
  EXPECT_EQ((*all)[2].at.host, "") << "only a node's own address is that of the seed";
}

TEST(redis_cluster_nodes, are_at_the_address_that_they_announce) {
  const auto all =
      read_cluster_nodes("a 10.0.0.1:7000@1 myself,master - 0 0 1 connected", {"seed", 1, {}});
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].at.host, "10.0.0.1");
}

TEST(redis_cluster_nodes, announce_ipv6_addresses_without_brackets) {
  const auto all =
      read_cluster_nodes("a ::1:7000@1 master - 0 0 1 connected 0-16383", {"s", 1, {}});
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].at.host, "::1");
  EXPECT_EQ((*all)[0].at.port, 7000);
  EXPECT_EQ((*all)[0].slots[0], (std::pair<slot_number, slot_number>{0, 16383}));
}

}  // namespace
}  // namespace holdfast::redis
