#include "backend/redis/layouts/string/names.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

std::string text_of_key(std::string_view lock, char what) {
  const side_key key{tag_of(lock), lock, what};
  std::string out(key.size(), '?');
  key.write_to(out.data());
  return out;
}

struct name_row {
  std::string_view lock, tag;
};

// The hash tag as Redis Cluster reads it; a lock without one is its own, unless that cannot be.
constexpr name_row name_rows[] = {
    {"job", "job"},
    {"", ""},
    {"a{b}c", "b"},
    {"{b}", "b"},
    {"a{b}{c}", "b"},
    {"a{b{c}d", "b{c"},
    {"{}a", ""},
    {"a{}{b}", ""},
    {"a}b", ""},
    {"a{b", "a{b"},
    {"a}b{c}", "c"},
    {"shop/42 %", "shop/42 %"},
    {"\xc3\xbc", "\xc3\xbc"},
    {"a:m", "a:m"},
    {"holdfast", "holdfast"},
};

TEST(redis_names, the_tag_of_a_lock_is_the_part_in_its_first_braces_or_all_of_it) {
  for (const name_row& r : name_rows) EXPECT_EQ(tag_of(r.lock), r.tag) << r.lock;
}

TEST(redis_names, a_side_key_is_in_the_slot_of_its_lock_and_names_it) {
  for (const name_row& r : name_rows)
    for (const char what : {'q', 'm', 'r'}) {
      const std::string text = text_of_key(r.lock, what);
      EXPECT_EQ(text, "holdfast:{" + std::string(r.tag) + "}:" + std::string(r.lock) + ':' + what);
      EXPECT_TRUE(r.tag.empty() || tag_of(text) == r.tag) << text;
      EXPECT_EQ(lock_of(text), r.lock) << text;
    }
}

TEST(redis_names, no_other_key_is_a_side_key) {
  for (const std::string_view text :
       {"", "holdfast:n", "job", "holdfast:{job}:job", "holdfast:{job}:job:x", "holdfast:job:job:q",
        "holdfast:{job}job:q", "holdfast:{other}:job:q", "holdfast:{jo}:job:q", ":q", "holdfast::q",
        "holdfast:{}:job:q", "holdfast:{job:job:q", "prefix:holdfast:{job}:job:q",
        "holdfast:{job}:job:p"})
    EXPECT_EQ(lock_of(text), std::nullopt) << text;
}

TEST(redis_names, a_lock_named_like_a_side_key_is_refused) {
  EXPECT_NE(key_fault("holdfast:"), "");
  EXPECT_NE(key_fault("holdfast:{job}:job:q"), "");
  EXPECT_EQ(key_fault("holdfast"), "");
  EXPECT_EQ(key_fault("my holdfast:"), "");
}

constexpr std::uint64_t some_client = 0x0123456789abcdef;
constexpr claim_id some_claim{0xfedcba9876543210, 0x00000000000000ff};

TEST(redis_names, an_owner_is_its_mode_its_client_and_its_claim) {
  EXPECT_EQ(view(text_of(some_client, some_claim)),
            "hf1:0123456789abcdef:fedcba987654321000000000000000ff");
  EXPECT_EQ(view(text_of(0, {}, lock_mode::shared)),
            "hfs:0000000000000000:00000000000000000000000000000000");
  EXPECT_EQ(view(text_of(~std::uint64_t{0}, {~std::uint64_t{0}, 1}, lock_mode::permit)),
            "hfp:ffffffffffffffff:ffffffffffffffff0000000000000001");
}

TEST(redis_names, an_owner_of_permits_shows_how_many) {
  const claim_id three = with_permits(some_claim, 3);
  const owner_text text = text_of(some_client, three, lock_mode::permit);
  EXPECT_EQ(view(text), "hfp:0123456789abcdef:fedcba980000000300000000000000ff");
  EXPECT_EQ(permits_of(view(text)), 3u);
  EXPECT_EQ(claim_of(some_client, view(text)), three);
  constexpr std::uint32_t most = ~std::uint32_t{0};
  EXPECT_EQ(permits_of(view(text_of(0, with_permits({}, most), lock_mode::permit))), most);
  EXPECT_EQ(permits_of(view(text_of(0, {}, lock_mode::permit))), 1u);
  EXPECT_EQ(permits_of("hfp:other"), 1u);
}

TEST(redis_names, a_claim_is_found_in_the_owner_of_its_client_and_in_no_other) {
  for (const lock_mode mode : {lock_mode::exclusive, lock_mode::shared, lock_mode::permit}) {
    const owner_text text = text_of(some_client, some_claim, mode);
    EXPECT_EQ(claim_of(some_client, view(text)), some_claim);
    EXPECT_EQ(claim_of(some_client + 1, view(text)), std::nullopt);
  }
}

// One character of an owner changed, and owners cut off anywhere or too long, are nobody's.
TEST(redis_names, an_owner_that_is_not_whole_is_nobodys) {
  const owner_text whole = text_of(some_client, some_claim);
  for (std::size_t n = 0; n < owner_bytes; ++n) {
    EXPECT_EQ(claim_of(some_client, view(whole).substr(0, n)), std::nullopt) << n;
    for (const char c : {'x', 'A', ':', '-', '+', '\0'}) {
      owner_text changed = whole;
      if (changed[n] == c) continue;
      changed[n] = c;
      EXPECT_EQ(claim_of(some_client, view(changed)), std::nullopt) << n << ' ' << c;
    }
  }
  EXPECT_EQ(claim_of(some_client, std::string(view(whole)) + '0'), std::nullopt);
  EXPECT_EQ(claim_of(some_client, "hfg:17"), std::nullopt);
}

TEST(redis_names, a_side_key_of_another_library_belongs_to_no_lock) {
  EXPECT_EQ(lock_of("holdfast:{job}:job:m"), "job");
  EXPECT_EQ(lock_of("holdfish:{job}:job:m"), std::nullopt);
  EXPECT_EQ(lock_of("holdfast:{job}:job:x"), std::nullopt);
}

TEST(redis_names, a_group_is_its_number) {
  EXPECT_EQ(group_of(1700000000000001), "hfg:1700000000000001");
  EXPECT_EQ(group_of(0), "hfg:0");
}

TEST(redis_names, the_total_of_a_semaphore_is_read) {
  EXPECT_EQ(semaphore_total("hfp:3"), 3u);
  EXPECT_EQ(semaphore_total("hfp:4294967295"), std::numeric_limits<std::uint32_t>::max());
  for (const std::string_view no : {"", "hfp:", "hfp:x", "hfp:3 ", "hfp:-1", "hfp:4294967296",
                                    "hfp:3:4", "hfs:3", "hfg:3", "3"})
    EXPECT_EQ(semaphore_total(no), std::nullopt) << no;
  EXPECT_EQ(semaphore_total(view(text_of(some_client, some_claim, lock_mode::permit))),
            std::nullopt)
      << "a holder of permits is no semaphore";
}

TEST(redis_names, a_client_listens_on_the_channel_of_its_id) {
  EXPECT_EQ(channel_of(0), "hf:0000000000000000");
  EXPECT_EQ(channel_of(some_client), "hf:0123456789abcdef");
}

}  // namespace
}  // namespace holdfast::redis
