#include "claim/claim_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace holdfast::claims {
namespace {

struct owner_number {
  std::uint64_t high = 0, low = 0;
  bool operator==(const owner_number&) const = default;
};

struct tabled_claim {
  owner_number id() const noexcept { return number; }
  owner_number number{};
  tabled_claim* next_of_id = nullptr;
};

std::vector<const tabled_claim*> all_of(const claim_table<tabled_claim>& table) {
  std::vector<const tabled_claim*> all;
  table.for_each([&](const tabled_claim& c) { all.push_back(&c); });
  return all;
}

TEST(claim_table, finds_each_claim_at_its_place) {
  claim_table<tabled_claim> table;
  tabled_claim a, b;
  const claim_handle of_a = table.add(a), of_b = table.add(b);
  EXPECT_EQ(table.at(of_a), &a);
  EXPECT_EQ(table.at(of_b), &b);
  EXPECT_EQ(all_of(table), (std::vector<const tabled_claim*>{&a, &b}));
}

TEST(claim_table, finds_no_claim_at_a_place_that_was_given_up) {
  claim_table<tabled_claim> table;
  tabled_claim a, b;
  const claim_handle of_a = table.add(a), of_b = table.add(b);
  table.remove(of_a);
  EXPECT_EQ(table.at(of_a), nullptr);
  EXPECT_EQ(table.at(of_b), &b);
  EXPECT_EQ(all_of(table), std::vector<const tabled_claim*>{&b});
}

TEST(claim_table, gives_a_place_that_was_given_up_to_another_claim_and_not_its_late_replies) {
  claim_table<tabled_claim> table;
  tabled_claim a, b;
  const claim_handle of_a = table.add(a);
  table.remove(of_a);
  const claim_handle of_b = table.add(b);
  EXPECT_EQ(of_b.index, of_a.index) << "a table does not grow with the claims that were there";
  EXPECT_EQ(table.at(of_a), nullptr);
  EXPECT_EQ(table.at(of_b), &b);
}

TEST(claim_table, reuses_all_places_that_were_given_up) {
  claim_table<tabled_claim> table;
  std::array<tabled_claim, 3> claims;
  std::vector<claim_handle> places;
  for (tabled_claim& c : claims) places.push_back(table.add(c));
  for (const claim_handle p : places) table.remove(p);
  for (tabled_claim& c : claims) EXPECT_LT(table.add(c).index, claims.size());
  EXPECT_EQ(all_of(table).size(), claims.size());
}

TEST(claim_table, finds_a_claim_by_its_owner_id_while_it_is_linked_in) {
  claim_table<tabled_claim> table;
  tabled_claim a{{1, 7}};
  EXPECT_EQ(table.find(a.id()), nullptr);
  table.insert(a);
  EXPECT_EQ(table.find(a.id()), &a);
  table.erase(a);
  EXPECT_EQ(table.find(a.id()), nullptr);
}

TEST(claim_table, tells_apart_owner_ids_that_share_a_bucket) {
  claim_table<tabled_claim> table;
  tabled_claim a{{1, 5}}, b{{2, 5}}, c{{3, 5}};
  for (tabled_claim* const one : {&a, &b, &c}) table.insert(*one);
  EXPECT_EQ(table.find(a.id()), &a);
  EXPECT_EQ(table.find(b.id()), &b);
  EXPECT_EQ(table.find(owner_number{4, 5}), nullptr);
  table.erase(b);
  EXPECT_EQ(table.find(a.id()), &a);
  EXPECT_EQ(table.find(b.id()), nullptr);
  EXPECT_EQ(table.find(c.id()), &c);
}

TEST(claim_table, leaves_a_claim_that_was_never_linked_in_alone) {
  claim_table<tabled_claim> table;
  tabled_claim a{{1, 5}}, stranger{{2, 5}};
  table.insert(a);
  table.erase(stranger);
  EXPECT_EQ(table.find(a.id()), &a);
}

TEST(claim_table, finds_every_claim_after_it_has_grown) {
  constexpr std::size_t beyond_its_first_buckets = 100;
  claim_table<tabled_claim> table;
  std::vector<tabled_claim> claims(beyond_its_first_buckets);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    claims[i].number = {i, i * 17};
    table.insert(claims[i]);
  }
  for (tabled_claim& c : claims) EXPECT_EQ(table.find(c.id()), &c) << c.id().low;
  for (tabled_claim& c : claims) table.erase(c);
  for (tabled_claim& c : claims) EXPECT_EQ(table.find(c.id()), nullptr) << c.id().low;
}

}  // namespace
}  // namespace holdfast::claims
