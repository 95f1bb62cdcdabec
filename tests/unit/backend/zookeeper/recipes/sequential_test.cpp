// The state table of recipes/sequential.hpp, row by row: a path of events, and what the last one
// does.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/unit/backend/zookeeper/recipes/played_claim.hpp"

namespace holdfast::zookeeper::recipe_tests {
namespace {

struct row {
  std::string path;
  std::string then;
};

void expect_each(std::initializer_list<row> rows) {
  for (const row& r : rows) EXPECT_EQ(played_claim().play(r.path), r.then) << r.path;
}

std::string with(const char* before, errc why, const char* after = " sleep:never") {
  return before + text_of(why) + after;
}

const std::string listed = "acquire created ";
const std::string waiting = listed + "behind watched ";

TEST(zookeeper_sequential, a_claim_that_is_alone_is_granted_by_its_create) {
  expect_each({{"acquire", "creating owner create sleep:never"},
               {"attempt", "creating owner create sleep:1000"},
               {"acquire granted", "held granted sleep:100+50"},
               {"acquire no_parent", "creating create"},
               {"acquire no_parent granted", "held granted sleep:100+50"},
               {"acquire failed", with("idle orphan refused", errc::refused)},
               {"acquire late", "creating"}});
}

TEST(zookeeper_sequential, one_that_is_not_alone_lists_and_watches) {
  expect_each({{"acquire created", "listing list sleep:never"},
               {"attempt created", "listing list sleep:1000"},
               {"acquire created granted", "held granted sleep:100+50"},
               {"acquire created behind", "watching watch sleep:never"},
               {"acquire created behind watched", "waiting sleep:never"},
               {"acquire created behind gone", "listing list sleep:never"},
               {"acquire created gone", "creating owner create sleep:never"},
               {"acquire created failed", with("idle orphan refused", errc::refused)},
               {"acquire created behind failed", with("idle orphan refused", errc::refused)}});
}

TEST(zookeeper_sequential, a_claim_at_the_limit_of_its_sequence_removes_its_node_and_is_refused) {
  for (const std::string before : {"acquire ", "acquire cut ", "acquire created "})
    expect_each({{before + "exhausted", "withdrawing remove sleep:1000"},
                 {before + "exhausted done", with("idle refused", errc::exhausted)},
                 {before + "exhausted cut", "withdrawing remove"},
                 {before + "exhausted on_session_lost", with("idle refused", errc::exhausted)}});
}

TEST(zookeeper_sequential, an_attempt_that_is_behind_removes_its_node_and_is_refused) {
  const std::string behind = "attempt created behind ";
  expect_each({{behind, "withdrawing remove sleep:1000"},
               {behind + "done", with("idle refused", errc::timed_out)},
               {behind + "gone", with("idle refused", errc::timed_out)},
               {behind + "cut", "withdrawing remove"},
               {behind + "wake", with("idle orphan refused", errc::timed_out)},
               {behind + "on_session_lost", with("idle refused", errc::timed_out)}});
}

TEST(zookeeper_sequential, the_end_of_all_that_is_ahead_grants) {
  expect_each({{waiting + "on_fewer", "waiting sleep:never"},
               {waiting + "on_nothing", "held granted sleep:never"},
               {waiting + "on_fewer on_nothing", "held granted sleep:never"},
               {listed + "behind alone", "held granted sleep:never"}});
}

TEST(zookeeper_sequential, a_claim_that_does_not_know_what_is_ahead_lists_again) {
  const std::string lists = waiting + "on_unknown ";
  expect_each({{lists, "listing list sleep:never"},
               {lists + "known", "waiting sleep:never"},
               {lists + "known on_nothing", "held granted sleep:never"},
               {lists + "behind", "watching watch sleep:never"},
               {lists + "behind watched on_unknown", "listing list sleep:never"},
               {lists + "granted", "held granted sleep:never"},
               {lists + "gone", "creating owner join sleep:never"},
               {lists + "failed", with("idle orphan refused", errc::refused)},
               {lists + "cut", "resolving find sleep:never"},
               {lists + "cut known", "waiting sleep:never"},
               {listed + "behind outdated", "listing list sleep:never"},
               {listed + "known", "watching watch sleep:never"}});
}

// The reply that comes counts them.
TEST(zookeeper_sequential, events_before_a_reply_change_nothing) {
  const std::string lists = waiting + "on_unknown ";
  expect_each({{lists + "on_nothing", "listing"},
               {lists + "on_nothing granted", "held granted sleep:never"},
               {lists + "on_own_change known", "watching watch sleep:never"},
               {lists + "known on_own_end", "listing list sleep:never"},
               {lists + "known on_attached on_nothing", "listing list sleep:never"},
               {listed + "behind on_nothing", "watching"},
               {listed + "behind on_unknown", "watching"},
               {listed + "on_unknown", "listing"},
               {"acquire on_own_end", "creating"}});
}

TEST(zookeeper_sequential, a_claim_that_met_others_lists_with_its_next_create) {
  const std::string met = waiting + "on_nothing release done acquire ";
  expect_each({{met, "creating owner join sleep:never"},
               {met + "granted", "held granted sleep:100+50"},
               {met + "behind", "watching watch sleep:never"},
               {met + "gone", "creating owner join sleep:never"},
               {met + "no_parent", "creating create"},
               {met + "failed", with("idle orphan refused", errc::refused)},
               {met + "cut", "resolving find sleep:never"},
               {met + "granted release done acquire", "creating owner create sleep:never"},
               {met + "granted+ release done acquire", "creating owner join sleep:never"},
               {"attempt created behind done attempt behind", "withdrawing remove sleep:1000"}});
}

TEST(zookeeper_sequential, a_claim_whose_node_is_gone_is_not_granted_by_the_end_of_others) {
  expect_each({{waiting + "on_own_end", "listing list sleep:never"},
               {waiting + "on_own_end on_nothing", "listing"},
               {waiting + "on_own_end gone", "creating owner join sleep:never"},
               {waiting + "on_own_change", "listing list sleep:never"}});
}

TEST(zookeeper_sequential, after_the_session_was_attached_again_no_event_grants) {
  expect_each({{waiting + "on_attached", "waiting"},
               {waiting + "on_attached on_nothing", "listing list sleep:never"},
               {waiting + "on_attached on_nothing granted", "held granted sleep:never"}});
}

TEST(zookeeper_sequential, after_a_cut_an_attempt_looks_for_its_node) {
  expect_each({{"acquire cut", "resolving find sleep:never"},
               {"acquire cut cut", "resolving find sleep:never"},
               {"acquire cut granted", "held granted sleep:100+50"},
               {"acquire cut behind", "watching watch sleep:never"},
               {"acquire cut gone", "creating owner create sleep:never"},
               {"acquire cut failed", with("idle orphan refused", errc::refused)},
               {listed + "cut", "resolving find sleep:never"},
               {listed + "behind cut", "resolving find sleep:never"},
               {waiting + "cut_of_old", "waiting"},
               {waiting + "cut", "waiting"},
               {"attempt pass400 cut", "resolving find sleep:600"},
               {"attempt cut behind", "withdrawing remove sleep:1000"},
               {"acquire cut cut_of_old", "resolving"}});
}

TEST(zookeeper_sequential, a_waiter_is_never_overdue_and_an_attempt_is) {
  expect_each({{"attempt wake", with("idle orphan refused", errc::unavailable)},
               {"attempt cut wake", with("idle orphan refused", errc::unavailable)},
               {"attempt created wake", with("idle orphan refused", errc::unavailable)}});
  played_claim c;
  c.play(waiting + "cut");
  EXPECT_TRUE(c.recipe().is_waiter());
}

TEST(zookeeper_sequential, a_wait_that_ends_removes_the_node) {
  expect_each({{"acquire cancel", "withdrawing remove sleep:1000"},
               {listed + "cancel", "withdrawing remove sleep:1000"},
               {waiting + "cancel", "withdrawing remove sleep:1000"},
               {waiting + "cancel done", "idle ended sleep:never"},
               {waiting + "cancel gone", "idle ended sleep:never"},
               {waiting + "cancel on_nothing", "withdrawing"},
               {"acquire cancel late", "withdrawing"},
               {waiting + "cancel wake", with("idle orphan ended", errc::outcome_unknown)},
               {"acquire granted cancel", "held"},
               {"acquire give_up", with("idle orphan refused", errc::closed)},
               {waiting + "give_up", with("idle orphan refused", errc::closed)}});
}

TEST(zookeeper_sequential, a_release_removes_the_node) {
  const std::string released = "acquire granted release ";
  expect_each({{released, "releasing remove sleep:1000"},
               {released + "done", "idle ended sleep:never"},
               {released + "gone", with("idle ended", errc::not_held)},
               {released + "cut", "releasing remove"},
               {released + "cut gone", "idle ended sleep:never"},
               {released + "on_session_lost", with("idle ended", errc::outcome_unknown)},
               {released + "wake", with("idle orphan ended", errc::outcome_unknown)},
               {released + "give_up", with("idle orphan ended", errc::outcome_unknown)},
               {released + "done acquire", "creating owner create sleep:never"}});
}

TEST(zookeeper_sequential, a_removal_that_failed_is_sent_again_later_each_time) {
  const std::string failed = "acquire granted release throttled ";
  expect_each({{failed, "releasing sleep:50"},
               {failed + "wake", "releasing remove sleep:950"},
               {failed + "wake throttled", "releasing sleep:100"},
               {failed + "wake throttled wake throttled", "releasing sleep:200"},
               {failed + "wake gone", "idle ended sleep:never"},
               {failed + "pass960 wake", "releasing remove sleep:950"},
               {"acquire granted release pass990 throttled", "releasing sleep:10"},
               {"acquire granted release pass990 throttled wake",
                with("idle orphan ended", errc::outcome_unknown)}});
}

// It would be refused again: the caller learns why.
TEST(zookeeper_sequential, a_removal_without_the_right_to_it_is_told) {
  expect_each({{"acquire granted release failed", with("idle orphan ended", errc::refused)},
               {waiting + "cancel failed", with("idle orphan ended", errc::refused)},
               {"attempt created behind failed", with("idle orphan refused", errc::refused)}});
}

TEST(zookeeper_sequential, a_holder_that_was_alone_watches_its_node_after_a_while) {
  const std::string watched = "acquire granted wake ";
  expect_each({{watched, "held watch_own"},
               {watched + "watched", "held"},
               {watched + "watched wake", "held"},
               {watched + "gone", with("lost orphan lost", errc::not_held)},
               {watched + "failed", "held"},
               {watched + "cut", "held sleep:100"},
               {watched + "cut wake", "held watch_own"},
               {watched + "watched on_own_change", "held watch_own"},
               {waiting + "on_nothing on_own_change", "held watch_own"}});
}

TEST(zookeeper_sequential, a_holder_whose_node_was_removed_has_lost_the_lock) {
  expect_each(
      {{"acquire granted wake watched on_own_end", with("lost orphan lost", errc::not_held)},
       {waiting + "on_nothing on_own_end", with("lost orphan lost", errc::not_held)},
       {waiting + "on_nothing on_own_end release", with("idle ended", errc::not_held)},
       {waiting + "on_nothing on_own_end on_session_lost", "lost"}});
}

TEST(zookeeper_sequential, a_session_that_is_lost_takes_the_lock_and_not_the_wait) {
  expect_each({{"acquire granted on_session_lost", with("lost lost", errc::timed_out)},
               {"acquire granted on_session_lost release", with("idle ended", errc::not_held)},
               {"acquire on_session_lost", "creating owner create sleep:never"},
               {waiting + "on_session_lost", "creating owner join sleep:never"},
               {waiting + "on_session_lost on_nothing", "creating"},
               {"attempt pass400 on_session_lost", "creating owner create sleep:600"},
               {waiting + "cancel on_session_lost", with("idle ended", errc::outcome_unknown)}});
}

TEST(zookeeper_sequential, the_session_moves_a_holders_deadline_and_nobody_elses) {
  expect_each({{"acquire granted on_deadline", "held extended"},
               {"acquire granted on_doubtful", "held doubtful"},
               {"acquire on_deadline", "creating"},
               {waiting + "on_doubtful", "waiting"}});
  played_claim c;
  c.play("acquire granted on_doubtful");
  EXPECT_TRUE(c.recipe().is_doubtful());
  c.play("pass500 on_deadline");
  EXPECT_FALSE(c.recipe().is_doubtful());
  EXPECT_EQ(c.recipe().granted().deadline, c.now + session_timeout);
}

TEST(zookeeper_sequential, a_grant_has_the_number_of_its_own_node_and_the_deadline_of_the_session) {
  const std::string paths[] = {"acquire granted", listed + "granted", "acquire cut granted",
                               waiting + "on_nothing"};
  for (const std::string& path : paths) {
    played_claim c;
    c.play(path);
    const seam::grant g = c.recipe().granted();
    EXPECT_EQ(g.number, own_number) << path;
    EXPECT_EQ(g.deadline, c.now + session_timeout) << path;
    EXPECT_EQ(g.lease_term, session_timeout) << path;
    EXPECT_NE(g.waiters_unknown, c.recipe().others_wait()) << path;
  }
}

TEST(zookeeper_sequential, others_in_the_line_are_reported_once) {
  expect_each({{"acquire granted peek", "held check_waiters"},
               {"acquire granted peek watched", "held"},
               {"acquire granted peek watched+", "held wanted"},
               {"acquire granted peek watched+ watched+", "held"},
               {"acquire granted peek watched+ on_children", "held"},
               {"acquire granted peek watched on_children", "held check_waiters"},
               {"acquire granted peek watched on_children watched+", "held wanted"},
               {"acquire granted peek cut", "held check_waiters"},
               {listed + "granted+ on_children", "held"},
               {"acquire peek", "creating"},
               {"acquire on_children", "creating"}});
  played_claim c;
  c.play(waiting + "on_nothing");
  EXPECT_TRUE(c.recipe().others_wait()) << "nobody has looked who queued since the list";
}

TEST(zookeeper_sequential, a_request_for_the_lock_is_reported_once) {
  const std::string asked = "acquire granted wake watched! ";
  expect_each({{asked, "held asked"},
               {asked + "on_own_change watched!", "held"},
               {"acquire granted wake watched on_own_change watched!", "held asked"},
               {"acquire granted downgrade watched!", "held asked"},
               {asked + "downgrade watched!", "held"},
               {asked + "release done acquire granted", "held granted sleep:100+50"},
               {asked + "release done acquire granted wake watched!", "held asked"}});
}

TEST(zookeeper_sequential, a_waiter_that_is_asked_for_the_lock_hears_of_it_once_it_holds_it) {
  const std::string asked = listed + "behind watched! ";
  expect_each(
      {{asked, "waiting sleep:never"},
       {asked + "on_nothing", "held granted asked sleep:never"},
       {waiting + "on_own_change behind watched! on_nothing", "held granted asked sleep:never"},
       {asked + "on_session_lost granted", "held granted sleep:100+50"}});
}

TEST(zookeeper_sequential, a_downgrade_is_repeated_until_it_is_answered) {
  expect_each({{"acquire granted downgrade", "held downgrade"},
               {"acquire granted downgrade cut", "held downgrade"},
               {"acquire granted downgrade watched", "held"},
               {"acquire granted downgrade watched wake", "held"},
               {"acquire granted downgrade wake", "held"},
               {"acquire granted downgrade failed", "held watch_own"},
               {"acquire granted wake watched downgrade failed", "held"},
               {"acquire granted downgrade gone", with("lost orphan lost", errc::not_held)},
               {"acquire granted downgrade on_own_end", "held"},
               {"acquire granted downgrade on_own_end watched", "held"},
               {"acquire granted downgrade on_own_end watched on_own_end",
                with("lost orphan lost", errc::not_held)},
               {"acquire downgrade", "creating"},
               {"acquire granted renew", "held"}});
  played_claim c;
  c.play("acquire granted downgrade");
  EXPECT_TRUE(c.recipe().is_downgraded());
  c.play("release done acquire");
  EXPECT_FALSE(c.recipe().is_downgraded());
}

}  // namespace
}  // namespace holdfast::zookeeper::recipe_tests
