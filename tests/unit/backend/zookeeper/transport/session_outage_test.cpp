// A session while no server answers.
#include <algorithm>

#include "tests/unit/backend/zookeeper/transport/session_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace zookeeper;

// Attempts that end during an outage would pile up, and be made when it is over.
TEST(zookeeper_session_outage, what_nobody_wants_any_more_is_not_sent) {
  session_fixture t;
  noted_replies wanted, given_up;
  t.attach();
  t.lose();
  for (noted_replies* r : {&given_up, &wanted, &given_up})
    t.s.submit(*r, opcode::sync, "A", t.now());
  given_up.wanted = false;
  t.lose();
  EXPECT_EQ(given_up.log, (strings{"not sent", "not sent"})) << "no server was reached";
  given_up.wanted = true;
  t.s.submit(given_up, opcode::sync, "B", t.now());
  given_up.wanted = false;
  t.pass(1s);
  t.open();
  (void)t.sent();
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(given_up.log.size(), 3u) << "given up while it was attached";
  const strings sent = t.sent();
  ASSERT_EQ(sent.size(), 2u) << "the write that renews, and what is wanted";
  EXPECT_TRUE(sent.back().ends_with(hex_of("A")));
}

// As when thousands of waiters queue again at once.
TEST(zookeeper_session_outage, a_server_that_answers_one_by_one_is_not_silent) {
  session_fixture t;
  noted_replies a;
  t.attach();
  for (int i = 0; i < 10; ++i) t.s.submit(a, opcode::sync, "A", t.now());
  for (int i = 1; i <= 2; ++i) {
    t.pass(2s);
    t.give(replied(i, 5));
  }
  EXPECT_EQ(a.log.size(), 2u);
  EXPECT_TRUE(t.is_connected()) << "the third was sent 4 s ago, and a reply came just now";
  t.pass(3s);
  EXPECT_EQ(a.log.size(), 10u) << "nothing came for 3 s";
}

// One that does not answer must not use up the time of opening.
TEST(zookeeper_session_outage, a_first_session_tries_each_server_within_the_connect_timeout) {
  session_fixture t(ensemble_of(3));
  t.s.open(t.now());
  for (int tried = 1; tried <= 3; ++tried) {
    EXPECT_EQ(t.places.size(), static_cast<std::size_t>(tried));
    t.open();
    t.pass(1s);
  }
  EXPECT_EQ(std::ranges::count(t.log, "doubtful"), 0) << "there is no session to be doubted";
  session_fixture alone;
  alone.s.open(alone.now());
  alone.open();
  alone.pass(2900ms);
  EXPECT_TRUE(alone.is_connected());
}

TEST(zookeeper_session_outage, an_overdue_reply_is_pinged_after_a_cut_with_a_ping_in_flight) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::sync, "A", t.now());
  (void)t.sent();
  t.pass(200ms);
  EXPECT_EQ(t.sent().size(), 1u) << "the ping";
  t.lose();
  t.open();
  (void)t.sent();
  t.give(connected(timeout_ms, session_id));
  t.s.submit(a, opcode::sync, "B", t.now());
  EXPECT_EQ(t.sent().size(), 2u) << "the write that renews, and the request";
  t.pass(200ms);
  EXPECT_EQ(t.sent().size(), 1u) << "the next ping";
}

TEST(zookeeper_session_outage, a_pause_is_never_made_longer) {
  session_fixture t;
  t.attach();
  t.lose();
  t.lose();
  EXPECT_EQ(t.s.where(), session::state::waiting);
  t.s.retry_now(t.now() + 1h);
  t.pass(100ms);
  EXPECT_TRUE(t.is_connected());
}

// Its alarm would ring all the time.
TEST(zookeeper_session_outage, a_session_that_is_being_closed_has_no_deadline) {
  session_fixture t;
  t.attach();
  t.pass_silently(session_timeout - 1s);
  t.s.close(t.now(), t.events);
  t.pass_silently(1s);
  t.wake = base::never;
  t.s.on_alarm(t.now(), t.events);
  EXPECT_EQ(t.s.where(), session::state::closing);
  EXPECT_GT(t.wake, t.now());
  EXPECT_EQ(std::ranges::count(t.log, "lost"), 0);
  t.give(replied(1, 5));
  EXPECT_EQ(t.log.back(), "ended");
}

// The bytes of a ConnectRequest that name the session.
std::string requested_session(session_fixture& t) {
  while (!t.is_connected()) t.pass(10ms);
  t.open();
  const strings sent = t.sent();
  return sent.empty() ? "" : sent[0].substr(32, 16);
}
const std::string old_session = "0000000000000077", new_session = "0000000000000000";

// Its nodes would block the waiters until the server ends it.
TEST(zookeeper_session_outage, a_session_that_lapsed_is_closed_by_the_first_server_that_answers) {
  session_fixture t;
  t.attach();
  t.lose();
  t.pass(session_timeout);
  for (int refused = 0; refused < 3; ++refused) {
    while (!t.is_connected()) t.pass(10ms);
    t.lose();
  }
  EXPECT_EQ(requested_session(t), old_session);
}

TEST(zookeeper_session_outage, a_server_that_does_not_confirm_the_end_of_a_session_is_given_up) {
  session_fixture t;
  t.attach();
  t.pass_silently(session_timeout);
  t.give(replied(-2, 5));
  EXPECT_EQ(t.s.where(), session::state::retiring);
  t.pass(3s);
  EXPECT_EQ(requested_session(t), new_session) << "the request was sent";
}

TEST(zookeeper_session_outage, a_connection_that_closes_after_it_was_given_up_is_no_failure) {
  session_fixture t;
  t.attach();
  t.lose();
  t.lose();
  EXPECT_EQ(t.s.where(), session::state::waiting);
  t.take_log();
  t.lose();
  EXPECT_EQ(t.take_log(), strings{});
}

TEST(zookeeper_session_outage, a_malformed_reply_to_the_write_that_renews_proves_nothing) {
  session_fixture t;
  t.attach();
  t.pass(1s);
  t.lose();
  t.open();
  t.give(connected(timeout_ms, session_id));
  const time_point before = t.deadline;
  t.give(replied(1, 5, error::ok, "x"));
  EXPECT_EQ(t.s.deadline().deadline(), before);
}

TEST(zookeeper_session_outage, nothing_is_read_after_the_end_of_a_connection) {
  const std::string news = event(event_kind::data, "/x");
  session_fixture out_of_order(ensemble_of(2)), refused;
  for (session_fixture* t : {&out_of_order, &refused}) {
    t->attach();
    t->take_log();
  }
  out_of_order.give(replied(7, 5) + news);
  EXPECT_EQ(out_of_order.take_log(), (strings{"doubtful", "down"}));
  refused.give(replied(xid::auth, 0, error::auth_failed) + news);
  refused.give(news);
  refused.lose();
  EXPECT_EQ(refused.take_log(), strings{"refused"});
  EXPECT_EQ(refused.s.where(), session::state::ended);
}

TEST(zookeeper_session_outage, a_reply_that_was_not_asked_for_ends_the_connection) {
  for (const std::int32_t number : {0, 1, 2}) {
    session_fixture t;
    t.attach();
    t.give(replied(number, 5));
    EXPECT_EQ(t.places.size(), 2u) << number;
    EXPECT_NE(t.s.last_failure().text.find("out of order"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
