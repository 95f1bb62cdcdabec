#include "backend/redis/layouts/redlock/tally.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr ballot yes(std::int64_t number) { return {.what = vote::yes, .number = number}; }
constexpr ballot no(std::uint64_t holder, duration rest = 1s) {
  return {.what = vote::no, .holder = holder, .rest = rest};
}
constexpr ballot missing{.what = vote::missing};
constexpr ballot awaited{};

tally of(std::initializer_list<ballot> all) {
  tally out(all.size());
  std::size_t i = 0;
  for (const ballot& b : all) out[i++] = b;
  return out;
}

TEST(redlock_tally, a_majority_is_more_than_half) {
  EXPECT_EQ(majority_of(3), 2u);
  EXPECT_EQ(majority_of(4), 3u);
  EXPECT_EQ(majority_of(5), 3u);
}

TEST(redlock_tally, an_attempt_is_won_by_a_majority_and_lost_once_none_is_possible) {
  EXPECT_FALSE(of({yes(1), yes(1), awaited, awaited, awaited}).is_won());
  EXPECT_TRUE(of({yes(1), yes(1), yes(1), awaited, awaited}).is_won());
  EXPECT_FALSE(of({yes(1), no(7), no(7), awaited, awaited}).is_lost());
  EXPECT_TRUE(of({yes(1), no(7), no(7), missing, awaited}).is_lost());
}

TEST(redlock_tally, a_number_that_a_majority_has_is_that_of_the_grant) {
  const tally all = of({yes(7), yes(5), yes(7), yes(30), yes(7)});
  EXPECT_EQ(all.number(), 7);
  EXPECT_TRUE(all.has_majority_at(7));
}

// It has voted, and does not answer when the numbers are raised.
TEST(redlock_tally, a_server_that_is_missing_has_no_part_in_a_majority) {
  constexpr ballot given_up{.what = vote::missing, .number = 7};
  const tally all = of({given_up, yes(7), yes(5)});
  EXPECT_FALSE(all.has_majority_at(7));
  EXPECT_EQ(all.number(), 7);
  EXPECT_EQ(all.count_at(7), 1u);
}

// With a larger quorum two clients whose leases ended early could compute one number.
TEST(redlock_tally, otherwise_it_is_the_largest_and_the_quorum_has_the_largest_numbers) {
  tally all = of({yes(9), yes(5), yes(7), yes(30), yes(6)});
  EXPECT_EQ(all.number(), 30);
  EXPECT_FALSE(all.has_majority_at(30));
  all.begin_raising(30);
  EXPECT_EQ(all.count(vote::yes), 3u);
  EXPECT_TRUE(all[0].is_in_quorum && all[2].is_in_quorum && all[3].is_in_quorum);
  EXPECT_EQ(all.count_at(30), 1u);
}

TEST(redlock_tally, a_quorum_is_not_larger_than_a_majority_and_has_no_late_server) {
  tally all = of({yes(9), yes(9), yes(7), yes(7), awaited});
  all.begin_raising(all.number());
  EXPECT_EQ(all.count(vote::yes), 3u);
  EXPECT_EQ(all.count(vote::awaited), 0u);
}

TEST(redlock_tally, an_owner_is_denied_once_no_majority_can_have_it) {
  EXPECT_FALSE(of({no(0), no(0), yes(0), yes(0), awaited}).is_denied());
  EXPECT_TRUE(of({no(0), no(0), no(0), yes(0), awaited}).is_denied());
}

TEST(redlock_tally, a_split_vote_is_held_by_nobody) {
  EXPECT_TRUE(of({yes(1), no(7), no(7), no(7), yes(1)}).may_be_held());
  EXPECT_FALSE(of({yes(1), no(7), no(7), no(8), yes(1)}).may_be_held());
  EXPECT_TRUE(of({yes(1), no(7), no(7), no(8), missing}).may_be_held());
}

TEST(redlock_tally, the_lock_is_busy_until_enough_leases_have_ended) {
  EXPECT_EQ(of({yes(1), yes(1), no(7, 5s), no(7, 4s), no(7, 6s)}).rest(), 4s);
  EXPECT_EQ(of({no(7, 5s), no(7, 4s), no(7, 6s), missing, missing}).rest(), 6s);
  EXPECT_EQ(of({no(7, 5s), missing, missing, missing, missing}).rest(), duration::max());
}

TEST(redlock_tally, refusals_without_an_owner_are_nobodys) {
  EXPECT_TRUE(of({yes(1), no(0), missing}).is_nobodys());
  EXPECT_FALSE(of({yes(1), no(0), no(7)}).is_nobodys());
}

TEST(redlock_tally, a_quorum_has_answered_one_way_or_the_other) {
  EXPECT_TRUE(of({yes(1), no(7), awaited}).has_quorum());
  EXPECT_FALSE(of({yes(1), missing, awaited}).has_quorum());
}

TEST(redlock_tally, an_answer_that_is_still_awaited_may_be_the_owners) {
  EXPECT_TRUE(of({no(7), awaited, yes(1)}).may_be_held());
  EXPECT_FALSE(of({no(7), no(8), yes(1), yes(1), yes(1)}).may_be_held());
  EXPECT_FALSE(of({yes(1), awaited, missing}).may_be_held()) << "no server shows another owner";
}

TEST(redlock_tally, servers_that_have_reached_a_number_are_counted) {
  const tally all = of({yes(9), yes(5), yes(30), no(7), missing});
  EXPECT_EQ(all.count_at(9), 2u);
  EXPECT_EQ(all.count_at(5), 3u);
  EXPECT_EQ(all.count_at(31), 0u);
}

TEST(redlock_tally, a_majority_that_is_won_waits_for_no_lease) {
  EXPECT_EQ(of({yes(1), yes(1), no(7, 5s)}).rest(), 0s);
}

}  // namespace
}  // namespace holdfast::redis
