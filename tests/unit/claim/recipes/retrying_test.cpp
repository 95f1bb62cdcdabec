// The state table of recipes/retrying.hpp, row by row: a path of events, and what the last one
// does.
#include <gtest/gtest.h>

#include <string>

#include "seam/client_options.hpp"
#include "tests/unit/claim/recipes/played_retrying.hpp"

namespace holdfast::claims::recipe_tests {
namespace {

using namespace std::chrono_literals;

struct row {
  const char* path;
  const char* then;
};

void expect_each(std::initializer_list<row> rows, const retrying_recipe::rules& rules) {
  for (const row& r : rows) EXPECT_EQ(played_claim(rules).play(r.path), r.then) << r.path;
}

const retrying_recipe::rules polling{};
const retrying_recipe::rules with_channel{.has_channel = true, .try_is_idempotent = true};
const std::string timed_out = text_of(errc::timed_out);

std::string with(const char* before, errc why, const char* after) {
  return before + text_of(why) + after;
}

TEST(retrying, a_free_lock_is_granted_by_its_first_attempt) {
  expect_each({{"acquire", "trying owner try_lock sleep:never"},
               {"attempt", "trying owner try_lock sleep:1000"},
               {"acquire granted", "held granted sleep:never"},
               {"acquire next", "trying try_lock"},
               {"acquire next granted", "held granted sleep:never"},
               {"acquire granted late", "held"},
               {"acquire cancel late", "withdrawing"}},
              polling);
}

TEST(retrying, a_busy_lock_is_polled_with_a_back_off_that_doubles) {
  expect_each(
      {{"acquire busy", "waiting sleep:2+2"},
       {"acquire busy wake", "trying try_lock sleep:never"},
       {"acquire busy wake busy", "waiting sleep:5+5"},
       {"acquire busy wake busy wake busy", "waiting sleep:10+10"},
       {"acquire busy wake busy wake busy wake busy wake busy wake busy wake busy wake busy",
        "waiting sleep:125+125"},
       {"acquire busy3", "waiting sleep:4+4"},
       {"acquire busy wake busy300", "waiting sleep:5+5"},
       {"acquire busy wake granted", "held granted sleep:never"}},
      polling);
}

TEST(retrying, an_attempt_at_a_busy_lock_is_refused) {
  EXPECT_EQ(played_claim(polling).play("attempt busy"),
            with("idle refused", errc::timed_out, " sleep:never"));
  EXPECT_EQ(played_claim(polling).play("attempt pass500 busy"),
            with("idle refused", errc::timed_out, " sleep:never"));
}

TEST(retrying, with_a_channel_it_subscribes_tries_once_more_and_waits_for_a_message) {
  expect_each({{"acquire busy", "subscribing subscribe sleep:1000"},
               {"acquire busy subscribed", "trying try_lock sleep:never"},
               {"acquire busy subscribed busy", "waiting sleep:15000+15000"},
               {"acquire busy subscribed busy400", "waiting sleep:401+4"},
               {"acquire busy subscribed busy message", "trying try_lock sleep:never"},
               {"acquire busy subscribed busy message busy", "waiting sleep:15000+15000"},
               {"acquire busy subscribed busy resubscribed", "trying try_lock sleep:never"},
               {"acquire busy message", "trying try_lock sleep:never"},
               {"acquire busy subscribed busy unsubscribed wake busy",
                "subscribing subscribe sleep:1000"}},
              with_channel);
}

TEST(retrying, where_peers_poll_it_leaves_the_lock_free_for_as_long_as_it_used_it) {
  constexpr retrying_recipe::rules among_peers{.share_after = std::chrono::milliseconds{10},
                                               .share_max = std::chrono::milliseconds{100}};
  expect_each({{"acquire granted pass9 release done acquire", "trying owner try_lock sleep:never"},
               {"acquire granted pass10 release done attempt", "trying owner try_lock sleep:1000"},
               {"acquire granted pass10 release done acquire", "waiting owner sleep:10+5"},
               {"acquire granted pass10 release done pass3 acquire",
                "trying owner try_lock sleep:never"},
               {"acquire granted pass4 release done acquire granted pass6 release done acquire",
                "waiting owner sleep:10+5"},
               {"acquire granted pass900 release done acquire", "waiting owner sleep:100+50"},
               {"acquire granted pass10 release done acquire wake", "trying try_lock sleep:never"},
               {"acquire busy wake granted pass10 release done acquire",
                "waiting owner sleep:60+30"},
               {"acquire granted pass10 release done acquire wake granted release done acquire",
                "trying owner try_lock sleep:never"}},
              among_peers);
}

TEST(retrying, after_a_release_that_told_others_it_lets_them_try_first) {
  expect_each({{"acquire granted release done acquire", "trying owner try_lock sleep:never"},
               {"acquire granted release told acquire", "waiting owner sleep:0+1"},
               {"acquire granted release told acquire wake", "trying try_lock sleep:never"},
               {"acquire granted release told attempt", "trying owner try_lock sleep:1000"},
               {"acquire granted release told pass100 acquire",
                "trying owner try_lock sleep:never"},
               {"acquire granted release told acquire cancel", "idle ended sleep:never"}},
              with_channel);
}

TEST(retrying, where_the_channel_is_a_queue_it_overtakes_no_waiter) {
  retrying_recipe::rules queue = with_channel;
  queue.keeps_messages = queue.channel_is_queue = true;
  queue.queue_after = 20ms;
  queue.share_after = 5ms;
  queue.share_max = 100ms;
  expect_each(
      {{"acquire granted release done acquire", "trying owner try_lock sleep:never"},
       {"acquire granted pass20 release done acquire", "subscribing owner subscribe sleep:1000"},
       {"acquire granted pass20 release done acquire subscribed", "waiting sleep:15000+15000"},
       {"acquire granted pass20 release done acquire subscribed message",
        "trying try_lock sleep:never"},
       {"acquire granted pass20 release done acquire failed", "trying try_lock sleep:never"},
       {"acquire granted pass20 release done acquire cancel", "idle ended sleep:never"},
       {"acquire granted pass20 release done attempt", "trying owner try_lock sleep:1000"},
       {"acquire granted pass19 release done acquire", "trying owner try_lock sleep:never"},
       {"acquire granted pass9 release polled acquire", "waiting owner sleep:36+18"}},
      queue);
}

TEST(retrying, a_message_that_overtakes_the_reply_makes_it_try_again) {
  expect_each({{"acquire busy subscribed message", "trying"},
               {"acquire busy subscribed message busy", "trying try_lock sleep:never"},
               {"acquire busy subscribed message busy busy", "waiting sleep:15000+15000"}},
              with_channel);
}

TEST(retrying, without_a_subscription_it_polls_and_never_fails) {
  expect_each({{"acquire busy wake", "trying try_lock sleep:never"},
               {"acquire busy failed", "waiting sleep:2+2"},
               {"acquire busy failed wake busy", "waiting sleep:5+5"},
               {"acquire busy cut", "waiting sleep:2+2"},
               {"acquire busy cut resubscribed", "trying try_lock sleep:never"}},
              with_channel);
}

TEST(retrying, a_store_that_forgets_silent_waiters_gets_a_request_within_its_heartbeat) {
  retrying_recipe::rules fair = with_channel;
  fair.queue_heartbeat = 4s;
  expect_each({{"acquire busy subscribed busy", "waiting sleep:2000+2000"}}, fair);
}

TEST(retrying, after_a_cut_the_owner_is_read) {
  expect_each({{"acquire cut", "resolving resolve"},
               {"acquire cut cut", "resolving resolve"},
               {"acquire cut granted", "held granted sleep:never"},
               {"acquire cut busy", "trying try_lock sleep:never"},
               {"acquire cut busy~", "trying orphan owner try_lock sleep:never"},
               {"acquire next cut", "resolving resolve"},
               {"attempt cut pass900 busy", "trying try_lock sleep:100"}},
              polling);
}

TEST(retrying, after_a_cut_an_idempotent_attempt_is_made_again) {
  expect_each({{"acquire cut", "resolving try_lock"},
               {"acquire cut granted", "held granted sleep:never"},
               {"acquire cut busy", "subscribing subscribe sleep:1000"}},
              with_channel);
  EXPECT_EQ(played_claim(with_channel).play("attempt cut busy~"),
            with("idle orphan refused", errc::timed_out, " sleep:never"));
  EXPECT_EQ(played_claim(with_channel).play("attempt cut busy"),
            with("idle refused", errc::timed_out, " sleep:never"));
}

TEST(retrying, what_is_not_executed_is_sent_again_later_each_time) {
  expect_each({{"acquire not_now", "trying sleep:20+5"},
               {"acquire not_now wake", "trying try_lock sleep:never"},
               {"acquire not_now wake not_now", "trying sleep:40+10"},
               {"attempt not_now wake", "trying try_lock sleep:975"},
               {"attempt pass860 not_now", "trying sleep:15"},
               {"attempt pass990 not_now", "trying sleep:10"},
               {"acquire granted release not_now", "releasing sleep:20+5"},
               {"acquire granted release not_now wake", "releasing release sleep:975"}},
              polling);
}

TEST(retrying, what_the_server_refuses_ends_the_request) {
  EXPECT_EQ(played_claim(polling).play("acquire failed"),
            with("idle refused", errc::refused, " sleep:never"));
  EXPECT_EQ(played_claim(polling).play("acquire left"),
            with("idle orphan refused", errc::refused, " sleep:never"));
  EXPECT_EQ(played_claim(polling).play("acquire cut failed"),
            with("idle orphan refused", errc::refused, " sleep:never"));
}

TEST(retrying, an_attempt_ends_with_its_op_timeout_and_a_waiter_waits_through_the_outage) {
  const std::string unavailable = with("idle orphan refused", errc::unavailable, " sleep:never");
  EXPECT_EQ(played_claim(polling).play("attempt wake"), unavailable);
  EXPECT_EQ(played_claim(polling).play("attempt cut wake"), unavailable);
  expect_each({{"acquire cut pass3600000 granted", "held granted sleep:never"}}, polling);
}

TEST(retrying, a_cancelled_claim_leaves_nothing_behind) {
  expect_each({{"acquire cancel", "withdrawing withdraw sleep:1000"},
               {"acquire cancel not_owner", "idle ended sleep:never"},
               {"acquire cancel done", "idle ended sleep:never"},
               {"acquire cancel not_owner~", "idle orphan ended sleep:never"},
               {"acquire cancel cut", "withdrawing withdraw"},
               {"acquire cancel cancel", "withdrawing"},
               {"acquire busy cancel", "idle ended sleep:never"},
               {"acquire cut cancel", "withdrawing withdraw sleep:1000"},
               {"acquire granted cancel", "held"}},
              polling);
  // An older request may arrive: it may become the owner although the last reply was busy.
  expect_each({{"acquire cut busy~ subscribed busy~ cancel", "withdrawing withdraw sleep:1000"},
               {"acquire cut busy~ subscribed busy cancel", "idle ended sleep:never"}},
              with_channel);
  EXPECT_EQ(played_claim(polling).play("acquire cancel wake"),
            with("idle orphan ended", errc::outcome_unknown, " sleep:never"));
}

TEST(retrying, a_grant_is_renewed_and_may_be_lost) {
  expect_each({{"acquire granted renew", "held renew"},
               {"acquire granted renew done", "held extended"},
               {"acquire granted renew failed", "held"},
               {"acquire granted renew cut", "held"},
               {"acquire granted renew release done", "idle ended sleep:never"},
               {"acquire granted downgrade", "held downgrade"}},
              polling);
  EXPECT_EQ(played_claim(polling).play("acquire granted renew not_owner"),
            with("lost lost", errc::lost, ""));
  for (const char* const path :
       {"acquire granted renew not_owner release", "acquire granted renew not_owner cut release"})
    EXPECT_EQ(played_claim(polling).play(path), with("idle ended", errc::not_held, " sleep:never"));
}

TEST(retrying, a_release_is_repeated_until_it_is_answered) {
  expect_each({{"acquire granted release", "releasing release sleep:1000"},
               {"acquire granted release done", "idle ended sleep:never"},
               {"acquire granted release cut", "releasing release"},
               {"acquire granted release cut not_owner", "idle ended sleep:never"},
               {"acquire granted release failed", "releasing sleep:20+5"}},
              polling);
  EXPECT_EQ(played_claim(polling).play("acquire granted release not_owner"),
            with("idle ended", errc::not_held, " sleep:never"));
  EXPECT_EQ(played_claim(polling).play("acquire granted release wake"),
            with("idle orphan ended", errc::outcome_unknown, " sleep:never"));
}

TEST(retrying, what_is_given_up_becomes_an_orphan_only_where_it_may_be_at_the_server) {
  const std::string closed = text_of(errc::closed);
  EXPECT_EQ(played_claim(polling).play("acquire give_up"),
            "idle orphan refused" + closed + " sleep:never");
  EXPECT_EQ(played_claim(polling).play("acquire busy give_up"),
            "idle refused" + closed + " sleep:never");
  EXPECT_EQ(played_claim(polling).play("acquire granted give_up"), "held");
}

TEST(retrying, a_deadline_counts_from_the_send_of_what_was_granted) {
  played_claim p(polling);
  const time_point sent = p.now;
  p.play("acquire pass300 granted");
  EXPECT_EQ(p.recipe().granted().deadline, sent + seam::worth(ttl, {}));
  EXPECT_EQ(p.recipe().granted().received_at, sent + 300ms);
  EXPECT_EQ(p.recipe().granted().number, 7);
  p.play("pass2000 renew pass300 done");
  EXPECT_EQ(p.recipe().granted().deadline, sent + 2300ms + seam::worth(ttl, {}));
}

TEST(retrying, the_resolve_of_a_cut_attempt_starts_its_steps_anew) {
  played_claim p(polling);
  p.play("acquire next next");
  EXPECT_EQ(p.recipe().step_of_attempt(), 2);
  p.play("cut");
  EXPECT_EQ(p.recipe().step_of_attempt(), 0);
}

TEST(retrying, wants_messages_until_it_has_the_lock_or_gives_up) {
  played_claim p(with_channel);
  p.play("acquire busy");
  EXPECT_TRUE(p.recipe().wants_messages());
  p.play("subscribed");
  EXPECT_TRUE(p.recipe().wants_messages());
  p.play("granted");
  EXPECT_FALSE(p.recipe().wants_messages());
}

TEST(retrying, while_its_messages_get_lost_it_polls) {
  expect_each({{"acquire busy subscribed busy unsubscribed", "waiting sleep:2+2"},
               {"acquire busy subscribed busy unsubscribed wake busy",
                "subscribing subscribe sleep:1000"},
               {"acquire busy wake busy", "waiting sleep:2+2"},
               {"acquire busy subscribed busy unsubscribed resubscribed",
                "trying try_lock sleep:never"}},
              with_channel);
}

TEST(retrying, who_may_stand_in_a_queue_withdraws) {
  retrying_recipe::rules queued = with_channel;
  queued.has_queue = true;
  expect_each({{"acquire busy subscribed busy cancel", "withdrawing withdraw sleep:1000"},
               {"acquire busy subscribed busy give_up",
                "idle orphan refused(the client was closed) sleep:never"}},
              queued);
}

TEST(retrying, a_claim_that_lost_its_lease_leaves_a_queue_copied_before_its_grant) {
  retrying_recipe::rules queued = with_channel;
  queued.has_queue = true;
  EXPECT_EQ(played_claim(queued).play("acquire granted renew not_owner"),
            with("lost orphan lost", errc::lost, ""));
  EXPECT_EQ(played_claim(queued).play("acquire granted release not_owner"),
            with("idle orphan ended", errc::not_held, " sleep:never"));
  EXPECT_EQ(played_claim(queued).play("acquire granted release cut not_owner"),
            "idle orphan ended sleep:never");
  EXPECT_EQ(played_claim(with_channel).play("acquire granted release cut not_owner"),
            "idle ended sleep:never");
  EXPECT_EQ(played_claim(with_channel).play("acquire granted renew not_owner"),
            with("lost lost", errc::lost, ""));
}

TEST(retrying, a_grant_of_a_repeated_attempt_leaves_no_ghost_when_the_first_arrives_later) {
  expect_each({{"acquire cut granted~ release done~", "idle orphan ended sleep:never"},
               {"acquire cut granted~ release done", "idle ended sleep:never"},
               {"acquire cut granted release done~", "idle ended sleep:never"},
               {"acquire granted~ release done~", "idle ended sleep:never"},
               {"acquire cut busy~ subscribed granted~ release done~",
                "idle orphan ended sleep:never"}},
              with_channel);
  EXPECT_EQ(played_claim(with_channel).play("acquire cut granted~ renew not_owner release"),
            with("idle orphan ended", errc::not_held, " sleep:never"));
  expect_each({{"acquire cut granted~ release done~", "idle ended sleep:never"}}, polling);
}

TEST(retrying, a_downgrade_is_sent_until_the_server_has_executed_it) {
  expect_each({{"acquire granted downgrade", "held downgrade"},
               {"acquire granted downgrade cut", "held downgrade"},
               {"acquire granted downgrade not_now wake", "held downgrade"},
               {"acquire granted downgrade failed wake", "held downgrade"},
               {"acquire granted downgrade done", "held"}},
              polling);
  EXPECT_EQ(played_claim(polling).play("acquire granted downgrade not_owner"),
            with("lost lost", errc::lost, ""));
}

TEST(retrying, each_operation_of_several_commands_goes_on_with_its_own) {
  expect_each({{"acquire next", "trying try_lock"},
               {"acquire cut next", "resolving resolve"},
               {"acquire granted release next", "releasing release"},
               {"acquire cancel next", "withdrawing withdraw"}},
              polling);
}

TEST(retrying, a_cut_begins_with_the_first_command_again) {
  played_claim p(polling);
  for (const char* path : {"acquire cut next cut", "granted release next cut"}) {
    p.play(path);
    EXPECT_EQ(p.recipe().step_of_attempt(), 0) << path;
  }
}

TEST(retrying, an_acquire_begins_without_what_an_earlier_one_has_left) {
  expect_each({{"acquire busy wake busy cancel acquire busy", "waiting sleep:2+2"},
               {"acquire not_now wake not_now cancel done acquire not_now", "trying sleep:20+5"}},
              polling);
  expect_each({{"acquire busy subscribed busy cancel acquire busy",
                "subscribing subscribe sleep:1000"},
               {"acquire busy failed cancel acquire busy", "subscribing subscribe sleep:1000"},
               {"acquire granted release cut told acquire cancel", "idle ended sleep:never"},
               {"acquire busy subscribed message cancel done acquire busy",
                "subscribing subscribe sleep:1000"}},
              with_channel);
}

TEST(retrying, each_kind_of_request_has_pauses_of_its_own) {
  expect_each({{"acquire not_now wake not_now wake granted release not_now",
                "releasing sleep:20+5"},
               {"acquire not_now wake granted downgrade not_now", "held sleep:20+5"},
               {"acquire not_now wake not_now cancel not_now", "withdrawing sleep:20+5"}},
              polling);
}

TEST(retrying, a_lease_that_ends_with_the_back_off_is_not_waited_for_by_itself) {
  expect_each({{"acquire busy5", "waiting sleep:2+2"}, {"acquire busy4", "waiting sleep:5+4"}},
              polling);
}

TEST(retrying, others_go_first_for_a_tenth_of_a_second) {
  expect_each({{"acquire granted release told pass99 acquire", "waiting owner sleep:0+1"},
               {"acquire granted release told pass100 acquire",
                "trying owner try_lock sleep:never"}},
              with_channel);
}

TEST(retrying, peers_that_were_seen_get_more_of_the_lock_eight_times) {
  const retrying_recipe::rules among_peers = {.share_after = 10ms, .share_max = 100ms};
  const std::string again = "wake granted pass10 release done acquire";
  played_claim p(among_peers);
  EXPECT_EQ(p.play("acquire busy " + again), "waiting owner sleep:60+30");
  for (int i = 2; i <= 8; ++i) EXPECT_EQ(p.play(again), "waiting owner sleep:40+20") << i;
  EXPECT_EQ(p.play(again), "waiting owner sleep:10+5");
  EXPECT_EQ(played_claim(among_peers).play("acquire granted pass10 release done pass2 acquire"),
            "waiting owner sleep:12+6")
      << "such a short time is no pause";
}

TEST(retrying, where_the_channel_is_a_queue_its_use_begins_again_behind_the_waiters) {
  retrying_recipe::rules queue = with_channel;
  queue.keeps_messages = queue.channel_is_queue = true;
  queue.queue_after = 20ms;
  EXPECT_EQ(played_claim(queue).play("acquire granted pass20 release done acquire subscribed "
                                     "message granted pass19 release done acquire"),
            "trying owner try_lock sleep:never");
}

TEST(retrying, a_late_refusal_of_a_subscription_stops_no_attempt_and_no_later_subscription) {
  retrying_recipe r(with_channel);
  const timing t{.op_timeout = op_timeout};
  const time_point now(std::chrono::hours{1});
  seam::acquire_request wanted;
  wanted.ttl = ttl;
  r.acquire(wanted, now, t);
  retrying_reply busy;
  busy.to = operation::try_lock;
  busy.what = verdict::busy;
  busy.epoch = r.epoch();
  EXPECT_EQ(r.on(busy, now, t).send, operation::subscribe);
  retrying_reply refused;
  refused.to = operation::subscribe;
  refused.what = verdict::failed;
  refused.epoch = r.epoch();
  EXPECT_EQ(r.on_message(now, t).send, operation::try_lock);
  EXPECT_FALSE(r.on(refused, now, t).sleeps);
  EXPECT_EQ(r.now_in(), state::trying);
  EXPECT_FALSE(r.polls());
  busy.epoch = r.epoch();
  EXPECT_EQ(r.on(busy, now, t).send, operation::subscribe);
  EXPECT_FALSE(r.on(refused, now, t).sleeps);
  EXPECT_EQ(r.now_in(), state::subscribing) << "it awaits the reply to the later request";
}

TEST(retrying, a_claim_reports_that_it_polls) {
  played_claim p(with_channel);
  p.play("acquire busy");
  EXPECT_FALSE(p.recipe().polls());
  p.play("failed");
  EXPECT_TRUE(p.recipe().polls());
  p.play("wake granted");
  EXPECT_FALSE(p.recipe().polls());
}

TEST(retrying, what_withdraws_always_does_so_without_a_grant) {
  retrying_recipe::rules always = polling;
  always.withdraws_always = true;
  EXPECT_EQ(played_claim(always).play("attempt busy"),
            with("idle orphan refused", errc::timed_out, " sleep:never"));
  EXPECT_EQ(played_claim(always).play("acquire busy cancel"), "withdrawing withdraw sleep:1000");
  EXPECT_EQ(played_claim(always).play("acquire busy give_up"),
            with("idle orphan refused", errc::closed, " sleep:never"));
}

TEST(retrying, what_concerns_an_earlier_request_changes_nothing) {
  expect_each({{"acquire busy wake stale_cut", "trying"},
               {"acquire busy wake stale_cut granted", "held granted sleep:never"}},
              polling);
  expect_each({{"acquire busy cut failed", "waiting"}}, with_channel);
}

TEST(retrying, a_subscription_that_is_renewed_during_an_attempt_leaves_the_attempt_alone) {
  retrying_recipe::rules lasting = with_channel;
  lasting.keeps_messages = true;
  expect_each({{"acquire resubscribed", "trying"},
               {"acquire resubscribed granted", "held granted sleep:never"}},
              lasting);
}

}  // namespace
}  // namespace holdfast::claims::recipe_tests
