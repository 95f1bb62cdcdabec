// Which leases hold permits in layout curator-semaphore, and what a GUID says.
#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"

#include <gtest/gtest.h>

namespace holdfast::zookeeper::curator_semaphore {
namespace {

const base::uuid mine = with_total({0x0123456789ab4cdeull, 0x8f00000000000001ull}, 3);
const std::string my_lease = "_c_01234567-89ab-8f1d-8f00-000000000003-lease-";
const std::string curators = "_c_11111111-89ab-4cde-8f00-000000000009-lease-";

std::vector<std::string_view> views(const std::vector<std::string>& all) {
  return {all.begin(), all.end()};
}
own_leases found(const std::vector<std::string>& all, std::uint32_t total = 3) {
  return read_leases(views(all), mine, total);
}

TEST(zookeeper_semaphore_codec, names_are_those_of_curators_protected_creates) {
  EXPECT_EQ(lease_name(mine), my_lease);
  EXPECT_EQ(queue_name(mine), "_c_01234567-89ab-8f1d-8f00-000000000003-lock-");
}

TEST(zookeeper_semaphore_codec, leases_among_the_first_of_the_total_hold_permits) {
  EXPECT_TRUE(found({my_lease + "0000000009"}).hold);
  EXPECT_TRUE(found({my_lease + "0000000009", curators + "0000000010", curators + "0000000011",
                     curators + "0000000012"})
                  .hold)
      << "later ones wait";
  EXPECT_TRUE(
      found({curators + "0000000007", curators + "0000000008", my_lease + "0000000009"}).hold);
  EXPECT_FALSE(found({curators + "0000000006", curators + "0000000007", curators + "0000000008",
                      my_lease + "0000000009"})
                   .hold);
  EXPECT_FALSE(found({curators + "0000000006", curators + "0000000007", my_lease + "0000000008",
                      my_lease + "0000000009"})
                   .hold)
      << "all of a claim, or none";
  EXPECT_FALSE(found({curators + "0000000006"}).hold);
  EXPECT_EQ(found({my_lease + "0000000010", my_lease + "0000000009"}).names,
            (std::vector{my_lease + "0000000009", my_lease + "0000000010"}));
}

TEST(zookeeper_semaphore_codec, every_node_counts_and_equal_sequences_count_for_each_other) {
  EXPECT_FALSE(found({"foreign", my_lease + "0000000009"}, 1).hold);
  EXPECT_FALSE(found({curators + "2147483647", my_lease + "2147483647"}, 1).hold);
  EXPECT_FALSE(found({curators + "-2147483648", my_lease + "0000000009"}, 1).hold);
  EXPECT_FALSE(found({my_lease + "-2147483648"}, 1).hold);
  EXPECT_FALSE(found({"other0000000010", my_lease + "0000000009"}, 1).hold) << "it is no lease";
}

TEST(zookeeper_semaphore_codec, a_guid_of_ours_says_its_total_and_no_other_does) {
  const std::string four = lease_name(with_total({1, 2}, 4)) + "0000000001";
  EXPECT_EQ(found({four, my_lease + "0000000009"}).other_total, 4u);
  EXPECT_EQ(found({four, my_lease + "0000000009"}, 4).other_total, 0u);
  EXPECT_EQ(found({four, curators + "0000000002", my_lease + "0000000009"}).other_total, 4u);
  const std::string without_prefix = "x_y" + four.substr(3);
  EXPECT_EQ(found({without_prefix, my_lease + "0000000009"}).other_total, 0u);
  EXPECT_EQ(found({curators + "0000000001", "x", "_c_-lease-0000000001"}).other_total, 0u);
  const std::string longer = owner_text(with_total({1, 2}, 4)) + "x-lease-0000000001";
  EXPECT_EQ(found({longer, my_lease + "0000000009"}).other_total, 0u);
}

TEST(zookeeper_semaphore_codec, holders_are_shown_with_their_permits_and_without_those_that_wait) {
  const std::vector<std::string> all = {curators + "0000000008", my_lease + "0000000009",
                                        my_lease + "0000000010",
                                        lease_name(with_total({1, 2}, 3)) + "0000000011"};
  const auto shown = holders_of(views(all));
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].owner, "_c_11111111-89ab-4cde-8f00-000000000009");
  EXPECT_EQ(shown[0].total, 0u);
  EXPECT_EQ(shown[1].owner, owner_text(mine));
  EXPECT_EQ(shown[1].names.size(), 2u);
  EXPECT_EQ(shown[1].total, 3u);
}

TEST(zookeeper_semaphore_codec, the_line_is_that_of_curators_mutex) {
  const std::vector<std::string> all = {"_c_x-lock-0000000002", queue_name(mine) + "0000000001",
                                        "_c_y-lock-0000000000"};
  const place_in_queue place = read_queue(views(all), mine);
  EXPECT_TRUE(place.is_there);
  EXPECT_EQ(place.own, queue_name(mine) + "0000000001");
  EXPECT_EQ(place.blocker, "_c_y-lock-0000000000");
  EXPECT_TRUE(place.others_behind);
  EXPECT_FALSE(read_queue({}, mine).is_there);
}

}  // namespace
}  // namespace holdfast::zookeeper::curator_semaphore
