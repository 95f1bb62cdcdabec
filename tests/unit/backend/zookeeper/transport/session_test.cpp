// A session's life without faults: attached, renewed, closed.
#include <algorithm>

#include "tests/unit/backend/zookeeper/transport/session_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace zookeeper;

const std::string renewing_write_tail = "0000000effffffff01ffffffff";

bool is_connect(const std::string& frame, std::int64_t id, std::int64_t zxid = 0) {
  std::string wanted;
  append_connect(wanted, {zxid, timeout_ms, id, id == 0 ? "" : "0123456789abcdef"});
  return frame == hex_of(wanted).substr(2 * frame_head);
}

bool is_renewing_write(const std::string& frame) { return frame.ends_with(renewing_write_tail); }

TEST(zookeeper_session, is_made_and_what_waited_goes_out) {
  session_fixture t;
  noted_replies a, b;
  t.s.open(t.now());
  EXPECT_TRUE(t.s.submit(a, opcode::sync, "A", t.now()));
  t.open();
  const auto connect = t.sent();
  ASSERT_EQ(connect.size(), 1u);
  EXPECT_TRUE(is_connect(connect[0], 0)) << connect[0];
  const time_point asked = t.now();
  t.pass(20ms);
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(t.take_log(), strings{"new"});
  EXPECT_EQ(t.s.id(), session_id);
  EXPECT_EQ(t.deadline, asked + 11'880ms - 2ms);
  EXPECT_TRUE(t.s.submit(b, opcode::sync, "B", t.now()));
  EXPECT_EQ(t.sent(), (strings{"000000010000000941", "000000020000000942"}));
  t.give(replied(1, 5) + replied(2, 6, error::no_node));
  EXPECT_EQ(a.log, strings{"0"});
  EXPECT_EQ(b.log, strings{"-101"});
}

TEST(zookeeper_session, asks_for_its_rights_on_each_connection) {
  auto e = ensemble_of(1);
  e.credentials = "u:p";
  session_fixture t(e);
  noted_replies a;
  t.s.open(t.now());
  t.s.submit(a, opcode::sync, "A", t.now());
  t.open();
  t.give(connected(timeout_ms, session_id));
  const std::string auth =
      "fffffffc0000006400000000000000066469676573740000000" + std::string("3753a70");
  auto sent = t.sent();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1], auth);
  t.give(replied(1, 5) + replied(xid::auth, 0));  // in any order
  EXPECT_EQ(a.log, strings{"0"});
  t.lose();
  t.open();
  t.give(connected(timeout_ms, session_id));
  sent = t.sent();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_TRUE(is_connect(sent[0], session_id, 5));
  EXPECT_EQ(sent[1], auth) << "before everything else";
  EXPECT_TRUE(is_renewing_write(sent[2]));
}

TEST(zookeeper_session, is_refused_where_its_user_is) {
  auto e = ensemble_of(1);
  e.credentials = "u:p";
  session_fixture t(e);
  t.attach();
  t.take_log();
  t.give(replied(xid::auth, 0, error::auth_failed));
  EXPECT_EQ(t.take_log(), strings{"refused"});
  EXPECT_EQ(t.s.where(), session::state::ended);
  noted_replies a;
  EXPECT_FALSE(t.s.submit(a, opcode::sync, "A", t.now()));
}

// Rule A: at any server.
TEST(zookeeper_session, is_renewed_by_a_new_connection_when_all_is_answered) {
  session_fixture t;
  noted_replies a, b;
  t.attach();
  t.pass(2'990ms);
  t.s.submit(a, opcode::sync, "A", t.now());
  (void)t.sent();
  t.pass(20ms);
  EXPECT_EQ(t.s.where(), session::state::draining);
  t.s.submit(b, opcode::sync, "B", t.now());
  EXPECT_TRUE(t.sent().empty()) << "nothing is sent any more";
  const auto before = t.deadline;
  t.give(replied(1, 5));
  EXPECT_EQ(a.log, strings{"0"});
  EXPECT_EQ(t.places, (strings{"session a", "session a"})) << "the same server";
  t.open();
  const time_point asked = t.now();
  EXPECT_TRUE(is_connect(t.sent().at(0), session_id, 5));
  t.give(connected(timeout_ms, session_id));
  const auto sent = t.sent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(is_renewing_write(sent[0]));
  EXPECT_EQ(t.deadline, before) << "attaching alone proves nothing";
  t.pass(10ms);
  t.give(empty_multi_reply(2, 6) + replied(3, 6));
  EXPECT_EQ(b.log, strings{"0"});
  EXPECT_EQ(t.deadline, asked + 11'880ms - 2ms);
  EXPECT_EQ(t.take_log(), (strings{"new", "again"})) << "without a doubt";
}

TEST(zookeeper_session, is_renewed_as_long_as_it_is_answered) {
  session_fixture t;
  t.attach();
  for (int i = 0; i < 50; ++i) {
    t.pass(3s);
    t.open();
    (void)t.sent();
    t.give(connected(timeout_ms, session_id));
    t.give(empty_multi_reply(i + 1, 10 + i));
    EXPECT_GT(t.deadline, t.now() + 11s);
  }
  auto log = t.take_log();
  EXPECT_EQ(std::count(log.begin(), log.end(), "again"), 50);
  EXPECT_EQ(std::count(log.begin(), log.end(), "doubtful"), 0);
}

zookeeper::ensemble at_the_leader(std::size_t servers) {
  auto e = ensemble_of(servers);
  e.attach = attach_to::leader;
  return e;
}

// Rule B: at the leader, or at a server alone.
TEST(zookeeper_session, is_renewed_at_the_leader_by_a_write) {
  session_fixture t(at_the_leader(1));
  t.attach();
  EXPECT_EQ(t.places, (strings{"session a", "mode a"})) << "asked of the same address, afterwards";
  t.open(channel::mode);
  EXPECT_EQ(std::exchange(t.s.out(channel::mode), {}), "srvr");
  t.give("Zookeeper version: 3.8.0\nMode: lea", channel::mode);
  EXPECT_EQ(t.s.mode(), server_mode::unknown);
  EXPECT_TRUE(t.is_connected(channel::mode));
  t.give("der\n", channel::mode);
  EXPECT_EQ(t.s.mode(), server_mode::leader);
  EXPECT_FALSE(t.is_connected(channel::mode)) << "it is of no further use";
  for (int i = 1; i <= 20; ++i) {
    t.pass(3s);
    const auto sent = t.sent();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_TRUE(is_renewing_write(sent[0]));
    t.give(empty_multi_reply(i, 10 + i));
    EXPECT_EQ(t.deadline, t.now() + 11'880ms - 2ms) << "from the write";
  }
  EXPECT_EQ(t.places.size(), 2u);
}

TEST(zookeeper_session, is_renewed_by_a_write_at_a_server_alone) {
  session_fixture t(at_the_leader(1));
  t.attach();
  t.open(channel::mode);
  t.give("\nMode: standalone\n", channel::mode);
  t.pass(3s);
  const auto sent = t.sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(is_renewing_write(sent[0]));
}

TEST(zookeeper_session, is_renewed_by_each_write_of_a_lock) {
  for (const opcode write : {opcode::create, opcode::create2, opcode::create_container,
                             opcode::remove, opcode::set_data}) {
    session_fixture t(at_the_leader(1));
    noted_replies a;
    t.attach();
    t.open(channel::mode);
    t.give("\nMode: leader\n", channel::mode);
    t.pass(1s);
    t.s.submit(a, write, "A", t.now());
    t.give(replied(1, 5));
    EXPECT_EQ(t.deadline, t.now() + 11'880ms - 2ms) << static_cast<int>(write);
  }
}

TEST(zookeeper_session, is_renewed_at_the_same_server_when_that_turns_out_to_lead) {
  session_fixture t(at_the_leader(2));
  noted_replies a;
  t.attach();
  t.pass(2'990ms);
  t.s.submit(a, opcode::sync, "A", t.now());
  t.pass(20ms);
  EXPECT_EQ(t.s.where(), session::state::draining);
  t.open(channel::mode);
  t.give("\nMode: leader\n", channel::mode);
  t.give(replied(1, 5));
  ASSERT_EQ(t.places.size(), 3u);
  EXPECT_EQ(t.places[2], t.places[0]);
}

TEST(zookeeper_session, reads_no_endless_answer_to_the_question_for_the_leader) {
  session_fixture t(at_the_leader(1));
  t.attach();
  t.open(channel::mode);
  t.give(std::string(mode_answer_max, 'x'), channel::mode);
  EXPECT_TRUE(t.is_connected(channel::mode));
  t.give("x", channel::mode);
  EXPECT_FALSE(t.is_connected(channel::mode));
  EXPECT_EQ(t.s.mode(), server_mode::unknown);
}

// Each lock that is held learns of each deadline.
TEST(zookeeper_session, tells_of_no_deadline_that_is_only_a_little_later) {
  session_fixture t(at_the_leader(1));
  noted_replies a;
  t.attach();
  t.open(channel::mode);
  t.give("\nMode: leader\n", channel::mode);
  t.deadlines = 0;
  int number = 0;
  const auto write = [&] {
    t.s.submit(a, opcode::create, "A", t.now());
    ++number;
    t.give(replied(number, 5 + number));
  };
  for (int i = 0; i < 100; ++i) {
    t.pass(1ms);
    write();
  }
  EXPECT_EQ(t.deadlines, 0);
  t.pass(session_timeout / 32);
  write();
  EXPECT_EQ(t.deadlines, 1);
  EXPECT_EQ(t.deadline, t.now() + 11'880ms - 2ms);
}

TEST(zookeeper_session, looks_for_the_leader_as_it_renews_at_a_follower) {
  session_fixture t(at_the_leader(2));
  t.attach();
  t.open(channel::mode);
  t.give("\nMode: follower\n", channel::mode);
  t.pass(3s);
  ASSERT_EQ(t.places.size(), 3u);
  EXPECT_NE(t.places[2], t.places[0]);
  t.open();
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(t.places.size(), 4u) << "the next one is asked too";
  t.open(channel::mode);
  t.give("\nMode: leader\n", channel::mode);
  EXPECT_EQ(t.s.mode(), server_mode::leader) << "whatever the server before was";
}

TEST(zookeeper_session, is_renewed_at_the_same_server_while_that_does_not_name_its_role) {
  session_fixture t(at_the_leader(2));
  t.attach();
  t.pass(3s);
  ASSERT_EQ(t.places.size(), 3u);
  EXPECT_EQ(t.places[2], t.places[0]);
}

TEST(zookeeper_session, is_closed_at_the_server) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::sync, "A", t.now());
  t.s.close(t.now(), t.events);
  EXPECT_FALSE(t.s.submit(a, opcode::sync, "B", t.now()));
  EXPECT_EQ(t.sent().back(), "00000002fffffff5");
  t.give(replied(1, 5));
  t.take_log();
  t.give(replied(2, 6));
  EXPECT_EQ(a.log, strings{"0"}) << "what was sent before is answered";
  EXPECT_EQ(t.take_log(), strings{"ended"});
  EXPECT_FALSE(t.is_connected());
}

TEST(zookeeper_session, is_closed_again_when_that_was_not_confirmed) {
  session_fixture t;
  t.attach();
  t.s.close(t.now(), t.events);
  (void)t.sent();
  t.lose();
  t.open();
  EXPECT_TRUE(is_connect(t.sent().at(0), session_id));
  t.take_log();
  t.give(expired());
  EXPECT_EQ(t.take_log(), (strings{"lost", "ended"})) << "the request had arrived";
}

TEST(zookeeper_session, that_is_just_made_is_closed_too) {
  session_fixture t;
  t.s.open(t.now());
  t.open();
  (void)t.sent();
  t.s.close(t.now(), t.events);
  EXPECT_TRUE(t.take_log().empty()) << "the server may have made it";
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(t.sent(), strings{"00000001fffffff5"});
  t.give(replied(1, 5));
  EXPECT_EQ(t.take_log(), strings{"ended"});
}

TEST(zookeeper_session, whose_connection_is_lost_before_it_was_made_is_closed_at_once) {
  session_fixture t;
  t.s.open(t.now());
  t.open();
  t.s.close(t.now(), t.events);
  t.lose();
  EXPECT_EQ(t.take_log(), (strings{"down", "ended"}));
  EXPECT_EQ(t.places.size(), 1u) << "no other connection is opened";
}

TEST(zookeeper_session, that_never_was_is_closed_at_once) {
  session_fixture t;
  t.s.open(t.now());
  t.s.close(t.now(), t.events);
  EXPECT_EQ(t.take_log(), strings{"ended"});
}

TEST(zookeeper_session, between_two_attempts_is_closed_without_a_pause) {
  session_fixture t;
  t.attach();
  t.lose();
  t.lose();
  EXPECT_EQ(t.s.where(), session::state::waiting);
  t.s.close(t.now(), t.events);
  t.pass(0ms);
  EXPECT_TRUE(t.is_connected());
  t.open();
  EXPECT_TRUE(is_connect(t.sent().at(0), session_id));
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
