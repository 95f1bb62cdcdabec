// Broken histories of every kind, and the sound ones next to them.
#include "history/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/history/found_faults.hpp"

namespace holdfast::history {
namespace {

using namespace std::chrono_literals;

TEST(checker_overlap, holders_one_after_the_other_are_fine) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L release 30 40 ok 1 -\n"
                  "b L acquire 15 35 ok 2 -\n"
                  "b L release 50 60 ok 2 -\n"),
            "");
}

TEST(checker_overlap, two_at_a_time_are_reported_with_both_acquires) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L release 30 40 ok 1 -\n"
                  "b L acquire 15 29 ok 2 -\n"
                  "b L release 50 60 ok 2 -\n"),
            "overlap:1,3");
}

TEST(checker_overlap, the_order_of_the_lines_does_not_matter) {
  EXPECT_EQ(found("b L release 50 60 ok 2 -\n"
                  "b L acquire 15 29 ok 2 -\n"
                  "a L release 30 40 ok 1 -\n"
                  "a L acquire 10 20 ok 1 -\n"),
            "overlap:4,2");
}

TEST(checker_overlap, locks_of_other_names_do_not_count) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "b M acquire 10 20 ok 1 -\n"),
            "");
}

TEST(checker_overlap, a_holder_that_never_releases_is_in_the_way_of_all) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "b L acquire 30 40 ok 2 -\n"
                  "b L release 50 60 ok 2 -\n"
                  "c L acquire 70 80 ok 3 -\n"),
            "overlap:1,2 overlap:1,4");
}

TEST(checker_overlap, a_claim_ends_at_its_deadline) {
  const std::string holder = "a L acquire 10 20 ok 1 100\n";
  EXPECT_EQ(found(holder + "b L acquire 30 100 ok 2 200\n"), "");
  EXPECT_EQ(found(holder + "b L acquire 30 99 ok 2 200\n"), "overlap:1,2");
}

TEST(checker_overlap, a_renewal_moves_the_end_of_the_claim) {
  const std::string holder = "a L acquire 10 20 ok 1 100\na L renew 50 60 ok 1 150\n";
  EXPECT_EQ(found(holder + "b L acquire 30 150 ok 2 200\n"), "");
  EXPECT_EQ(found(holder + "b L acquire 30 149 ok 2 200\n"), "overlap:1,3");
}

TEST(checker_overlap, a_renewal_may_shorten_a_claim) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 100\n"
                  "a L renew 50 60 ok 1 70\n"
                  "b L acquire 30 75 ok 2 200\n"),
            "");
}

TEST(checker_overlap, a_renewal_without_an_answer_moves_nothing) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 100\n"
                  "a L renew 50 60 unknown 1 150\n"
                  "b L acquire 30 120 ok 2 200\n"),
            "");
}

TEST(checker_overlap, a_check_shows_renewals_that_were_not_recorded) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 100\n"
                  "a L check 140 141 ok 1 200\n"
                  "b L acquire 30 190 ok 2 300\n"),
            "overlap:1,3");
}

TEST(checker_overlap, a_claim_ends_when_loss_or_doubt_is_reported) {
  const std::string holder = "a L acquire 10 20 ok 1 -\n";
  const std::string other = "b L acquire 30 60 ok 2 -\n";
  EXPECT_EQ(found(holder + other), "overlap:1,2");
  EXPECT_EQ(found(holder + other + "a L check 50 51 lost 1 -\n"), "");
  EXPECT_EQ(found(holder + other + "a L check 50 51 unknown 1 -\n"), "");
  EXPECT_EQ(found(holder + other + "a L renew 50 51 lost 1 -\n"), "");
  EXPECT_EQ(found(holder + other + "a L check 61 62 lost 1 -\n"), "overlap:1,2");
}

TEST(checker_overlap, a_killed_process_claims_nothing_more) {
  const std::string two =
      "7.1 L acquire 10 20 ok 1 -\n7.1 M check 65 66 ok 9 -\n8.1 L acquire 30 60 ok 2 -\n";
  EXPECT_EQ(found(two), "overlap:1,3");
  EXPECT_EQ(found(two + "7 - kill 50 55 ok 0 -\n"), "");
  EXPECT_EQ(found(two + "7.1 - kill 50 55 ok 0 -\n"), "");
  EXPECT_EQ(found(two + "7 - kill 67 68 ok 0 -\n"), "overlap:1,3");
  EXPECT_EQ(found(two + "7 - kill 5 55 ok 0 -\n"), "") << "it acquired before it was dead";
  EXPECT_EQ(found(two + "77 - kill 50 55 ok 0 -\n"), "overlap:1,3") << "another process";
  EXPECT_EQ(found(two + "7 - kill 1 2 ok 0 -\n"), "overlap:1,3") << "its number was used before";
}

TEST(checker_overlap, a_killed_process_may_have_released_after_its_last_record) {
  EXPECT_EQ(found("7.1 L acquire 10 20 ok 1 -\n"
                  "7.2 L acquire 15 40 ok 2 -\n"
                  "7.2 L check 45 46 ok 2 -\n"
                  "7 - kill 50 55 ok 0 -\n"),
            "");
}

TEST(checker_overlap, a_notice_is_no_record_of_the_killed_process) {
  EXPECT_EQ(found("7.1 L acquire 10 20 ok 1 -\n"
                  "7.2 L acquire 15 40 ok 2 -\n"
                  "7.1 M notice 45 45 lost 9 -\n"
                  "7 - kill 50 55 ok 0 -\n"),
            "");
}

TEST(checker_overlap, a_check_inside_the_claim_of_another_is_reported) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L check 30 31 unknown 1 -\n"
                  "b L acquire 35 40 ok 2 -\n"
                  "a L check 50 51 ok 1 -\n"
                  "b L release 60 61 ok 2 -\n"),
            "overlap:3,4");
}

TEST(checker_overlap, a_grant_that_nobody_is_sure_of_claims_nothing) {
  EXPECT_EQ(found("a L acquire 10 20 unknown 0 -\n"
                  "c L acquire 10 20 busy 0 -\n"
                  "d L acquire 10 20 refused 0 -\n"
                  "b L acquire 30 40 ok 2 -\n"),
            "");
}

TEST(checker_overlap, two_leases_of_one_process_differ_by_their_tokens) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 100\n"
                  "a L acquire 110 120 ok 2 200\n"
                  "a L release 125 126 lost 1 -\n"
                  "b L acquire 130 140 ok 3 300\n"),
            "overlap:2,4");
}

TEST(checker_deadline, a_check_is_false_from_the_deadline_on) {
  const std::string holder = "a L acquire 10 20 ok 1 100\n";
  EXPECT_EQ(found(holder + "a L check 99 130 ok 1 100\n"), "");
  EXPECT_EQ(found(holder + "a L check 100 101 ok 1 100\n"), "deadline:1,2");
  EXPECT_EQ(found(holder + "a L check 100 101 lost 1 100\n"), "");
}

TEST(checker_deadline, a_check_without_a_deadline_is_held_against_the_last_one) {
  const std::string holder = "a L acquire 10 20 ok 1 100\na L renew 30 40 ok 1 150\n";
  EXPECT_EQ(found(holder + "a L check 149 150 ok 1 -\n"), "");
  EXPECT_EQ(found(holder + "a L check 150 151 ok 1 -\n"), "deadline:1,3");
}

TEST(checker_revived, what_was_lost_stays_lost) {
  const std::string lost = "a L acquire 10 20 ok 1 -\na L check 30 31 lost 1 -\n";
  EXPECT_EQ(found(lost + "a L check 31 32 lost 1 -\n"), "");
  EXPECT_EQ(found(lost + "a L check 32 33 ok 1 -\n"), "revived:2,3");
  EXPECT_EQ(found(lost + "a L renew 32 33 ok 1 -\n"), "revived:2,3");
}

TEST(checker_revived, a_doubt_may_pass) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L check 30 31 unknown 1 -\n"
                  "a L check 40 41 ok 1 -\n"),
            "");
}

TEST(checker_token, a_token_grows_with_each_grant) {
  const std::string first = "a L acquire 10 20 ok 5 -\na L release 25 26 ok 5 -\n";
  EXPECT_EQ(found(first + "b L acquire 30 40 ok 6 -\n"), "");
  EXPECT_EQ(found(first + "b L acquire 30 40 ok 5 -\n"), "token:1,3");
  EXPECT_EQ(found(first + "b L acquire 30 40 ok 4 -\n"), "token:1,3");
}

TEST(checker_token, a_grant_that_waited_for_another_has_the_larger_token) {
  EXPECT_EQ(found("b L acquire 10 40 ok 4 -\n"
                  "a L acquire 11 20 ok 5 -\n"
                  "a L release 25 26 ok 5 -\n"),
            "token:2,1");
}

TEST(checker_token, grants_that_were_over_at_once_may_return_in_any_order) {
  EXPECT_EQ(found("a L acquire 10 60 ok 1 50\n"
                  "b L acquire 10 55 ok 2 100\n"
                  "b L release 57 58 ok 2 -\n"),
            "");
}

TEST(checker_token, one_number_is_given_only_once) {
  EXPECT_EQ(found("a L acquire 10 60 ok 3 50\n"
                  "b L acquire 10 55 ok 3 100\n"
                  "b L release 57 58 ok 3 -\n"),
            "token:1,2");
}

TEST(checker_token, the_highest_is_remembered_not_the_last) {
  EXPECT_EQ(found("a L acquire 1 2 ok 9 -\n"
                  "a L release 3 4 ok 9 -\n"
                  "a L acquire 5 6 ok 1 -\n"
                  "a L release 7 8 ok 1 -\n"
                  "a L acquire 9 10 ok 2 -\n"),
            "token:1,3 token:1,5");
}

TEST(checker_token, a_grant_without_a_token_is_left_out) {
  EXPECT_EQ(found("a L acquire 10 20 ok 5 -\n"
                  "a L release 25 26 ok 5 -\n"
                  "b L acquire 30 40 ok 0 -\n"
                  "b L release 41 42 ok 0 -\n"
                  "c L acquire 50 60 ok 6 -\n"),
            "");
}

TEST(checker_write, accepted_writes_never_fall) {
  const std::string first = "a L write 10 20 ok 5 -\n";
  EXPECT_EQ(found(first + "a L write 30 40 ok 5 -\nb L write 50 60 ok 6 -\n"), "");
  EXPECT_EQ(found(first + "b L write 30 40 ok 4 -\n"), "stale:1,2");
  EXPECT_EQ(found(first + "b L write 30 40 refused 4 -\n"), "") << "the resource did its work";
  EXPECT_EQ(found(first + "b L write 15 40 ok 4 -\n"), "") << "they ran at the same time";
}

constexpr check_options soon{.wake_bound = 100ns};

TEST(checker_wake_up, a_waiter_is_served_within_the_bound) {
  const std::string holder = "a L acquire 10 20 ok 1 -\na L release 1000 1010 ok 1 -\n";
  EXPECT_EQ(found(holder + "b L acquire 30 1110 ok 2 -\n", soon), "");
  EXPECT_EQ(found(holder + "b L acquire 30 1111 ok 2 -\n", soon), "wake-up:2,3");
  EXPECT_EQ(found(holder + "b L acquire 30 1111 busy 0 -\n", soon), "wake-up:2,3");
  EXPECT_EQ(found(holder + "b L acquire 30 1111 ok 2 -\n"), "") << "no bound, no fault";
}

TEST(checker_wake_up, another_holder_is_no_lost_wake_up) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L release 1000 1010 ok 1 -\n"
                  "c L acquire 40 1050 ok 2 -\n"
                  "c L release 2000 2010 ok 2 -\n"
                  "b L acquire 30 2050 ok 3 -\n",
                  soon),
            "");
}

TEST(checker_wake_up, a_lock_that_nobody_ever_held_is_free) {
  EXPECT_EQ(found("b L acquire 1000 1101 ok 1 -\n", soon), "wake-up:1,1");
  EXPECT_EQ(found("b L acquire 1000 1100 ok 1 -\n", soon), "");
}

TEST(checker_wake_up, a_waiter_that_came_late_has_waited_only_since) {
  const std::string holder = "a L acquire 10 20 ok 1 -\na L release 100 110 ok 1 -\n";
  EXPECT_EQ(found(holder + "b L acquire 900 1000 ok 2 -\n", soon), "");
}

TEST(checker_wake_up, a_dead_holder_keeps_the_lock_for_as_long_as_the_store_does) {
  const std::string text =
      "a L acquire 10 20 ok 1 -\na - kill 30 50 ok 0 -\nb L acquire 40 400 ok 2 -\n";
  EXPECT_EQ(found(text, soon), "wake-up:2,3");
  EXPECT_EQ(found(text, {.wake_bound = 100ns, .lapse = 250ns}), "");
}

TEST(checker_wake_up, a_release_without_an_answer_may_come_late) {
  const std::string text =
      "a L acquire 10 20 ok 1 -\na L release 30 50 unknown 1 -\nb L acquire 40 400 ok 2 -\n";
  EXPECT_EQ(found(text, soon), "wake-up:2,3");
  EXPECT_EQ(found(text, {.wake_bound = 100ns, .lapse = 250ns}), "");
}

TEST(checker_wake_up, an_acquire_without_an_answer_may_be_in_the_way) {
  const std::string text = "a L acquire 10 20 unknown 0 -\nb L acquire 40 400 ok 2 -\n";
  EXPECT_EQ(found(text, soon), "wake-up:1,2");
  EXPECT_EQ(found(text, {.wake_bound = 100ns, .lapse = 300ns}), "");
}

TEST(checker_wake_up, a_holder_without_further_records_may_still_hold) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 100\nb L acquire 40 9000 busy 0 -\n", soon), "");
}

TEST(checker, names_the_two_that_conflict) {
  const auto text =
      to_text(check(parse_history("a L acquire 10 20 ok 1 -\nb L acquire 30 40 ok 2 -\n").records));
  EXPECT_EQ(text, "two hold the lock at a time:\n"
                  "  a L acquire 10 20 ok 1 -\n"
                  "  b L acquire 30 40 ok 2 -\n");
}

TEST(checker, an_empty_history_is_sound) { EXPECT_EQ(found("", soon), ""); }

TEST(checker, a_long_history_is_judged_whole) {
  std::string text;
  std::int64_t at = 0;
  for (int token = 1; token <= 20'000; ++token, at += 10) {
    const auto common = [&](const char* what, std::int64_t time) {
      return "p" + std::to_string(token % 7) + " L " + what + " " + std::to_string(time) + " " +
             std::to_string(time + 1) + " ok " + std::to_string(token) + " -\n";
    };
    text += common("acquire", at) + common("check", at + 3) + common("release", at + 6);
  }
  EXPECT_EQ(found(text, soon), "");
  text += "x L acquire 100000 100004 ok 20001 -\nx L release 100008 100009 ok 20001 -\n";
  const auto faults = check(parse_history(text).records, soon);
  EXPECT_TRUE(std::ranges::any_of(faults, [](const auto& v) { return v.what == fault::overlap; }));
}

}  // namespace
}  // namespace holdfast::history
