// A session under faults: lost connections, servers that do not answer or should not be believed,
// and its own end.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/backend/zookeeper/transport/session_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace zookeeper;

// The first bytes of a ConnectRequest tell the session that it attaches.
std::int64_t attached_id(const strings& sent) {
  return sent.empty() ? -1 : std::stoll(sent[0].substr(32, 16), nullptr, 16);
}

TEST(zookeeper_session_fault, a_lost_connection_is_followed_by_one_to_the_next_server) {
  session_fixture t(ensemble_of(3));
  noted_replies a, b;
  t.attach();
  t.pass(10ms);
  t.s.submit(a, opcode::create2, "A", t.now());
  (void)t.sent();
  t.take_log();
  t.lose();
  EXPECT_EQ(a.log, strings{"cut"});
  EXPECT_EQ(t.take_log(), (strings{"doubtful", "down"}));
  t.s.submit(b, opcode::sync, "B", t.now());
  ASSERT_EQ(t.places.size(), 2u);
  EXPECT_NE(t.places[0], t.places[1]);
  t.open();
  EXPECT_EQ(attached_id(t.sent()), session_id);
  const auto before = t.deadline;
  t.pass(10ms);
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(t.take_log(), strings{"again"});
  EXPECT_EQ(t.sent().size(), 2u);
  t.give(empty_multi_reply(2, 9));
  EXPECT_GT(t.deadline, before) << "which ends the doubt";
  t.give(replied(3, 9));
  EXPECT_EQ(b.log, strings{"0"});
}

TEST(zookeeper_session_fault, watches_are_set_again_from_the_last_change_seen) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::exists, "", t.now(), "/gone");
  t.s.submit(a, opcode::exists, "", t.now(), "/fired");
  t.s.submit(a, opcode::get_data, "", t.now(), "/kept");
  t.s.submit(a, opcode::get_children2, "", t.now(), "/listed");
  (void)t.sent();
  t.give(replied(1, 7, error::no_node) + replied(2, 8) + replied(3, 9) + replied(4, 9));
  t.take_log();
  t.give(event(event_kind::deleted, "/fired") + event(event_kind::children, "/listed"));
  EXPECT_EQ(t.take_log(), (strings{"watch /fired", "watch /listed"}));
  t.lose();
  t.open();
  t.give(connected(timeout_ms, session_id));
  const auto sent = t.sent();
  ASSERT_EQ(sent.size(), 3u);
  std::string wanted;
  append_set_watches(wanted, 9, {{"/kept"}, {"/gone"}, {}});
  EXPECT_EQ(sent[1], hex_of(wanted).substr(8));
  t.give(event(event_kind::created, "/gone") + replied(xid::set_watches, 10) +
         empty_multi_reply(5, 11));
  EXPECT_EQ(t.take_log(), (strings{"doubtful", "down", "again", "watch /gone"}));
}

TEST(zookeeper_session_fault, an_expired_session_is_lost_and_replaced) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.lose();
  t.s.submit(a, opcode::sync, "A", t.now());
  t.open();
  (void)t.sent();
  t.take_log();
  t.give(expired());
  EXPECT_EQ(t.take_log(), strings{"lost"});
  EXPECT_EQ(a.log, strings{"not sent"}) << "it was meant for the session that is gone";
  t.open();
  EXPECT_EQ(attached_id(t.sent()), 0) << "a new one";
  t.give(connected(timeout_ms, 0x88));
  EXPECT_EQ(t.take_log(), strings{"new"});
  EXPECT_EQ(t.s.id(), 0x88);
  EXPECT_TRUE(t.sent().empty()) << "no watch of the old one is set";
}

TEST(zookeeper_session_fault, watches_of_a_lost_session_are_never_set_again) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::exists, "", t.now(), "/absent");
  t.s.submit(a, opcode::get_data, "", t.now(), "/data");
  t.s.submit(a, opcode::get_children2, "", t.now(), "/children");
  t.give(replied(1, 7, error::no_node) + replied(2, 8) + replied(3, 9));
  t.lose();
  t.open();
  t.give(expired());
  t.open();
  t.give(connected(timeout_ms, 0x88));
  t.lose();
  t.open();
  (void)t.sent();
  t.give(connected(timeout_ms, 0x88));
  for (const std::string& request : t.sent())
    for (const char* const path : {"/absent", "/data", "/children"})
      EXPECT_EQ(request.find(hex_of(path)), request.npos) << path;
}

// A waiter queues again as soon as its session is lost. The session that is being closed would
// never answer.
TEST(zookeeper_session_fault, what_is_submitted_when_a_session_is_lost_is_for_the_next_one) {
  session_fixture t;
  noted_replies again;
  t.attach();
  t.when_lost = [&] { t.s.submit(again, opcode::create, "A", t.now()); };
  t.pass_silently(session_timeout);
  t.give(replied(-2, 5));
  EXPECT_EQ(t.sent(), strings{"00000001fffffff5"});
  t.lose();
  t.open();
  (void)t.sent();
  t.give(connected(timeout_ms, 0x88));
  EXPECT_EQ(t.sent(), strings{"000000020000000141"});
  t.give(replied(2, 6));
  EXPECT_EQ(again.log, strings{"0"});
}

// The process was stopped: the server still answers, and may even execute, for a session whose turn
// to be ended has not come.
TEST(zookeeper_session_fault, a_session_past_its_deadline_is_never_believed_again) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::create2, "A", t.now());
  (void)t.sent();
  t.take_log();
  t.pass_silently(11'880ms);
  std::string created;
  jute_writer(created).write_text("/x");
  t.give(replied(1, 5, error::ok, created + stat_bytes({})));
  EXPECT_EQ(a.log, strings{"cut"}) << "although it succeeded";
  EXPECT_EQ(t.take_log(), strings{"lost"});
  EXPECT_EQ(t.sent(), strings{"00000002fffffff5"}) << "closed there, so that nobody waits for it";
  EXPECT_EQ(t.places.size(), 1u);
  t.give(replied(2, 6));
  t.open();
  EXPECT_EQ(attached_id(t.sent()), 0);
  t.give(connected(timeout_ms, 0x88));
  EXPECT_EQ(t.take_log(), strings{"new"});
}

TEST(zookeeper_session_fault,
     a_session_that_lapsed_out_of_reach_is_closed_before_the_next_is_made) {
  session_fixture t;
  t.attach();
  t.take_log();
  t.lose();
  t.pass(12s);
  const auto log = t.take_log();
  EXPECT_NE(std::find(log.begin(), log.end(), "lost"), log.end());
  EXPECT_EQ(t.deadline < t.now(), true);
  t.open();
  EXPECT_EQ(attached_id(t.sent()), session_id);
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(t.sent().size(), 1u) << "closeSession alone";
  t.lose();  // the server closes
  t.open();
  EXPECT_EQ(attached_id(t.sent()), 0);
}

TEST(zookeeper_session_fault, an_answer_to_connect_that_comes_after_the_deadline_is_too_late) {
  session_fixture t(ensemble_of(1));
  t.terms.connect_timeout = 60s;
  t.s.open(t.now());
  t.open();
  (void)t.sent();
  t.pass_silently(12s);
  t.give(connected(timeout_ms, session_id));
  EXPECT_EQ(t.take_log(), strings{"lost"});
  EXPECT_EQ(t.sent(), strings{"00000001fffffff5"});
}

TEST(zookeeper_session_fault, another_time_out_replaces_the_session) {
  for (const std::int32_t other : {4'000, 20'000}) {
    session_fixture t;
    t.attach();
    t.lose();
    t.open();
    EXPECT_EQ(t.sent()[0].substr(24, 8), "00002ee0") << "it asks for the one of its creation";
    t.take_log();
    t.give(connected(other, session_id));
    EXPECT_EQ(t.take_log(), strings{"lost"}) << other;
    EXPECT_EQ(t.sent(), strings{"00000001fffffff5"});
  }
}

TEST(zookeeper_session_fault, an_answer_for_another_session_is_none) {
  session_fixture t(ensemble_of(2));
  t.attach();
  t.lose();
  t.open();
  t.give(connected(timeout_ms, session_id + 1));
  EXPECT_EQ(t.s.id(), session_id);
  EXPECT_EQ(t.places.size(), 3u) << "the next server is tried";
  EXPECT_EQ(t.s.last_failure().code, errc::unavailable);
  EXPECT_NE(t.s.last_failure().text.find("attached another session"), std::string::npos);
}

// The number of the server that made a session is its highest byte.
TEST(zookeeper_session_fault, an_answer_for_another_session_is_none_when_the_id_is_negative) {
  constexpr std::int64_t negative = std::numeric_limits<std::int64_t>::min() + session_id;
  session_fixture t(ensemble_of(2));
  t.s.open(t.now());
  t.open();
  t.give(connected(timeout_ms, negative));
  t.lose();
  t.open();
  t.give(connected(timeout_ms, negative + 1));
  EXPECT_EQ(t.s.id(), negative);
  EXPECT_EQ(t.places.size(), 3u) << "the next server is tried";
}

TEST(zookeeper_session_fault, doubt_comes_after_a_third_without_a_proof) {
  session_fixture t(ensemble_of(1));
  t.terms.connect_timeout = 60s;
  t.attach();
  t.take_log();
  t.pass(3'999ms);
  EXPECT_TRUE(t.take_log().empty()) << "it has been connecting since a quarter";
  t.pass(2ms);
  EXPECT_EQ(t.take_log(), strings{"doubtful"});
  t.pass(2s);
  EXPECT_TRUE(t.take_log().empty()) << "once";
}

TEST(zookeeper_session_fault, a_second_lost_connection_is_no_second_doubt) {
  session_fixture t(ensemble_of(2));
  t.attach();
  t.take_log();
  for (int cuts = 0; cuts < 2; ++cuts) {
    t.lose();
    t.open();
  }
  const strings log = t.take_log();
  EXPECT_EQ(std::count(log.begin(), log.end(), "doubtful"), 1);
}

TEST(zookeeper_session_fault, a_read_only_server_is_refused) {
  for (const std::string& answer : {connected(timeout_ms, session_id, "0123456789abcdef", true),
                                    replied(0, 0x500000001, error::not_read_write)}) {
    session_fixture t(ensemble_of(2));
    t.s.open(t.now());
    t.open();
    t.give(answer);
    EXPECT_EQ(t.take_log(), strings{"down"});
    EXPECT_NE(t.s.last_failure().text.find("read-only"), std::string::npos);
    EXPECT_EQ(t.places.size(), 2u) << "the next one is tried";
    EXPECT_EQ(t.s.id(), 0);
  }
}

// ZOOKEEPER-4537.
TEST(zookeeper_session_fault, a_reply_that_is_overdue_is_asked_for) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::sync, "A", t.now());
  (void)t.sent();
  t.pass(199ms);
  EXPECT_TRUE(t.sent().empty());
  t.pass(2ms);
  EXPECT_EQ(t.sent(), strings{"fffffffe0000000b"});
  t.pass(500ms);
  EXPECT_TRUE(t.sent().empty()) << "once";
  t.give(replied(1, 5) + replied(xid::ping, 5));
  EXPECT_EQ(a.log, strings{"0"});
  t.s.submit(a, opcode::sync, "A", t.now());
  (void)t.sent();
  t.pass(201ms);
  EXPECT_EQ(t.sent().size(), 1u) << "and the next time again";
}

TEST(zookeeper_session_fault, a_silent_server_is_given_up) {
  session_fixture t(ensemble_of(2));
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::sync, "A", t.now());
  t.take_log();
  t.pass(3s);
  EXPECT_EQ(a.log, strings{"cut"});
  EXPECT_EQ(t.places.size(), 2u);
}

TEST(zookeeper_session_fault,
     a_silent_server_is_given_up_while_another_can_still_renew_the_session) {
  zookeeper::ensemble patient = ensemble_of(2);
  patient.connect_timeout = 30s;
  session_fixture t(patient);
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::sync, "A", t.now());
  t.pass(4s);  // a third of the session's timeout
  EXPECT_EQ(a.log, strings{"cut"});
  EXPECT_EQ(t.places.size(), 2u);
}

TEST(zookeeper_session_fault, a_server_that_does_not_attach_is_given_up_in_time_for_the_others) {
  session_fixture t(ensemble_of(3));
  t.attach();
  t.lose();
  t.open();
  t.pass(2'001ms);  // a sixth of the session's timeout
  EXPECT_EQ(t.places.size(), 3u);
}

TEST(zookeeper_session_fault, pauses_come_after_each_server_was_tried_and_grow) {
  session_fixture t(ensemble_of(2));
  t.s.open(t.now());
  const auto tries_after = [&](duration d) {
    const auto before = t.places.size();
    const time_point until = t.now() + d;
    while (t.now() < until) {
      if (t.is_connected()) t.lose();
      t.pass(1ms);
    }
    return t.places.size() - before;
  };
  const auto early = tries_after(1s);
  (void)tries_after(30s);
  const auto late = tries_after(4s);
  EXPECT_GE(early, 4u);
  EXPECT_GE(late, 1u);
  EXPECT_LE(late, 4u) << "every 2 s or so";
}

TEST(zookeeper_session_fault, without_a_descriptor_it_tries_again) {
  session_fixture t;
  t.has_descriptors = false;
  t.s.open(t.now());
  EXPECT_EQ(t.s.last_failure().text, "no descriptor");
  t.has_descriptors = true;
  t.pass(100ms);
  EXPECT_EQ(t.places.size(), 1u);
}

TEST(zookeeper_session_fault, answers_that_make_no_sense_end_the_connection_and_are_named) {
  const std::string no_event =
      frame_of([](jute_writer& w) { w.write_int(-1).write_long(-1).write_int(0); });
  const std::pair<std::string, const char*> bad[] =
      {{replied(2, 5), "out of order"},
       {replied(xid::ping, 5), "out of order"},
       {std::string("\x7f\xff\xff\xff", 4), "corrupts its replies"},
       {std::string("\0\0\0\2xx", 6), "malformed reply"},
       {no_event, "malformed watch event"},
       {replied(1, 5, error::session_moved), "attached to another server"}};
  for (const auto& [bytes, text] : bad) {
    session_fixture t(ensemble_of(2));
    noted_replies a;
    t.attach();
    t.s.submit(a, opcode::sync, "A", t.now());
    t.give(bytes);
    EXPECT_EQ(a.log, strings{"cut"}) << hex_of(bytes);
    EXPECT_EQ(t.places.size(), 2u) << "the next server is tried";
    EXPECT_EQ(t.s.last_failure().code, errc::unavailable) << text;
    EXPECT_NE(t.s.last_failure().text.find(text), std::string::npos) << t.s.last_failure().text;
  }
}

TEST(zookeeper_session_fault, a_server_that_attaches_nothing_is_named) {
  const std::pair<std::string, const char*> bad[] = {{expired(), "did not create a session"},
                                                     {std::string("\0\0\0\2xx", 6),
                                                      "not a ZooKeeper server; check"},
                                                     {std::string("\x7f\xff\xff\xff", 4),
                                                      "not a ZooKeeper server, or"}};
  for (const auto& [bytes, text] : bad) {
    session_fixture t(ensemble_of(2));
    t.s.open(t.now());
    t.open();
    t.give(bytes);
    EXPECT_EQ(t.take_log(), strings{"down"}) << text;
    EXPECT_EQ(t.places.size(), 2u) << "the next server is tried";
    EXPECT_EQ(t.s.last_failure().code, errc::unavailable) << text;
    EXPECT_NE(t.s.last_failure().text.find(text), std::string::npos) << t.s.last_failure().text;
  }
}

TEST(zookeeper_session_fault, each_kind_of_silence_is_named) {
  const auto expect_named = [](const session_fixture& t, std::string_view text) {
    EXPECT_EQ(t.s.last_failure().code, errc::unavailable) << text;
    EXPECT_NE(t.s.last_failure().text.find(text), std::string::npos) << t.s.last_failure().text;
  };
  session_fixture unreached(ensemble_of(2)), unattached(ensemble_of(2)), unanswered(ensemble_of(2));
  unreached.s.open(unreached.now());
  unreached.pass(1'501ms);
  expect_named(unreached, "no connection within the connect-timeout");
  unattached.s.open(unattached.now());
  unattached.open();
  unattached.pass(1'501ms);
  expect_named(unattached, session::silent_server);
  noted_replies a;
  unanswered.attach();
  unanswered.s.submit(a, opcode::sync, "A", unanswered.now());
  unanswered.pass(3s);
  expect_named(unanswered, "does not answer");
}

TEST(zookeeper_session_fault, a_lost_session_says_why) {
  const auto lost_by = [](auto lose) {
    session_fixture t;
    t.attach();
    lose(t);
    EXPECT_EQ(t.why_lost.code, errc::timed_out) << t.why_lost.text;
    return t.why_lost.text;
  };
  const auto attach_again = [](session_fixture& t, const std::string& answer) {
    t.lose();
    t.open();
    t.give(answer);
  };
  EXPECT_NE(lost_by([&](session_fixture& t) { attach_again(t, expired()); }).find("had expired"),
            std::string::npos);
  EXPECT_NE(lost_by([&](session_fixture& t) {
              attach_again(t, connected(4'000, session_id));
            }).find("negotiated another timeout"),
            std::string::npos);
  EXPECT_NE(lost_by([](session_fixture& t) {
              t.pass_silently(session_timeout);
              t.give(replied(-2, 5));
            }).find("not confirmed in time"),
            std::string::npos);
}

TEST(zookeeper_session_fault, only_a_write_that_was_executed_renews) {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.pass(10ms);
  t.lose();
  t.open();
  t.give(connected(timeout_ms, session_id));
  const auto before = t.deadline;
  std::string failed;
  jute_writer(failed).write_int(-1).write_bool(false).write_int(-101).write_int(-101);
  jute_writer(failed).write_int(-1).write_bool(true).write_int(-1);
  t.s.submit(a, opcode::sync, "", t.now());
  t.s.submit(a, opcode::remove, "", t.now());
  t.s.submit(a, opcode::set_data, "", t.now());
  t.give(replied(1, 5, error::ok, failed));  // of the renewing write; its header says ok
  t.give(replied(2, 5) + replied(3, 6, error::no_node));
  EXPECT_EQ(t.deadline, before) << "a failed multi, a read, a failed delete";
  t.give(replied(4, 7, error::ok, stat_bytes({})));
  EXPECT_GT(t.deadline, before);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
