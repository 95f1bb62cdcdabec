#include "backend/redis/layouts/string/grant_rules.hpp"

#include <gtest/gtest.h>

#include "seam/client_options.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using namespace grant_rules;
using verdict = reply::verdict;

constexpr lock_mode exclusive_mode = lock_mode::exclusive, shared = lock_mode::shared,
                    permit = lock_mode::permit;
constexpr time_point rules_start{100s};
constexpr server_time rules_server_start{1'000'000s};

server_clock sampled(duration trip = 2ms) {
  server_clock c;
  c.note(rules_start, rules_server_start, rules_start + trip);
  return c;
}

struct floor_row {
  operation what;
  bool needs_floor[3];  // exclusive, shared, permit
  bool needs_messages;
};

constexpr floor_row floor_rows[] = {
    {operation::try_lock, {true, true, true}, false},
    {operation::lock_all, {true, true, true}, false},
    {operation::lock_or_queue, {false, true, true}, true},
    {operation::peek_kind, {false, false, false}, false},
    {operation::resolve, {false, false, false}, false},
    {operation::downgrade, {false, false, false}, false},
    {operation::check_waiters, {false, false, false}, false},
    {operation::release_uncontended, {false, false, false}, false},
    {operation::release, {false, false, false}, false},
    {operation::withdraw, {false, false, false}, false},
    {operation::renew, {false, false, false}, false},
};

TEST(redis_grant_rules, a_request_that_is_answered_by_a_number_needs_the_floor) {
  constexpr lock_mode modes[] = {exclusive_mode, shared, permit};
  for (const floor_row& row : floor_rows)
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(needs_floor(row.what, modes[i]), row.needs_floor[i])
          << static_cast<int>(row.what) << ' ' << i;
}

TEST(redis_grant_rules, a_request_is_sent_only_when_all_that_it_depends_on_is_there) {
  for (const floor_row& row : floor_rows) {
    for (unsigned bits = 0; bits < 32; ++bits) {
      const readiness r{.commands = (bits & 1) != 0,
                        .messages = (bits & 2) != 0,
                        .lanes_agree = (bits & 16) != 0,
                        .floor = (bits & 4) != 0,
                        .raising = (bits & 8) != 0};
      const bool may_grant =
          row.needs_floor[0] || row.needs_messages || row.what == operation::resolve;
      const bool expected = r.commands && (!row.needs_messages || r.messages) &&
                            (!may_grant || r.lanes_agree) &&
                            (!row.needs_floor[0] || (r.floor && !r.raising));
      EXPECT_EQ(may_send(row.what, exclusive_mode, r), expected)
          << static_cast<int>(row.what) << ' ' << bits;
    }
  }
}

TEST(redis_grant_rules, a_reader_is_not_enqueued_without_a_floor) {
  readiness r{.commands = true,
              .messages = true,
              .lanes_agree = true,
              .floor = false,
              .raising = false};
  EXPECT_TRUE(may_send(operation::lock_or_queue, exclusive_mode, r));
  EXPECT_FALSE(may_send(operation::lock_or_queue, shared, r));
  r.floor = true;
  EXPECT_TRUE(may_send(operation::lock_or_queue, shared, r));
  r.raising = true;
  EXPECT_FALSE(may_send(operation::lock_or_queue, permit, r));
}

TEST(redis_grant_rules, a_push_counts_only_from_the_server_of_the_commands) {
  EXPECT_TRUE(is_of_server("01234567", "01234567"));
  EXPECT_FALSE(is_of_server("01234567", "89abcdef"));
  EXPECT_FALSE(is_of_server("", "89abcdef"));
  EXPECT_FALSE(is_of_server("", ""));
}

TEST(redis_grant_rules, a_window_is_at_least_a_quarter_second_and_eight_round_trips) {
  EXPECT_EQ(window(30s, 0ms), 250ms);
  EXPECT_EQ(window(30s, 31ms), 250ms);
  EXPECT_EQ(window(30s, 100ms), 800ms);
  EXPECT_EQ(window(300ms, 100ms), 300ms);
  EXPECT_EQ(window(100ms, 1ms), 100ms);
}

TEST(redis_grant_rules, a_floor_is_believed_up_to_a_second_ahead_of_the_servers_clock) {
  const server_clock c = sampled();
  EXPECT_TRUE(is_floor_believed(rules_server_start.count(), c));
  EXPECT_TRUE(is_floor_believed((rules_server_start + 1s).count(), c));
  EXPECT_FALSE(is_floor_believed((rules_server_start + 1s).count() + 1, c));
  EXPECT_TRUE(is_floor_believed(number_max, server_clock()));
}

TEST(redis_number_floor, accepts_what_is_above_it_and_above_all_before) {
  number_floor f;
  EXPECT_FALSE(f.is_known());
  EXPECT_FALSE(f.accept(5));
  f.raise(10);
  EXPECT_TRUE(f.is_known());
  EXPECT_FALSE(f.accept(10));
  EXPECT_TRUE(f.accept(11));
  EXPECT_FALSE(f.accept(11));
  EXPECT_TRUE(f.accept(13));
  EXPECT_FALSE(f.accept(12));
  EXPECT_FALSE(f.accept(number_max + 1));
  EXPECT_TRUE(f.accept(number_max));
}

TEST(redis_number_floor, remembers_the_highest_number_when_the_floor_is_lost) {
  number_floor f;
  f.raise(10);
  EXPECT_TRUE(f.accept(20));
  f.forget();
  EXPECT_FALSE(f.is_known());
  EXPECT_FALSE(f.accept(21));
  EXPECT_EQ(f.last(), 20);
  f.raise(15);
  EXPECT_FALSE(f.accept(18));
  EXPECT_TRUE(f.accept(21));
}

TEST(redis_number_floor, compares_a_push_with_the_floor_alone) {
  number_floor f;
  EXPECT_FALSE(f.is_below(1));
  f.raise(10);
  EXPECT_TRUE(f.accept(20));
  EXPECT_FALSE(f.is_below(10));
  EXPECT_TRUE(f.is_below(11));
  EXPECT_TRUE(f.is_below(number_max));
  EXPECT_FALSE(f.is_below(number_max + 1));
}

class redis_believed_number : public testing::Test {
 protected:
  verdict of(std::int64_t number, bool stands = false, time_point now = rules_start) {
    reply r;
    r.what = verdict::granted;
    r.number = number;
    r.stands = stands;
    return believe(r, floor, clock, now).what;
  }
  server_clock clock = sampled();
  number_floor floor;
};

TEST_F(redis_believed_number, is_above_the_floor) {
  EXPECT_EQ(of(5), verdict::bad_number);
  floor.raise(10);
  EXPECT_EQ(of(11), verdict::granted);
}

TEST_F(redis_believed_number, that_proves_nothing_forgets_the_floor) {
  floor.raise(10);
  EXPECT_EQ(of(10), verdict::bad_number);
  EXPECT_FALSE(floor.is_known());
  EXPECT_EQ(of(11), verdict::bad_number);
}

TEST_F(redis_believed_number, of_a_group_that_stood_before_may_be_any_that_can_be_one) {
  EXPECT_EQ(of(3, true), verdict::granted);
  EXPECT_EQ(of(number_max, true), verdict::granted);
  EXPECT_EQ(of(0, true), verdict::bad_number);
  EXPECT_EQ(of(number_max + 1, true), verdict::bad_number);
}

TEST_F(redis_believed_number, is_at_most_a_second_ahead_of_what_the_servers_clock_can_show) {
  floor.raise(10);
  EXPECT_EQ(of((rules_server_start + 1s).count()), verdict::granted);
  EXPECT_EQ(of((rules_server_start + 1s).count() + 1), verdict::bad_number);
  floor.raise(10);
  EXPECT_EQ(of((rules_server_start + 102s).count(), false, rules_start + 100s), verdict::granted);
  EXPECT_EQ(of((rules_server_start + 102s).count() + 1, false, rules_start + 100s),
            verdict::bad_number);
}

TEST_F(redis_believed_number, is_any_above_the_floor_while_the_servers_clock_is_not_known) {
  clock = {};
  floor.raise(10);
  EXPECT_EQ(of(number_max), verdict::granted);
}

TEST_F(redis_believed_number, is_not_checked_in_other_replies) {
  reply r;
  r.what = verdict::busy;
  EXPECT_EQ(believe(r, floor, clock, rules_start).what, verdict::busy);
}

class redis_pushed_grant : public testing::Test {
 protected:
  redis_pushed_grant() { floor.raise(10); }
  time_point deadline(duration age, duration since, std::int64_t number = 11) {
    const server_time at = rules_server_start + std::chrono::duration_cast<server_time>(since);
    return deadline_of({.number = number, .at = at, .window = 300ms}, floor, clock, 0ms,
                       rules_start + age);
  }
  server_clock clock = sampled();
  number_floor floor;
};

TEST_F(redis_pushed_grant, counts_from_its_time_at_the_server_with_drift_taken_off) {
  EXPECT_EQ(deadline(150ms, 100ms), rules_start + 99ms + seam::worth(300ms, 0ms));
}

TEST_F(redis_pushed_grant, needs_a_sample_younger_than_the_window) {
  EXPECT_NE(deadline(299ms, 200ms), base::never);
  EXPECT_EQ(deadline(300ms, 200ms), base::never);
  clock = server_clock();
  EXPECT_EQ(deadline(150ms, 100ms), base::never);
}

TEST_F(redis_pushed_grant, that_lies_before_the_sample_or_later_than_now_proves_nothing) {
  EXPECT_EQ(deadline(150ms, -1ms), base::never);   // the server's clock was set back
  EXPECT_EQ(deadline(150ms, 160ms), base::never);  // or forward
}

TEST_F(redis_pushed_grant, needs_a_number_above_a_known_floor) {
  EXPECT_EQ(deadline(150ms, 100ms, 10), base::never);
  floor.forget();
  EXPECT_EQ(deadline(150ms, 100ms), base::never);
}

TEST_F(redis_pushed_grant, that_is_over_already_proves_nothing) {
  const server_time at = rules_server_start;
  EXPECT_EQ(deadline_of({.number = 11, .at = at, .window = 50ms}, floor, clock, 0ms,
                        rules_start + 49ms),
            base::never);
}

TEST(redis_grant_rules, a_waiter_checks_a_round_trip_after_it_was_due) {
  EXPECT_EQ(look_at(rules_server_start + 100ms, sampled(), rules_start + 1h),
            rules_start + 99ms + 2ms);
  EXPECT_EQ(look_at(rules_server_start - 1s, sampled(), rules_start + 1h), rules_start + 1h + 2ms);
  EXPECT_EQ(look_at(rules_server_start, server_clock(), rules_start), rules_start);
}

TEST(redis_grant_rules, a_clock_jumps_by_more_than_a_tenth_of_the_ttl) {
  EXPECT_FALSE(is_clock_jump(0s, 10s));
  EXPECT_FALSE(is_clock_jump(1s, 10s));
  EXPECT_TRUE(is_clock_jump(1s + 1ns, 10s));
}

TEST(redis_grant_rules, a_push_goes_to_its_claim_and_an_unwanted_grant_is_passed_on) {
  using kind = push::kind;
  for (const kind what : {kind::grant, kind::look, kind::wanted})
    EXPECT_EQ(recipient_of(what, true, true), recipient::claim);
  EXPECT_EQ(recipient_of(kind::grant, true, false), recipient::next_waiter);
  EXPECT_EQ(recipient_of(kind::look, true, false), recipient::nobody);
  EXPECT_EQ(recipient_of(kind::wanted, true, false), recipient::nobody);
  EXPECT_EQ(recipient_of(kind::grant, false, false), recipient::nobody);
}

TEST(redis_grant_rules, a_release_enqueues_the_next_claim_only_where_both_are_exclusive) {
  const succession yes{.release = operation::release,
                       .holder = exclusive_mode,
                       .next = exclusive_mode,
                       .next_waits = true,
                       .is_ready = true};
  EXPECT_TRUE(may_succeed(yes));
  for (const lock_mode m : {shared, permit}) {
    succession s = yes;
    s.holder = m;
    EXPECT_FALSE(may_succeed(s));
    s = yes;
    s.next = m;
    EXPECT_FALSE(may_succeed(s));
  }
  succession s = yes;
  s.release = operation::release_uncontended;
  EXPECT_FALSE(may_succeed(s));
  s = yes;
  s.next_waits = false;
  EXPECT_FALSE(may_succeed(s));
  s = yes;
  s.is_ready = false;
  EXPECT_FALSE(may_succeed(s));
}

}  // namespace
}  // namespace holdfast::redis
