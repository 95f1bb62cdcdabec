// Order of the nodes in layout curator, as Curator's StandardLockInternalsDriver has it.
#include <gtest/gtest.h>

#include "backend/zookeeper/layouts/curator/codec.hpp"
#include "tests/unit/backend/zookeeper/layouts/codec_names.hpp"

namespace holdfast::zookeeper::layout_tests {
namespace {

constexpr std::string_view first = "_c_ffffffff-0000-4000-8000-000000000000-lock-0000000007",
                           second = "_c_00000000-0000-4000-8000-000000000000-lock-0000000008",
                           third = "_c_88888888-0000-4000-8000-000000000000-lock-0000000010";
const curator::codec codec;

TEST(zookeeper_curator_codec, a_nodes_name_is_that_of_curators_protected_create) {
  const base::uuid id{0x0123456789ab4cdeull, 0x8f00000000000001ull};
  EXPECT_EQ(text_of(id), "01234567-89ab-4cde-8f00-000000000001");
  EXPECT_EQ(codec.name_of(id, lock_mode::exclusive),
            "_c_01234567-89ab-4cde-8f00-000000000001-lock-");
}

TEST(zookeeper_curator_codec, the_lowest_sequence_number_holds_whatever_the_order_of_the_names) {
  for (const names& all : {names{first, second, third}, names{third, first, second}}) {
    EXPECT_EQ(place_of(codec, first, all), "holds, others behind");
    EXPECT_EQ(place_of(codec, second, all),
              "behind " + std::string(first) + " only, others behind");
    EXPECT_EQ(place_of(codec, third, all),
              "behind " + std::string(second) + " and " + std::string(first) + " only");
  }
  EXPECT_EQ(place_of(codec, first, {first}), "holds");
  EXPECT_EQ(place_of(codec, second, {first, third}), "is not there");
  EXPECT_EQ(place_of(codec, second, {}), "is not there");
}

TEST(zookeeper_curator_codec, the_nearest_ahead_are_told) {
  const names all{"lock-0000000004", "lock-0000000001", "lock-0000000003", "lock-0000000005",
                  "lock-0000000002"};
  const std::string nearest = "behind lock-0000000004 and lock-0000000003 and lock-0000000002";
  for (const names& each : {all, reversed(all)}) {
    EXPECT_EQ(place_of(codec, "lock-0000000005", each), nearest);
    EXPECT_EQ(place_of(codec, "lock-0000000004", each),
              "behind lock-0000000003 and lock-0000000002 and lock-0000000001 only, others behind");
  }
}

// Curator compares what stands behind the last "lock-" as text.
TEST(zookeeper_curator_codec, the_number_stands_behind_the_last_marker) {
  EXPECT_EQ(queue_of(codec, {"lock-lock-0000000003", "lock-9-of-my-lock-0000000002"}),
            "(lock-9-of-my-lock-0000000002) lock-lock-0000000003");
  EXPECT_EQ(queue_of(codec, {"lock-9-lock-0000000002", "lock-0000000001"}),
            "(lock-0000000001) lock-9-lock-0000000002");
}

TEST(zookeeper_curator_codec, nodes_of_other_clients_of_the_recipe_are_in_the_line) {
  const names all{"lock-0000000009", second, "x-lock-0000000001"};
  EXPECT_EQ(queue_of(codec, all),
            "(x-lock-0000000001) " + std::string(second) + " lock-0000000009");
  EXPECT_EQ(place_of(codec, second, all), "behind x-lock-0000000001 only, others behind");
}

TEST(zookeeper_curator_codec, children_without_the_marker_are_no_part_of_the_line) {
  const names all{"__READ__0000000001", "note", second, "block_0000000000"};
  EXPECT_EQ(queue_of(codec, all), '(' + std::string(second) + ')');
  EXPECT_EQ(place_of(codec, second, all), "holds");
  EXPECT_EQ(place_of(codec, "note", all), "is not there");
}

TEST(zookeeper_curator_codec, nodes_of_one_number_have_an_order) {
  const names all{"b-lock-0000000001", "a-lock-0000000001", "c-lock-0000000001"};
  for (const names& each : {all, reversed(all)}) {
    EXPECT_EQ(place_of(codec, all[1], each), "holds, others behind");
    EXPECT_EQ(place_of(codec, all[0], each), "behind a-lock-0000000001 only, others behind");
    EXPECT_EQ(place_of(codec, all[2], each), "behind b-lock-0000000001 and a-lock-0000000001 only");
    EXPECT_EQ(queue_of(codec, each), "(a-lock-0000000001) b-lock-0000000001 c-lock-0000000001");
  }
}

TEST(zookeeper_curator_codec, a_name_without_a_valid_sequence_has_a_place_too) {
  const names all{"lock-2147483647", "lock--2147483648", "lock-"};
  EXPECT_EQ(queue_of(codec, all), "(lock-) lock--2147483648 lock-2147483647");
  EXPECT_EQ(queue_of(codec, reversed(all)), queue_of(codec, all));
}

TEST(zookeeper_curator_codec, a_negative_sequence_of_another_node_is_reported) {
  const std::vector<std::string_view> wrapped{"a-lock--2147483648", second};
  EXPECT_TRUE(codec.place_of(second, lock_mode::exclusive, wrapped).has_wrapped);
  const std::vector<std::string_view> at_the_limit{"a-lock-2147483647", second, "a-lock--foreign"};
  EXPECT_FALSE(codec.place_of(second, lock_mode::exclusive, at_the_limit).has_wrapped);
}

TEST(zookeeper_curator_codec, a_node_of_another_kind_of_lock_is_one_with_a_sequence) {
  const auto sees_another_kind = [&](std::string_view name) {
    const std::vector<std::string_view> all{name, second};
    return codec.place_of(second, lock_mode::exclusive, all).is_other_kind;
  };
  EXPECT_TRUE(sees_another_kind("_c_a-__WRIT__0000000001"));
  EXPECT_TRUE(sees_another_kind("_c_a-__READ__0000000001"));
  EXPECT_FALSE(sees_another_kind("__READ__me"));
  EXPECT_FALSE(sees_another_kind("note"));
}

TEST(zookeeper_curator_codec, the_parent_is_a_container) {
  EXPECT_EQ(codec.parent(), node_kind::container);
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
