#include "backend/zookeeper/transport/jute.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/backend/zookeeper/transport/wire.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using zookeeper::frame_reader;
using zookeeper::jute_reader;
using zookeeper::jute_writer;

TEST(zookeeper_jute, writes_big_endian_numbers_and_lengths) {
  std::string out;
  jute_writer(out).write_int(-2).write_long(0x0102030405060708).write_bool(true).write_text("ab");
  EXPECT_EQ(hex_of(out), "fffffffe"
                         "0102030405060708"
                         "01"
                         "000000026162");
}

TEST(zookeeper_jute, reads_what_it_wrote) {
  std::string out;
  jute_writer(out).write_int(-7).write_long(-9).write_bool(false).write_text("").write_text("x/y");
  jute_reader r(bytes_of(out));
  EXPECT_EQ(r.read_int(), -7);
  EXPECT_EQ(r.read_long(), -9);
  EXPECT_FALSE(r.read_bool());
  EXPECT_EQ(r.read_text(), "");
  EXPECT_EQ(r.read_text(), "x/y");
  EXPECT_TRUE(r.is_good());
  EXPECT_TRUE(r.is_at_end());
}

TEST(zookeeper_jute, what_is_not_there_is_zero_and_never_good_again) {
  jute_reader r(bytes_of("\1\1\1"));
  EXPECT_EQ(r.read_int(), 0);
  EXPECT_FALSE(r.is_good());
  EXPECT_FALSE(r.read_bool()) << "although bytes were left";
}

TEST(zookeeper_jute, null_is_empty_and_a_negative_length_is_a_fault) {
  std::string null, negative;
  jute_writer(null).write_int(-1);
  jute_writer(negative).write_int(-2);
  jute_reader a(bytes_of(null)), b(bytes_of(negative)), c(bytes_of(null)), d(bytes_of(negative));
  EXPECT_EQ(a.read_text(), "");
  EXPECT_TRUE(a.is_good());
  (void)b.read_text();
  EXPECT_FALSE(b.is_good());
  EXPECT_EQ(c.read_count(4), 0u);
  EXPECT_TRUE(c.is_good());
  (void)d.read_count(4);
  EXPECT_FALSE(d.is_good());
}

TEST(zookeeper_jute, a_count_needs_the_room_of_its_items) {
  std::string two, many;
  jute_writer(two).write_int(2).write_int(0).write_int(0);
  jute_writer(many).write_int(3).write_int(0).write_int(0);
  jute_reader a(bytes_of(two)), b(bytes_of(many));
  EXPECT_EQ(a.read_count(4), 2u);
  EXPECT_EQ(b.read_count(4), 0u);
  EXPECT_FALSE(b.is_good());
}

std::vector<std::string> frames_of(std::string_view bytes, std::size_t piece, bool& works,
                                   std::size_t most = 100) {
  frame_reader reader(most);
  std::vector<std::string> out;
  works = true;
  for (std::size_t at = 0; works && at < bytes.size(); at += piece)
    works = reader.feed(bytes_of(bytes.substr(at, piece)), [&](std::span<const std::byte> f) {
      out.emplace_back(reinterpret_cast<const char*>(f.data()), f.size());
      return true;
    });
  return out;
}

TEST(zookeeper_frames, come_out_whole_however_the_bytes_are_cut) {
  const std::string bytes = frame_of([](jute_writer& w) { w.write_text("first"); }) +
                            frame_of([](jute_writer&) {}) +
                            frame_of([](jute_writer& w) { w.write_int(5); });
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    bool works = false;
    const auto frames = frames_of(bytes, piece, works);
    ASSERT_EQ(frames.size(), 3u) << piece;
    EXPECT_EQ(hex_of(frames[0]), "000000056669727374");
    EXPECT_EQ(frames[1], "");
    EXPECT_EQ(hex_of(frames[2]), "00000005");
    EXPECT_TRUE(works);
  }
}

TEST(zookeeper_frames, of_impossible_lengths_end_it) {
  for (const std::int32_t length : {-1, 101, 0x7fffffff}) {
    std::string bytes;
    jute_writer(bytes).write_int(length);
    bytes += "more";
    for (const std::size_t piece : {1u, 3u, 8u}) {
      bool works = true;
      EXPECT_TRUE(frames_of(bytes, piece, works).empty());
      EXPECT_FALSE(works) << length;
    }
  }
}

TEST(zookeeper_frames, of_the_largest_size_pass) {
  bool works = false;
  const std::string bytes = frame_of([](jute_writer& w) { w.write_text(std::string(96, 'x')); });
  EXPECT_EQ(frames_of(bytes, 7, works).size(), 1u);
  EXPECT_TRUE(works);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
