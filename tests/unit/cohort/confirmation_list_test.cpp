// The callers that await what a store answers to a renewal or a release.
#include "cohort/confirmation_list.hpp"

#include <deque>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

class confirmations : public a_cohort {
 protected:
  asker& add(const claim_record& about, std::uint32_t ticket, time_point until = base::never) {
    asker& out = askers.emplace_back();
    out.until = until;
    list.add(out, about, ticket);
    return out;
  }

  static constexpr std::uint32_t release = 0;
  claim_record one{home}, other{home};
  std::deque<asker> askers;
  holdfast::cohort::confirmation_list list;
};

TEST_F(confirmations, are_of_one_claim_and_one_verb) {
  EXPECT_TRUE(list.is_empty());
  add(one, release);
  add(other, 3);
  EXPECT_TRUE(list.has_release_of(one));
  EXPECT_FALSE(list.has_release_of(other));
  EXPECT_FALSE(list.has_renewal_of(one));
  EXPECT_TRUE(list.has_renewal_of(other));
  EXPECT_FALSE(list.is_empty());
}

TEST_F(confirmations, of_renewals_are_answered_up_to_a_ticket) {
  const asker &first = add(one, 1), &second = add(one, 2), &third = add(one, 3),
              &elsewhere = add(other, 1), &releasing = add(one, release);
  list.answer_renewals(one, 2, {}, machine.effects());
  complete_answered();
  EXPECT_TRUE(first.answered);
  EXPECT_TRUE(second.answered);
  EXPECT_FALSE(third.answered);
  EXPECT_FALSE(elsewhere.answered);
  EXPECT_FALSE(releasing.answered);
  EXPECT_TRUE(list.has_renewal_of(one)) << "the third";
}

TEST_F(confirmations, of_releases_are_answered_for_one_claim) {
  const asker &mine = add(one, release), &renewing = add(one, 1), &elsewhere = add(other, release);
  bool any = list.answer_releases(one, {errc::lost, "gone"}, machine.effects());
  complete_answered();
  EXPECT_TRUE(any);
  EXPECT_TRUE(mine.answered);
  EXPECT_EQ(mine.why.code, errc::lost);
  EXPECT_FALSE(renewing.answered);
  EXPECT_FALSE(elsewhere.answered);
  any = list.answer_releases(one, {}, machine.effects());
  complete_answered();
  EXPECT_FALSE(any) << "nobody awaits it any more";
}

TEST_F(confirmations, are_not_awaited_beyond_their_bound) {
  const time_point now = env.now();
  EXPECT_EQ(list.earliest_bound(), base::never);
  const asker &late = add(one, 1, now + 2s), &due = add(other, release, now + 1s);
  EXPECT_EQ(list.earliest_bound(), now + 1s);
  list.answer_overdue(now + 1s - 1ns, machine.effects());
  complete_answered();
  EXPECT_FALSE(due.answered);
  list.answer_overdue(now + 1s, machine.effects());
  complete_answered();
  EXPECT_TRUE(due.answered);
  EXPECT_EQ(due.why.code, errc::outcome_unknown);
  EXPECT_FALSE(late.answered);
  EXPECT_EQ(list.earliest_bound(), now + 2s);
}

}  // namespace
}  // namespace holdfast::cohort_tests
