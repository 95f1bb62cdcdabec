// Readers and writers in one line, in layouts curator-rw and kazoo-rw, and kazoo's names.
#include <gtest/gtest.h>

#include "backend/zookeeper/layouts/curator_rw/codec.hpp"
#include "backend/zookeeper/layouts/kazoo/codec.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "tests/unit/backend/zookeeper/layouts/codec_names.hpp"

namespace holdfast::zookeeper::layout_tests {
namespace {

constexpr base::uuid id{0x0123456789ab4cdeull, 0x8f00000000000001ull};
const curator_rw::codec readers_and_writers;
const std::vector<std::string> nothing_else;
const kazoo::codec of_kazoo(kazoo::kind::lock, nothing_else);
const kazoo::codec rw_of_kazoo(kazoo::kind::read_write, nothing_else);

constexpr std::string_view r1 = "_c_a-__READ__0000000001", r2 = "_c_b-__READ__0000000002",
                           w3 = "_c_c-__WRIT__0000000003", r4 = "_c_d-__READ__0000000004",
                           w5 = "_c_e-__WRIT__0000000005";

std::string place_of_reader(std::string_view own, const names& all) {
  return place_of(readers_and_writers, own, all, lock_mode::shared);
}

TEST(zookeeper_rw_codec, names_are_those_of_curator_and_of_kazoo) {
  EXPECT_EQ(readers_and_writers.name_of(id, lock_mode::shared),
            "_c_01234567-89ab-4cde-8f00-000000000001-__READ__");
  EXPECT_EQ(readers_and_writers.name_of(id, lock_mode::exclusive),
            "_c_01234567-89ab-4cde-8f00-000000000001-__WRIT__");
  EXPECT_EQ(of_kazoo.name_of(id, lock_mode::exclusive), "0123456789ab4cde8f00000000000001__lock__");
  EXPECT_EQ(rw_of_kazoo.name_of(id, lock_mode::shared),
            "0123456789ab4cde8f00000000000001__rlock__");
}

TEST(zookeeper_rw_codec, readers_before_the_first_writer_hold_together) {
  const names all{w5, r4, w3, r2, r1};
  EXPECT_EQ(queue_of(readers_and_writers, all),
            "(_c_a-__READ__0000000001) (_c_b-__READ__0000000002) _c_c-__WRIT__0000000003 "
            "_c_d-__READ__0000000004 _c_e-__WRIT__0000000005");
  EXPECT_EQ(place_of_reader(r1, all), "holds, others behind");
  EXPECT_EQ(place_of_reader(r2, all), "holds, others behind");
  EXPECT_EQ(place_of_reader(r2, {r1, r2}), "holds") << "readers do not wait for readers";
}

TEST(zookeeper_rw_codec, a_reader_waits_for_the_last_writer_before_it) {
  EXPECT_EQ(place_of_reader(r4, {r1, w3, r4}), "behind " + std::string(w3));
  EXPECT_EQ(place_of_reader("_c_f-__READ__0000000006", {w3, r4, w5, "_c_f-__READ__0000000006"}),
            "behind " + std::string(w5));
}

TEST(zookeeper_rw_codec, a_writer_waits_for_the_node_before_it_and_looks_again) {
  EXPECT_EQ(place_of(readers_and_writers, w5, {w3, r4, w5}), "behind " + std::string(r4));
  EXPECT_EQ(place_of(readers_and_writers, w5, {w3, w5}), "behind " + std::string(w3))
      << "a writer that ends may go on as a reader, so its end alone grants nothing";
  EXPECT_EQ(place_of(readers_and_writers, w3, {w3, r4}), "holds, others behind");
}

TEST(zookeeper_rw_codec, a_writer_that_becomes_a_reader_keeps_its_place) {
  const std::string kept = "_c_01234567-89ab-4cde-8f00-000000000001-__READ__0000000003";
  EXPECT_EQ(readers_and_writers.name_of(id, lock_mode::shared) + text_of_sequence(3), kept);
  EXPECT_EQ(place_of_reader(kept, {kept, r4, w5}), "holds, others behind");
  EXPECT_EQ(place_of(readers_and_writers, w5, {kept, w5}), "behind " + kept);
  EXPECT_EQ(rw_of_kazoo.name_of(id, lock_mode::shared),
            "0123456789ab4cde8f00000000000001__rlock__");
}

TEST(zookeeper_rw_codec, a_writer_of_kazoo_does_not_see_what_is_no_number) {
  const names all{"x__lock__0000000002", "y__lock__of_mine", "z__lock__00000003", "note"};
  EXPECT_EQ(queue_of(of_kazoo, all), "(x__lock__0000000002)");
  EXPECT_EQ(place_of(of_kazoo, "y__lock__of_mine", all), "is not there");
}

TEST(zookeeper_rw_codec, a_sequence_past_the_limit_is_that_of_a_contender) {
  EXPECT_EQ(queue_of(of_kazoo, {"x__lock__-2147483648"}), "(x__lock__-2147483648)");
  EXPECT_EQ(queue_of(of_kazoo, {"x__lock__--147483648"}), "");
}

TEST(zookeeper_rw_codec, kazoos_mutex_does_not_wait_for_readers_of_its_read_write_lock) {
  const names all{"x__rlock__0000000001", "y__lock__0000000002"};
  EXPECT_EQ(place_of(of_kazoo, "y__lock__0000000002", all), "holds");
  EXPECT_EQ(place_of(rw_of_kazoo, "y__lock__0000000002", all), "behind x__rlock__0000000001");
}

TEST(zookeeper_rw_codec, further_texts_block_kazoos_locks) {
  const std::vector<std::string> extra{"-lock-"};
  const kazoo::codec mixed(kazoo::kind::lock, extra);
  const names all{"_c_a-lock-0000000001", "y__lock__0000000002"};
  EXPECT_EQ(place_of(mixed, "y__lock__0000000002", all), "behind _c_a-lock-0000000001 only");
  EXPECT_EQ(mixed.parent(), node_kind::persistent);
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
