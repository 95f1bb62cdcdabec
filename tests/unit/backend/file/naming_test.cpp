#include "backend/file/naming.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "base/percent.hpp"
#include "seam/name.hpp"

namespace holdfast::file {
namespace {

// Any bytes: the encoding does not lean on what a name may be.
std::string random_name(std::mt19937_64& random, std::size_t longest) {
  static constexpr std::string_view often = "./%-~_aA0 \\\"\n.lock.waiters.probe";
  std::string name(1 + random() % longest, '\0');
  for (char& c : name)
    c = random() % 2 ? often[random() % often.size()] : static_cast<char>(random() % 256);
  return name;
}

void expect_one_harmless_component(const std::string& file) {
  EXPECT_LE(file.size(), 255u) << file;
  EXPECT_EQ(file.find('/'), file.npos) << file;
  EXPECT_EQ(file.find('\0'), file.npos) << file;
  EXPECT_NE(file, ".");
  EXPECT_NE(file, "..");
  EXPECT_NE(file, probe_file);
}

TEST(file_naming, a_plain_name_stays_readable) {
  EXPECT_EQ(file_stem("nightly"), "nightly");
  EXPECT_EQ(file_stem("backup.daily_2-b~"), "backup.daily_2-b~");
}

TEST(file_naming, slashes_and_dots_do_not_leave_the_folder) {
  for (const std::string name : {".", "..", "../..", "/etc/passwd", "a/../../b", ".probe"}) {
    expect_one_harmless_component(file_stem(name) + std::string(lock_suffix));
    expect_one_harmless_component(file_stem(name) + std::string(waiters_suffix));
  }
}

TEST(file_naming, short_names_come_back_from_their_file_names) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = random_name(random, 60);
    const std::string file = file_stem(name) + std::string(lock_suffix);
    expect_one_harmless_component(file);
    ASSERT_FALSE(is_hashed(file)) << file;
    ASSERT_EQ(lock_name_of(file), name) << file;
  }
}

TEST(file_naming, no_two_names_share_a_file) {
  std::mt19937_64 random(2);
  std::set<std::string> names, files;
  for (int i = 0; i < 20'000; ++i) names.insert(random_name(random, i % 2 ? 5 : 512));
  for (const std::string& name : names) {
    const std::string stem = file_stem(name);
    EXPECT_TRUE(files.insert(stem + std::string(lock_suffix)).second) << stem;
    EXPECT_TRUE(files.insert(stem + std::string(waiters_suffix)).second) << stem;
  }
  EXPECT_FALSE(files.contains(std::string(probe_file)));
}

TEST(file_naming, a_long_name_is_hashed_and_fits) {
  for (const std::size_t name_max : {255u, 143u}) {
    for (const char c : {'a', '%', '/'}) {
      const std::string name(seam::name_bytes_max, c);
      const std::string stem = file_stem(name, name_max);
      EXPECT_LE(stem.size() + waiters_suffix.size(), name_max);
      EXPECT_TRUE(is_hashed(stem + std::string(lock_suffix)));
      EXPECT_EQ(lock_name_of(stem + std::string(lock_suffix)), std::nullopt);
    }
  }
}

TEST(file_naming, long_names_that_differ_at_their_end_differ) {
  const std::string a = std::string(511, 'x') + 'a', b = std::string(511, 'x') + 'b';
  EXPECT_NE(file_stem(a), file_stem(b));
}

TEST(file_naming, the_hash_is_fnv_1a_of_128_bits) {
  // The published value for "foobar" is 343e1662793c64bf6f0d3597ba446f18; a hashed name must be
  // long, so a short limit is set.
  EXPECT_TRUE(file_stem("foobar", 10).ends_with("%-343e1662793c64bf6f0d3597ba446f18"));
}

TEST(file_naming, other_files_of_the_folder_are_no_locks) {
  for (const char* file : {"x.waiters", ".probe", ".lock", "x", "x.lock~", "%zz.lock", "a b.lock",
                           "%41.lock"})  // the last two: not as we would write them
    EXPECT_EQ(lock_name_of(file), std::nullopt) << file;
}

TEST(file_naming, a_name_is_hashed_only_when_it_does_not_fit) {
  const std::size_t room = 100 - waiters_suffix.size();
  EXPECT_EQ(file_stem(std::string(room, 'x'), 100), std::string(room, 'x'));
  const std::string hashed = file_stem(std::string(room + 1, 'x'), 100);
  EXPECT_EQ(hashed.substr(0, 66), std::string(64, 'x') + "%-") << "its beginning stays readable";
  EXPECT_EQ(hashed.size(), 64u + 2 + 32);
}

TEST(file_naming, the_beginning_of_a_hashed_name_ends_with_no_half_of_an_escape) {
  for (std::size_t before = 60; before < 66; ++before) {
    const std::string name = std::string(before, 'x') + std::string(300, '/');
    const std::string stem = file_stem(name);
    const std::string head = stem.substr(0, stem.find("%-"));
    const auto shown = base::percent_decode(head);
    ASSERT_TRUE(shown) << stem;
    EXPECT_TRUE(name.starts_with(*shown)) << stem;
    EXPECT_GE(head.size(), 62u) << stem;
    EXPECT_LE(head.size(), 64u) << stem;
  }
}

}  // namespace
}  // namespace holdfast::file
