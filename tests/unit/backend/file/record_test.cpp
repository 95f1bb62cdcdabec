#include "backend/file/record.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace holdfast::file {
namespace {

using namespace std::chrono_literals;

std::string text_of(const record_text& r) { return {r.bytes().begin(), r.bytes().end()}; }

record_text make(std::string_view name, std::string_view host, std::string_view note,
                 std::int64_t number) {
  record_text r;
  r.describe(name, host, note, 4711, 0x0123456789abcdefu);
  r.stamp(number, 1'763'668'888'123'456us);
  return r;
}

TEST(file_record, what_is_written_is_read) {
  const record_text text = make("nightly", "web7", "rebuild the index", 1'763'668'888'123'457);
  const auto r = parse_record(text.bytes());
  ASSERT_TRUE(r);
  EXPECT_EQ(r->number, 1'763'668'888'123'457);
  EXPECT_EQ(r->since, 1'763'668'888'123'456us);
  EXPECT_EQ(r->pid, 4711);
  EXPECT_EQ(r->client, 0x0123456789abcdefu);
  EXPECT_EQ(r->name, "nightly");
  EXPECT_EQ(r->host, "web7");
  EXPECT_EQ(r->note, "rebuild the index");
}

TEST(file_record, has_room_for_the_longest_texts) {
  const std::string name(512, 'n'), host(300, 'h'), note(256, 'o');
  const record_text text = make(name, host, note, number_max);
  const auto r = parse_record(text.bytes());
  ASSERT_TRUE(r);
  EXPECT_EQ(r->name, name);
  EXPECT_EQ(r->host, host.substr(0, host_bytes_max));
  EXPECT_EQ(r->note, note);
  EXPECT_EQ(r->number, number_max);
}

TEST(file_record, has_the_mode_in_which_it_is_held) {
  const std::string name(512, 'n'), host(64, 'h'), note(256, 'o');
  for (const kind& as : {kind{}, kind{.mode = lock_mode::shared}, kind{lock_mode::permit, 2, 5},
                         kind{lock_mode::permit, permits_max, permits_max}}) {
    record_text text;
    text.describe(name, host, note, 4711, 1, as);
    text.stamp(number_max, 1us);
    const auto r = parse_record(text.bytes());
    ASSERT_TRUE(r);
    EXPECT_EQ(r->as, as);
    EXPECT_EQ(text.as(), as);
    EXPECT_EQ(r->note, note);
  }
}

TEST(file_record, a_longer_line_than_is_ever_written_is_none) {
  const std::string name(512, 'n'), host(host_bytes_max, 'h'), note(256, 'o');
  const std::string good = text_of(make(name, host, note, 42));
  ASSERT_TRUE(parse_record(good));
  for (const std::string& value : {name, host, note}) {
    std::string text = good;
    text.insert(text.find(value), 1, value[0]);
    text.erase(text.size() - 2, 1);
    EXPECT_FALSE(parse_record(text)) << value[0];
  }
}

TEST(file_record, another_kind_than_there_is_is_none) {
  for (const std::string_view line : {"as      2 of 1\n", "as      0 of 1\n", "as      alone\n",
                                      "as      1 of 1000001\n", "as      1 of\n", "as      \n"}) {
    std::string text = text_of(make("x", "h", "n", 42));
    const auto at = text.find("note    n\n") + 10;
    text.replace(at, line.size(), line);
    EXPECT_FALSE(parse_record(text)) << line;
  }
}

TEST(file_record, can_be_read_with_cat) {
  const std::string text = text_of(make("nightly", "web7", "a note", 42));
  EXPECT_EQ(text.size(), 1024u);
  EXPECT_TRUE(text.starts_with("holdfast lock 1\nnumber  0000000000000042\nsince   "));
  EXPECT_NE(text.find("\nname    nightly\nhost    web7\nnote    a note\n"), text.npos);
  EXPECT_EQ(text.back(), '\n');
}

// Machines of either byte order may share the directory.
TEST(file_record, has_the_same_bytes_on_every_processor) {
  const std::string text = text_of(make("nightly", "web7", "a note", 42));
  EXPECT_TRUE(text.starts_with(
      "holdfast lock 1\nnumber  0000000000000042\nsince   1763668888123456\npid     0000004711\n"
      "client  0123456789abcdef\ncheck   1be007b1552943d8\nname    nightly\n"))
      << text;
}

TEST(file_record, lies_in_one_page_so_that_it_is_written_whole_or_not_at_all) {
  const auto r = std::make_unique<record_text>();
  const auto at = reinterpret_cast<std::uintptr_t>(r->bytes().data());
  EXPECT_EQ(at / 4096, (at + record_bytes - 1) / 4096);
}

TEST(file_record, a_host_name_cannot_add_a_line) {
  const record_text text = make("n", "web\nnote    forged", "", 1);
  const auto r = parse_record(text.bytes());
  ASSERT_TRUE(r);
  EXPECT_EQ(r->host, "web?note    forged");
  EXPECT_EQ(r->note, "");
}

TEST(file_record, no_changed_byte_of_the_numbers_goes_unseen) {
  const std::string good = text_of(make("nightly", "web7", "note", 1'763'668'888'123'457));
  const std::size_t checked = good.find("name    ");
  for (std::size_t at = 0; at < checked; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_FALSE(parse_record(bad)) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(file_record, a_cut_or_longer_text_is_no_record) {
  std::string text = text_of(make("nightly", "web7", "note", 7));
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_record(std::string_view(text).substr(0, size)));
  EXPECT_FALSE(parse_record(text + "\n"));
}

TEST(file_record, a_number_out_of_range_is_no_record) {
  EXPECT_FALSE(parse_record(make("n", "h", "", 0).bytes()));
  EXPECT_FALSE(parse_record(make("n", "h", "", number_max + 1).bytes()));
  EXPECT_TRUE(parse_record(make("n", "h", "", number_max).bytes()));
}

TEST(file_record, random_bytes_are_no_record) {
  std::mt19937_64 random(3);
  const std::string good = text_of(make("nightly", "web7", "note", 7));
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 ? good : std::string(record_bytes, '\0');
    const std::size_t at = random() % record_bytes;
    for (std::size_t k = at; k < record_bytes && k < at + 200; ++k)
      text[k] = static_cast<char>(random() % 256);
    if (const auto r = parse_record(text)) {  // the texts at the end have no check
      EXPECT_EQ(r->number, 7);
      EXPECT_LE(r->name.size(), 512u);
      EXPECT_EQ(r->name.find('\n'), r->name.npos);
    }
  }
}

TEST(file_record, sees_its_own_bytes_again) {
  const record_text a = make("n", "h", "", 7), b = make("n", "h", "", 8);
  EXPECT_TRUE(a.same_as(a.bytes()));
  EXPECT_FALSE(a.same_as(b.bytes()));
  EXPECT_FALSE(a.same_as(a.bytes().first(100)));
}

TEST(file_record, has_values_in_their_ranges_only) {
  const auto with = [](std::int64_t pid, std::chrono::microseconds since) {
    record_text text;
    text.describe("n", "h", "", pid, 1);
    text.stamp(42, since);
    const auto r = parse_record(text.bytes());
    EXPECT_TRUE(r);
    return r ? std::pair(r->pid, r->since) : std::pair(std::int64_t{-1}, 0us);
  };
  EXPECT_EQ(with(-1, 5us), std::pair(std::int64_t{0}, 5us));
  EXPECT_EQ(with(9'999'999'999, -5us), std::pair(std::int64_t{9'999'999'999}, 0us));
  EXPECT_EQ(with(10'000'000'000, 42us), std::pair(std::int64_t{9'999'999'999}, 42us));
  EXPECT_EQ(with(1, std::chrono::microseconds{number_max + 1}).second,
            std::chrono::microseconds{number_max});
}

TEST(file_record, has_a_name_and_nothing_behind_its_texts) {
  EXPECT_FALSE(parse_record(make("", "h", "n", 42).bytes()));
  const std::string good = text_of(make("x", "h", "n", 42));
  ASSERT_TRUE(parse_record(good));
  for (const std::size_t at : {good.find("note    n\n") + 10, good.size() - 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = 'x';
    EXPECT_FALSE(parse_record(bad)) << at;
  }
  for (const char* const key : {"name    ", "host    ", "note    "}) {
    std::string bad = good;
    bad[bad.find(key)] = 'X';
    EXPECT_FALSE(parse_record(bad)) << key;
  }
}

TEST(file_record, has_no_control_characters_in_its_texts) {
  const auto text = make("a\x1f\x20z", "h\x7f", "\x01", 42);
  const auto r = parse_record(text.bytes());
  ASSERT_TRUE(r);
  EXPECT_EQ(r->name, "a? z");
  EXPECT_EQ(r->host, "h?");
  EXPECT_EQ(r->note, "?");
  std::string bad = text_of(make("x", "h", "n", 42));
  bad[bad.find("note    n") + 8] = '\x7f';
  EXPECT_FALSE(parse_record(bad));
}

TEST(file_record, remembers_the_number_that_was_stamped) {
  record_text text;
  EXPECT_EQ(text.number(), 0);
  text.describe("n", "h", "", 1, 1);
  text.stamp(7, 1us);
  EXPECT_EQ(text.number(), 7);
  text.describe("n", "h", "other", 1, 1, {.mode = lock_mode::shared});
  EXPECT_EQ(text.as().mode, lock_mode::shared);
}

}  // namespace
}  // namespace holdfast::file
