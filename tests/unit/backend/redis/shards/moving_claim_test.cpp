#include <gtest/gtest.h>

#include "two_shards.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class redis_moving_claim : public testing::Test {
 protected:
  two_shards shards;
  two_shards::mover c{shards};
};

TEST_F(redis_moving_claim, holds_the_lock_at_both_shards) {
  c.acquire();
  EXPECT_EQ(c.sink.log, "granted ");
  ASSERT_TRUE(shards.former.holder && shards.present.holder);
  EXPECT_EQ(shards.former.holder->note, c.note);
  EXPECT_EQ(shards.present.holder->note, c.note);
  c.claim.release(nullptr);
  EXPECT_EQ(c.sink.log, "granted ended ");
  EXPECT_FALSE(shards.former.holder || shards.present.holder);
}

TEST_F(redis_moving_claim, takes_the_larger_number_and_raises_the_other_counter) {
  c.acquire();
  EXPECT_EQ(c.sink.granted.number, 501);
  EXPECT_EQ(shards.former.counter, 501);
  c.claim.release(nullptr);
  shards.former.counter = 900;
  c.acquire();
  EXPECT_EQ(c.sink.granted.number, 901);
  EXPECT_EQ(shards.present.counter, 901);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, leaves_both_where_a_counter_cannot_be_raised) {
  shards.former.raises = false;
  c.acquire();
  EXPECT_EQ(c.sink.log, "refused ");
  EXPECT_FALSE(shards.former.holder || shards.present.holder);
}

TEST_F(redis_moving_claim, one_attempt_that_finds_the_present_lock_busy_leaves_the_former_one) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire(true);
  EXPECT_EQ(c.sink.log, "busy ");
  EXPECT_FALSE(shards.former.holder);
  o.release();
}

TEST_F(redis_moving_claim, waits_for_the_present_lock_while_it_holds_the_former_one) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire();
  EXPECT_EQ(c.sink.log, "");
  EXPECT_TRUE(shards.former.holder);
  o.release();
  EXPECT_EQ(c.sink.log, "granted ");
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, begins_again_where_the_former_lease_has_expired_meanwhile) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire();
  shards.pass(11s);
  o.release();
  EXPECT_EQ(c.sink.log, "granted ");
  EXPECT_EQ(c.sink.granted.deadline, shards.former.now + 10s);
  ASSERT_TRUE(shards.former.holder);
  EXPECT_EQ(shards.former.holder->note, c.note);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, a_cancelled_wait_leaves_nothing) {
  for (shard_model* const s : {&shards.former, &shards.present}) {
    two_shards::other o(*s);
    o.acquire();
    c.sink.log.clear();
    c.acquire();
    c.claim.cancel();
    EXPECT_EQ(c.sink.log, "ended ");
    o.release();
    EXPECT_FALSE(shards.former.holder || shards.present.holder);
  }
}

TEST_F(redis_moving_claim, a_cancelled_wait_reports_that_its_shard_has_not_confirmed_its_end) {
  for (shard_model* const s : {&shards.former, &shards.present}) {
    two_shards::other o(*s);
    o.acquire();
    c.sink.log.clear();
    c.acquire();
    s->end_of_cancelled = {errc::outcome_unknown, "no answer"};
    c.claim.cancel();
    EXPECT_EQ(c.sink.log, "unknown ");
    EXPECT_FALSE(s == &shards.present && shards.former.holder);
    s->end_of_cancelled = {};
    o.release();
  }
}

TEST_F(redis_moving_claim, a_cancelled_wait_is_no_failure_where_the_former_lease_has_expired) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire();
  shards.pass(11s);
  c.claim.cancel();
  EXPECT_EQ(c.sink.log, "ended ");
  EXPECT_FALSE(shards.former.holder);
  o.release();
}

TEST_F(redis_moving_claim, a_release_is_reported_once_both_shards_have_confirmed) {
  for (shard_model* const s : {&shards.former, &shards.present}) {
    c.sink.log.clear();
    c.acquire();
    shard_model::claim* const late = s->holder;
    s->ends = false;
    c.claim.release(nullptr);
    EXPECT_EQ(c.sink.log, "granted ");
    late->end();
    EXPECT_EQ(c.sink.log, "granted ended ");
    s->ends = true;
  }
}

TEST_F(redis_moving_claim, a_release_reports_that_the_leases_have_expired) {
  c.acquire();
  shards.pass(11s);
  c.claim.release(nullptr);
  EXPECT_EQ(c.sink.log, "granted not-held ");
}

TEST_F(redis_moving_claim, is_extended_once_both_shards_have_confirmed) {
  c.acquire();
  shards.former.answers = false;
  c.claim.renew(20s, 1);
  EXPECT_EQ(c.sink.log, "granted ");
  shards.former.answers = true;
  shards.pass(1s);
  c.claim.renew(20s, 2);
  EXPECT_EQ(c.sink.log, "granted extended1 extended2 ");
  EXPECT_EQ(c.sink.deadline, shards.former.now + 20s);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, is_lost_with_either_shard_and_leaves_the_other_one) {
  c.acquire();
  shards.former.holder->sink.on_lost(make_error_code(errc::lost));
  EXPECT_EQ(c.sink.log, "granted lost ");
  EXPECT_FALSE(shards.present.holder);
  c.claim.release(nullptr);
  EXPECT_EQ(c.sink.log, "granted lost ended ");
  EXPECT_FALSE(shards.former.holder);
}

TEST_F(redis_moving_claim, reports_waiters_of_either_shard) {
  c.acquire();
  shards.present.holder->sink.on_contended();
  EXPECT_EQ(c.sink.log, "granted contended ");
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, others_wait_while_there_are_waiters_at_either_shard) {
  c.acquire();
  EXPECT_FALSE(c.claim.others_wait());
  for (shard_model* const s : {&shards.former, &shards.present}) {
    two_shards::other o(*s);
    o.acquire();
    EXPECT_TRUE(c.claim.others_wait()) << (s == &shards.former ? "former" : "present");
    o.claim->cancel();
  }
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim,
       one_attempt_that_finds_the_former_lock_busy_leaves_the_present_one_alone) {
  two_shards::other o(shards.former);
  o.acquire();
  c.acquire(true);
  EXPECT_EQ(c.sink.log, "busy ");
  EXPECT_EQ(shards.present.acquires, 0);
  EXPECT_EQ(shards.former.releases + shards.present.releases, 0) << "it holds nothing";
  o.release();
}

TEST_F(redis_moving_claim, a_lease_ends_with_the_first_of_its_two_leases) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire();
  const base::time_point begun = shards.former.now;
  shards.pass(4s);
  o.release();
  EXPECT_EQ(c.sink.log, "granted ");
  EXPECT_EQ(c.sink.granted.deadline, begun + 10s);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, an_extension_ends_with_the_first_of_its_two_leases) {
  c.acquire();
  const base::time_point begun = shards.former.now;
  shards.former.answers = false;
  c.claim.renew(20s, 1);
  shards.pass(1s);
  shards.former.answers = true;
  shards.present.answers = false;
  c.claim.renew(20s, 2);
  EXPECT_EQ(c.sink.log, "granted extended1 ");
  EXPECT_EQ(c.sink.deadline, begun + 20s);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, a_grant_has_what_either_shard_reports_of_it) {
  for (const auto fact :
       {&seam::grant::others_wait, &seam::grant::provisional, &seam::grant::waiters_unknown})
    for (shard_model* const s : {&shards.former, &shards.present}) {
      s->template_of_grants.*fact = true;
      c.acquire();
      EXPECT_TRUE(c.sink.granted.*fact) << (s == &shards.former ? "former" : "present");
      c.claim.release(nullptr);
      s->template_of_grants.*fact = false;
      c.acquire();
      EXPECT_FALSE(c.sink.granted.*fact);
      c.claim.release(nullptr);
    }
}

TEST_F(redis_moving_claim, a_shard_that_is_left_receives_nothing_more) {
  c.acquire();
  c.claim.check_waiters();
  EXPECT_EQ(shards.former.further_verbs + shards.present.further_verbs, 2);
  shards.former.ends = shards.present.ends = false;
  c.claim.release(nullptr);
  c.claim.check_waiters();
  c.claim.downgrade();
  EXPECT_EQ(shards.former.further_verbs + shards.present.further_verbs, 2);
}

TEST_F(redis_moving_claim, a_shard_that_has_ended_its_claim_receives_nothing_more) {
  c.acquire();
  shards.present.holder->sink.on_ended({errc::closed, "the client was closed"});
  c.claim.check_waiters();
  EXPECT_EQ(shards.former.further_verbs, 1);
  EXPECT_EQ(shards.present.further_verbs, 0);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, nothing_is_reported_of_a_claim_that_ends_when_it_is_idle) {
  c.acquire();
  seam::claim_sink &former = shards.former.holder->sink, &present = shards.present.holder->sink;
  c.claim.release(nullptr);
  for (seam::claim_sink* const s : {&former, &present})
    s->on_ended({errc::closed, "the client was closed"});
  EXPECT_EQ(c.sink.log, "granted ended ");
}

TEST_F(redis_moving_claim, a_refusal_is_reported_as_an_end_if_the_wait_is_cancelled_meanwhile) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire();
  shard_model::claim* const late = shards.former.holder;
  shards.former.ends = false;
  shards.present.waiting.front()->sink.on_refused({errc::refused, "no right"});
  EXPECT_EQ(c.sink.log, "") << "the former shard has not confirmed the release";
  c.claim.cancel();
  late->end();
  EXPECT_EQ(c.sink.log, "ended ");
  shards.present.waiting.clear();
  o.release();
}

TEST_F(redis_moving_claim, a_release_reports_the_first_failure) {
  c.acquire();
  seam::claim_sink &former = shards.former.holder->sink, &present = shards.present.holder->sink;
  shards.former.ends = shards.present.ends = false;
  c.claim.release(nullptr);
  former.on_ended({errc::outcome_unknown, "no answer"});
  EXPECT_EQ(c.sink.log, "granted ");
  present.on_ended({errc::not_held, {}});
  EXPECT_EQ(c.sink.log, "granted unknown ");
}

TEST_F(redis_moving_claim, a_loss_at_both_shards_is_reported_once) {
  c.acquire();
  seam::claim_sink &former = shards.former.holder->sink, &present = shards.present.holder->sink;
  shards.present.ends = false;
  former.on_lost(make_error_code(errc::lost));
  present.on_lost(make_error_code(errc::lost));
  EXPECT_EQ(c.sink.log, "granted lost ");
}

TEST_F(redis_moving_claim, a_former_lease_that_is_lost_during_the_wait_is_acquired_again) {
  two_shards::other o(shards.present);
  o.acquire();
  shards.former.counter = shards.present.counter;  // no counter has to be raised
  c.acquire();
  shards.former.holder->sink.on_lost(make_error_code(errc::lost));
  EXPECT_EQ(c.sink.log, "") << "there is no holder to notify";
  o.release();
  EXPECT_EQ(c.sink.log, "granted ");
  EXPECT_EQ(shards.former.acquires, 2);
  c.claim.release(nullptr);
}

TEST_F(redis_moving_claim, doubt_is_reported_of_a_lock_that_is_held) {
  two_shards::other o(shards.present);
  o.acquire();
  c.acquire();
  shards.former.holder->sink.on_doubtful();
  EXPECT_EQ(c.sink.log, "") << "there is no holder to notify";
  o.release();
  shards.former.holder->sink.on_doubtful();
  EXPECT_EQ(c.sink.log, "granted doubtful ");
  c.claim.release(nullptr);
}

}  // namespace
}  // namespace holdfast::redis
