#include "claim/claim_list.hpp"

#include <gtest/gtest.h>

namespace holdfast::claims {
namespace {

using namespace std::chrono_literals;

struct plain_claim final : listed_claim {
  struct recipe_seen {
    bool waits = false;
    time_point since{};
    bool is_waiter() const noexcept { return waits; }
    time_point waits_since() const noexcept { return since; }
  };
  explicit plain_claim(std::string lock) : name(std::move(lock)) {}
  std::string_view group() const noexcept { return name; }
  const recipe_seen& recipe() const noexcept { return seen; }
  bool is_dispatching() const noexcept { return dispatches; }
  void on_wake(time_point, event_queue&) { ++wakes; }
  void give_up(errc code, std::string text, time_point, event_queue&) {
    seen.waits = false;
    why = code;
    reason = std::move(text);
  }

  const std::string name;
  recipe_seen seen;
  bool dispatches = false;
  int wakes = 0;
  errc why{};
  std::string reason;
};

class claim_list_test : public testing::Test {
 protected:
  claim_list_test() {
    for (plain_claim* c : {&a, &b, &other}) all.add(*c);
  }
  void wait_since(plain_claim& c, time_point since) { c.seen = {true, since}; }
  auto end_waits(time_point out_since) {
    return all.end_waits(
        out_since, [] { return std::string("an outage"); }, now, events);
  }

  timing rules{.op_timeout = 8s, .outage_timeout = 60s};
  time_point now{1000s};
  event_queue events;
  plain_claim a{"lock"}, b{"lock"}, other{"another"};
  claim_list<plain_claim, std::string_view> all{rules};
};

TEST_F(claim_list_test, wakes_those_that_are_due_and_tells_when_the_next_one_is) {
  all.wake_at(a, now);
  all.wake_at(b, now + 5s);
  all.wake_at(other, now);
  all.wake_at(other, base::never);
  EXPECT_EQ(all.wake_due(now, events), now + 5s);
  EXPECT_EQ(a.wakes, 1);
  EXPECT_EQ(b.wakes + other.wakes, 0);
  all.remove(b);
  EXPECT_EQ(all.wake_due(now + 1h, events), base::never) << "a claim that has gone is not woken";
  EXPECT_EQ(b.wakes, 0);
}

TEST_F(claim_list_test, finds_a_claim_at_its_place_until_it_has_gone) {
  EXPECT_EQ(all.at(b.place()), &b);
  all.remove(b);
  EXPECT_EQ(all.at(b.place()), nullptr);
}

TEST_F(claim_list_test, an_event_of_a_group_reaches_all_of_it_and_no_other) {
  int calls = 0;
  const auto count = [&](plain_claim& c) { calls += c.name == "lock" ? 1 : 100; };
  all.for_each_in(std::string_view("lock"), count);
  EXPECT_EQ(calls, 2);
  all.remove(a);
  all.for_each_in(std::string_view("lock"), count);
  EXPECT_EQ(calls, 3);
}

TEST_F(claim_list_test, gives_up_those_that_are_meant) {
  all.give_up([&](const plain_claim& c) { return &c == &b; }, errc::refused, "why", now, events);
  EXPECT_EQ(b.why, errc::refused);
  EXPECT_EQ(b.reason, "why");
  EXPECT_EQ(a.why, errc{});
  all.give_up_all(errc::closed, "closed", now, events);
  EXPECT_EQ(a.why, errc::closed);
  EXPECT_EQ(other.why, errc::closed);
}

TEST_F(claim_list_test, one_claim_that_dispatches_is_enough) {
  EXPECT_FALSE(all.is_dispatching());
  b.dispatches = true;
  EXPECT_TRUE(all.is_dispatching());
}

TEST_F(claim_list_test, without_an_outage_timeout_a_waiter_waits_for_ever) {
  rules.outage_timeout = duration::max();
  wait_since(a, now - 24h);
  EXPECT_EQ(all.first_end_of_wait(now), base::never);
  EXPECT_EQ(end_waits(now - 24h).due, base::never);
  EXPECT_EQ(a.why, errc{});
}

TEST_F(claim_list_test, a_wait_ends_by_the_outage_and_by_its_own_beginning) {
  const time_point out_since = now;
  wait_since(a, now - 30s);
  wait_since(b, now + 30s);
  now = out_since + 60s;
  EXPECT_EQ(end_waits(out_since).due, out_since + 90s - 1s);
  EXPECT_EQ(a.why, errc::unavailable) << "the time before the outage does not count";
  EXPECT_EQ(a.reason, "an outage");
  EXPECT_EQ(b.why, errc{}) << "it has not waited for so long";
  EXPECT_EQ(other.why, errc{}) << "it does not wait";
  now = out_since + 90s;
  EXPECT_EQ(end_waits(out_since).due, base::never);
  EXPECT_EQ(b.why, errc::unavailable);
}

TEST_F(claim_list_test, a_last_attempt_is_made_once_before_each_end) {
  const time_point out_since = now, last = all.first_end_of_wait(now);
  EXPECT_EQ(last, out_since + 60s - 1s);
  wait_since(a, now);
  EXPECT_FALSE(end_waits(out_since).retry_now);
  now = last;
  EXPECT_TRUE(end_waits(out_since).retry_now);
  const auto again = end_waits(out_since);
  EXPECT_FALSE(again.retry_now);
  EXPECT_EQ(again.due, out_since + 60s);
}

TEST_F(claim_list_test, an_outage_timeout_below_the_op_timeout_leaves_an_eighth_of_itself) {
  rules.outage_timeout = 4s;
  EXPECT_EQ(all.first_end_of_wait(now), now + 4s - 500ms);
}

TEST_F(claim_list_test, the_next_end_is_that_of_the_waiter_that_ends_first) {
  const time_point out_since = now;
  wait_since(a, now + 20s);
  wait_since(b, now);
  wait_since(other, now + 10s);
  EXPECT_EQ(end_waits(out_since).due, out_since + 59s);
  now = out_since + 60s;
  EXPECT_EQ(end_waits(out_since).due, out_since + 69s);
  EXPECT_EQ(b.why, errc::unavailable);
}

TEST_F(claim_list_test, each_waiter_has_a_last_attempt_of_its_own) {
  const time_point out_since = now;
  wait_since(a, now);
  wait_since(b, now + 30s);
  now = out_since + 59s;
  EXPECT_TRUE(end_waits(out_since).retry_now);
  now = out_since + 60s;
  EXPECT_FALSE(end_waits(out_since).retry_now);
  now = out_since + 89s;
  EXPECT_TRUE(end_waits(out_since).retry_now);
}

TEST_F(claim_list_test, the_waits_of_one_server_end_without_those_of_another) {
  const time_point out_since = now;
  wait_since(a, now);
  wait_since(other, now);
  time_point hurried_at{};
  const auto of_one = [&] {
    return all.end_waits([&](const plain_claim& c) { return c.name == "lock"; }, out_since,
                         hurried_at, [] { return std::string("of one"); }, now, events);
  };
  now = out_since + 59s;
  EXPECT_TRUE(of_one().retry_now);
  EXPECT_EQ(hurried_at, now);
  EXPECT_FALSE(of_one().retry_now);
  EXPECT_TRUE(end_waits(out_since).retry_now) << "the other server was not tried yet";
  now = out_since + 60s;
  of_one();
  EXPECT_EQ(a.reason, "of one");
  EXPECT_EQ(other.why, errc{});
}

TEST_F(claim_list_test, while_the_server_answers_no_wait_ends) {
  wait_since(a, now - 24h);
  EXPECT_EQ(end_waits(base::never).due, base::never);
  EXPECT_EQ(a.why, errc{});
}

}  // namespace
}  // namespace holdfast::claims
