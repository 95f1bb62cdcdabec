#include "history/turns.hpp"

#include <gtest/gtest.h>

#include "history/checker.hpp"
#include "tests/unit/history/recording_fixture.hpp"

namespace holdfast::history {
namespace {

using kind = recorded_event::kind;
using ending = recorded_event::ending;

std::vector<fault> faults_of(std::vector<client_recording> clients,
                             std::vector<bool> has_ended = {}) {
  has_ended.resize(clients.size());
  std::vector<fault> out;
  for (const violation& v : check(records_of(find_turns(clients), clients, has_ended)))
    out.push_back(v.what);
  return out;
}

std::vector<recorded_turn> turns_of(recording_in_memory& r) {
  const std::vector<client_recording> one{r.read()};
  return find_turns(one).turns;
}

TEST(recorded_turns, last_from_the_grant_to_the_end) {
  recording_in_memory r;
  r.grant(10, 1024);
  r.end(20, 10, 1024);
  r.grant(30, 2048);
  const auto turns = turns_of(r);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].granted, 10);
  EXPECT_EQ(turns[0].ended, 20);
  EXPECT_FALSE(turns[1].has_ended());
}

TEST(recorded_turns, are_restored_from_their_ends) {
  recording_in_memory r;
  r.end(20, 10, 1024);
  const auto turns = turns_of(r);
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_EQ(turns[0].granted, 10);
}

TEST(recorded_turns, have_the_deadline_that_was_confirmed_last) {
  recording_in_memory r;
  r.grant(10, 1024, 40);
  r.add(kind::confirmed, 20, "x", {.since = 10, .deadline = 50, .token = 1024});
  EXPECT_EQ(turns_of(r).at(0).deadline, 50);
}

TEST(recorded_turns, say_which_were_lost) {
  recording_in_memory r;
  r.grant(10, 1024);
  r.end(20, 10, 1024, ending::ran_out);
  r.grant(30, 2048);
  r.end(40, 30, 2048, ending::closed);
  const auto turns = turns_of(r);
  EXPECT_TRUE(turns.at(0).is_lost());
  EXPECT_FALSE(turns.at(1).is_lost());
}

TEST(recorded_turns, become_shares_by_a_downgrade) {
  recording_in_memory r;
  r.grant(10, 1024);
  r.add(kind::downgraded, 20, "x",
        {.since = 10,
         .deadline = INT64_MAX,
         .token = 1024,
         .details = recorded_event::pack({}, 1, 0, 0)});
  r.end(30, 20, 1024);
  const auto turns = turns_of(r);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].mode, 0u);
  EXPECT_EQ(turns[0].ended, 20);
  EXPECT_EQ(turns[1].mode, 1u);
  EXPECT_EQ(turns[1].ended, 30);
}

TEST(recorded_turns, name_the_callers_that_still_wait) {
  recording_in_memory r;
  r.add(kind::asked, 5);
  r.add(kind::asked, 6);
  r.add(kind::asked, 7);
  r.add(kind::granted, 10, "x", {.since = 5});
  r.add(kind::refused, 11, "x", {.since = 7});
  const std::vector<client_recording> one{r.read()};
  const auto found = find_turns(one);
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].asked, 6);
}

TEST(recorded_turns, of_two_clients_at_the_same_time_are_an_overlap) {
  recording_in_memory a(1), b(2);
  a.grant(10, 1024);
  a.end(30, 10, 1024);
  b.grant(20, 2048);
  b.end(40, 20, 2048);
  EXPECT_EQ(faults_of({a.read(), b.read()}), std::vector{fault::overlap});
}

TEST(recorded_turns, of_two_stores_are_no_overlap) {
  recording_in_memory a(1, "redis://db"), b(2, "redis://other");
  a.grant(10, 1024);
  b.grant(20, 2048);
  EXPECT_TRUE(faults_of({a.read(), b.read()}).empty());
}

TEST(recorded_turns, end_at_their_deadline_at_the_latest) {
  recording_in_memory a(1), b(2);
  a.grant(10, 1024, 19);
  b.grant(20, 2048);
  EXPECT_TRUE(faults_of({a.read(), b.read()}).empty());
}

TEST(recorded_turns, of_a_killed_process_last_to_its_last_event) {
  recording_in_memory a(1), b(2);
  a.grant(10, 1024);
  a.add(kind::asked, 15, "y");
  b.grant(20, 2048);
  EXPECT_EQ(faults_of({a.read(), b.read()}), std::vector{fault::overlap});
  EXPECT_TRUE(faults_of({a.read(), b.read()}, {true, false}).empty());
  a.add(kind::asked, 21, "y");
  EXPECT_EQ(faults_of({a.read(), b.read()}, {true, false}), std::vector{fault::overlap});
}

TEST(recorded_turns, may_have_ended_in_a_hole_of_their_recording) {
  recording_in_memory a(1), b(2);
  a.grant(10, 1024);
  a.end(15, 10, 1024);
  a.add(kind::asked, 50, "y");
  b.grant(20, 2048);
  a.event(1).time ^= 1;  // torn
  EXPECT_TRUE(faults_of({a.read(), b.read()}).empty());
  EXPECT_NE(turns_of(a).at(0).certain_until, no_deadline);
}

TEST(recorded_turns, have_tokens_that_grow) {
  recording_in_memory a(1), b(2);
  a.grant(10, 2048);
  a.end(20, 10, 2048);
  b.grant(30, 1024);
  b.end(40, 30, 1024);
  EXPECT_EQ(faults_of({a.read(), b.read()}), std::vector{fault::token_not_grown});
}

TEST(recorded_turns, of_readers_exclude_writers_only) {
  const auto shared = recorded_event::pack({}, 1, 0, 0);
  recording_in_memory a(1), b(2), c(3);
  a.add(kind::granted, 10, "x", {.deadline = INT64_MAX, .token = 1024, .details = shared});
  b.add(kind::granted, 20, "x", {.deadline = INT64_MAX, .token = 2048, .details = shared});
  EXPECT_TRUE(faults_of({a.read(), b.read()}).empty());
  c.grant(30, 3072);
  EXPECT_FALSE(faults_of({a.read(), b.read(), c.read()}).empty());
}

TEST(recorded_turns, of_a_semaphore_are_as_many_as_its_permits) {
  const auto one = recorded_event::pack({}, 2, 0, 1);
  std::vector<client_recording> clients;
  for (int i = 1; i <= 3; ++i) {
    recording_in_memory r(i);
    r.add(kind::granted, i * 10, "x", {.deadline = INT64_MAX, .token = i * 1024, .details = one},
          2);
    clients.push_back(r.read());
    EXPECT_TRUE(i == 3 || faults_of(clients).empty());
  }
  EXPECT_EQ(faults_of(clients), std::vector{fault::too_many_permits});
}

TEST(recorded_turns, are_lost_in_a_standstill_that_a_late_timer_shows) {
  constexpr std::int64_t second = 1'000'000'000;
  recording_in_memory r;
  r.add(kind::late, 24 * second, "x", {.since = 10 * second});
  const auto client = r.read();
  const auto gap = standstill_before(24 * second, client);
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->to - gap->from, 14 * second);
  EXPECT_FALSE(standstill_before(9 * second, client).has_value());
  EXPECT_FALSE(standstill_before(26 * second, client).has_value());
}

}  // namespace
}  // namespace holdfast::history
