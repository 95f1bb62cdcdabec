// The data of the node of layout `node`.
#include "backend/zookeeper/layouts/single_node/data.hpp"

#include <gtest/gtest.h>

namespace holdfast::zookeeper::single_node {
namespace {

constexpr base::uuid attempt{0x0123456789ab4cdeull, 0x8f00000000000001ull};
const std::string guid_text = "01234567-89ab-4cde-8f00-000000000001";

zookeeper::node_data of(std::string_view data, std::int64_t session) {
  return {data, {.ephemeral_owner = session}};
}

TEST(zookeeper_single_node_data, shows_its_owner_and_who_that_is) {
  const std::string text = text_of(attempt, "host 12 a note");
  EXPECT_EQ(text, guid_text + " host 12 a note");
  const content shown = read(of(text, 5));
  EXPECT_EQ(shown.owner, guid_text);
  EXPECT_EQ(shown.who.host, "host");
  EXPECT_EQ(shown.who.pid, 12);
  EXPECT_EQ(shown.who.note, "a note");
}

TEST(zookeeper_single_node_data, of_another_program_shows_its_session) {
  EXPECT_EQ(read(of("10.0.0.1", 0x1f)).owner, "0x000000000000001f");
  EXPECT_EQ(read(of("10.0.0.1", 0x1f)).who.host, "10.0.0.1");
  EXPECT_EQ(read(of("", 1)).owner, "0x0000000000000001");
  EXPECT_EQ(read(of("01234567_89ab_4cde_8f00_000000000001 x", 1)).owner, "0x0000000000000001");
  EXPECT_EQ(read(of(guid_text, 1)).owner, guid_text);
}

TEST(zookeeper_single_node_data, is_ours_by_the_attempt_and_the_session) {
  const std::string text = text_of(attempt, "host 12");
  EXPECT_TRUE(is_ours(of(text, 5), attempt, 5));
  EXPECT_FALSE(is_ours(of(text, 6), attempt, 5)) << "made by an earlier session";
  EXPECT_FALSE(is_ours(of(text, 5), base::uuid{1, 2}, 5));
  EXPECT_FALSE(is_ours(of("", 5), attempt, 5));
}

}  // namespace
}  // namespace holdfast::zookeeper::single_node
