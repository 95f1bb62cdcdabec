#include "backend/redis/transport/connection.hpp"

#include "tests/unit/backend/redis/transport/one_connection.hpp"

namespace holdfast::redis {
namespace {

class redis_connection : public one_connection {};

TEST_F(redis_connection, is_ready_once_it_is_open_and_greeted) {
  EXPECT_TRUE(c.is_down());
  c.open(now());
  EXPECT_FALSE(c.may_write());
  EXPECT_TRUE(c.has_unattended_replies());
  c.on_open(now(), events);
  EXPECT_TRUE(c.may_write());
  EXPECT_FALSE(c.is_ready());
  EXPECT_EQ(commands_in(c.out()),
            "CLIENT SETNAME holdfast-commands | CLIENT ID | " + std::string(asks_who_it_is));
  hear(greeting(7, "r1"));
  EXPECT_TRUE(c.is_ready());
  EXPECT_FALSE(c.has_unattended_replies());
  EXPECT_EQ(log(), "ready ");
}

TEST_F(redis_connection, to_a_server_that_will_not_do_ends_and_is_tried_again) {
  o.is_accepting = false;
  c.open(now());
  c.on_open(now(), events);
  hear(greeting(7));
  EXPECT_TRUE(c.is_down());
  EXPECT_TRUE(c.will_pass());
  EXPECT_EQ(log(), "down ");
  EXPECT_EQ(o.last.text, "another server");
  o.is_accepting = true;
  until_alarm();
  c.on_open(now(), events);
  hear(greeting(8));
  EXPECT_TRUE(c.is_ready());
}

TEST_F(redis_connection, a_reply_is_doubted_when_it_was_awaited_before) {
  make_ready();
  send(a);
  send(b);
  c.doubt_replies();
  send(a);
  hear("+one\r\n+two\r\n+three\r\n");
  EXPECT_EQ(log(), "a=one? b=two? a=three ");
}

TEST_F(redis_connection, awaits_nothing_unattended_once_it_has_ended) {
  make_ready();
  c.expect(a, 1, now(), attended::in_background);
  EXPECT_TRUE(c.has_unattended_replies());
  c.end({errc::unavailable, "ended"}, now(), events);
  until_alarm();
  c.on_open(now(), events);
  hear(greeting(8) + ":1\r\n");
  EXPECT_TRUE(c.is_ready());
  EXPECT_FALSE(c.has_unattended_replies());
}

TEST_F(redis_connection, a_new_connection_has_no_doubted_replies) {
  make_ready();
  send(a);
  c.doubt_replies();
  c.end({errc::unavailable, "ended"}, now(), events);
  EXPECT_EQ(log(), "a=cut down ");
  until_alarm();
  c.on_open(now(), events);
  hear(greeting(8) + ":1\r\n");
  send(b);
  hear("+two\r\n");
  EXPECT_EQ(log(), "ready b=two ");
}

TEST_F(redis_connection, tells_that_the_server_has_become_a_replica) {
  make_ready();
  send(a);
  hear("-READONLY You can't write against a read only replica.\r\n");
  EXPECT_EQ(log(), "doubt a=READONLY You can't write against a read only replica. demoted ");
  b.looks_only = true;
  send(b);
  hear("-READONLY You can't write against a read only replica.\r\n");
  EXPECT_EQ(log(), "doubt b=READONLY You can't write against a read only replica. ");
}

TEST_F(redis_connection, gives_replies_in_the_order_of_the_requests) {
  make_ready();
  send(a);
  send(b);
  hear(":1\r\n+two\r\n");
  EXPECT_EQ(log(), "a=1 b=two ");
}

TEST_F(redis_connection, of_several_replies_only_the_last_counts) {
  make_ready();
  send(a, 3);
  send(b);
  hear("+OK\r\n+QUEUED\r\n:3\r\n:4\r\n");
  EXPECT_EQ(log(), "a=3 b=4 ");
}

TEST_F(redis_connection, reports_why_a_transaction_was_refused) {
  make_ready();
  send(a, 3);
  send(b);
  hear("+OK\r\n-OOM no memory\r\n-EXECABORT discarded\r\n:4\r\n");
  EXPECT_EQ(log(), "a=EXECABORT discardedOOM no memory b=4 ");
}

TEST_F(redis_connection, a_reason_is_forgotten_with_the_connection_that_gave_it) {
  make_ready();
  send(a, 3);
  hear("+OK\r\n-OOM no memory\r\n");
  c.on_closed({errc::unavailable, "cut"}, now(), events);
  until_alarm();
  c.on_open(now(), events);
  hear(greeting(8, "r2"));
  log();
  send(b);
  hear(":1\r\n");
  EXPECT_EQ(log(), "b=1 ");
}

TEST_F(redis_connection, a_script_that_the_server_does_not_know_was_not_executed) {
  make_ready();
  c.expect(a, 1, now(), attended::by_callers, 3);
  hear("-NOSCRIPT No matching script\r\n");
  EXPECT_EQ(log(), "script 3 a=unknown ");
}

TEST_F(redis_connection, reports_why_a_request_was_not_executed) {
  make_ready();
  send(a);
  hear("-MOVED 3999 10.0.0.2:6379\r\n");
  send(a);
  hear("-ASK 3999 10.0.0.2:6379\r\n");
  send(a);
  hear("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  EXPECT_EQ(log(), "a=moved a=ask a=again ");
  send(a, 2);
  hear("-MOVED 3999 10.0.0.2:6379\r\n-EXECABORT Transaction discarded\r\n");
  EXPECT_EQ(log(), "a=moved ");
}

TEST_F(redis_connection, counts_a_request_as_executed_whose_script_met_an_error) {
  make_ready();
  send(a);
  hear("-ERR Error running script (call to f_1): @user_script: 1: -MOVED 3999 10.0.0.2:6379\r\n");
  EXPECT_TRUE(log().starts_with("a=ERR "));
  send(a, 2);
  hear("-ERR unknown command\r\n-EXECABORT Transaction discarded\r\n");
  EXPECT_TRUE(log().starts_with("a=EXECABORT "));
}

TEST_F(redis_connection, doubts_the_data_before_the_reply_that_says_so) {
  make_ready();
  send(a);
  hear("-READONLY replica\r\n");
  EXPECT_EQ(log(), "doubt a=READONLY replica demoted ");
  send(a, 2);
  hear("-READONLY replica\r\n-EXECABORT discarded\r\n");
  EXPECT_EQ(log(), "doubt a=EXECABORT discardedREADONLY replica demoted ");
}

TEST_F(redis_connection, an_error_before_the_last_reply_counts_for_that_request_only) {
  make_ready();
  send(a, 2);
  send(b);
  hear("-READONLY replica\r\n:3\r\n:4\r\n");
  EXPECT_EQ(log(), "doubt a=3READONLY replica demoted b=4 ");
}

TEST_F(redis_connection, counts_the_replies_that_nobody_blocks_for) {
  make_ready();
  c.expect(a, 1, now(), attended::in_background);
  send(b);
  EXPECT_TRUE(c.has_unattended_replies());
  hear(":1\r\n");
  EXPECT_FALSE(c.has_unattended_replies());
}

TEST_F(redis_connection, that_is_lost_cuts_what_was_not_answered_and_then_is_down) {
  make_ready();
  send(a);
  send(b);
  c.on_closed({errc::unavailable, "reset"}, now(), events);
  EXPECT_EQ(log(), "a=cut b=cut down ");
  EXPECT_EQ(o.last.text, "reset");
  EXPECT_TRUE(c.is_down());
}

TEST_F(redis_connection, that_was_ready_is_opened_again_at_once_and_then_later_each_time) {
  make_ready();
  c.on_closed({errc::unavailable, "reset"}, now(), events);
  EXPECT_EQ(until_alarm(), 0ms);
  EXPECT_EQ(o.connects, 2);
  duration before{};
  for (const duration pause : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
    c.on_closed({errc::unavailable, "nobody listens"}, now(), events);
    o.wake = base::never;
    c.on_alarm(now(), events);
    const duration waited = until_alarm();
    EXPECT_GE(waited, pause * 3 / 4);
    EXPECT_LE(waited, pause * 5 / 4);
    before = waited;
  }
  EXPECT_GE(before, 1500ms);
}

TEST_F(redis_connection, in_a_pause_is_opened_earlier_when_there_is_a_hurry) {
  make_ready();
  for (int i = 0; i < 6; ++i) {
    c.on_closed({errc::unavailable, "reset"}, now(), events);
    o.wake = base::never;
    c.on_alarm(now(), events);
    until_alarm();
  }
  c.on_closed({errc::unavailable, "reset"}, now(), events);
  o.wake = base::never;
  c.retry_now(now() + 10ms);
  EXPECT_EQ(until_alarm(), 10ms);
  EXPECT_FALSE(c.is_down());
}

TEST_F(redis_connection, that_cannot_be_opened_is_not_reached) {
  c.open(now());
  c.on_closed({errc::unavailable, "connection refused"}, now(), events);
  EXPECT_EQ(log(), "unreached ");
}

TEST_F(redis_connection, whose_peer_is_not_trusted_is_refused_for_good) {
  c.open(now());
  c.on_closed({errc::refused, "certificate"}, now(), events);
  EXPECT_EQ(log(), "refused ");
  EXPECT_FALSE(c.will_pass());
}

TEST_F(redis_connection, that_the_server_will_not_have_is_refused) {
  c.open(now());
  c.on_open(now(), events);
  hear("-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(log(), "refused ");
  EXPECT_EQ(c.last_failure().code, errc::refused);
}

TEST_F(redis_connection, to_a_full_server_passes) {
  c.open(now());
  c.on_open(now(), events);
  hear("-ERR max number of clients reached\r\n");
  EXPECT_EQ(log(), "down ");
  EXPECT_TRUE(c.will_pass());
  EXPECT_EQ(c.last_failure().code, errc::unavailable);
}

TEST_F(redis_connection, without_a_descriptor_is_tried_again) {
  o.has_descriptors = false;
  c.open(now());
  EXPECT_TRUE(c.is_down());
  EXPECT_EQ(c.last_failure().text, "no descriptor");
  o.has_descriptors = true;
  until_alarm();
  EXPECT_FALSE(c.is_down());
}

TEST_F(redis_connection, has_its_time_to_be_greeted) {
  c.open(now());
  EXPECT_EQ(until_alarm(), 1s);
  EXPECT_EQ(log(), "down ");
  EXPECT_TRUE(o.last.text.find("connect-timeout") != std::string::npos) << o.last.text;
}

TEST_F(redis_connection, is_silent_after_a_quarter_of_the_op_timeout_and_given_up_after_half) {
  make_ready();
  send(a);
  EXPECT_EQ(until_alarm(), 1s);
  EXPECT_EQ(log(), "silent ");
  EXPECT_EQ(until_alarm(), 1s);
  EXPECT_EQ(log(), "a=cut down ");
}

TEST_F(redis_connection, receives_again_after_a_silence) {
  make_ready();
  send(a);
  send(b);
  until_alarm();
  log();
  hear(":1\r\n");
  EXPECT_EQ(log(), "heard a=1 ");
}

TEST_F(redis_connection, that_is_idle_is_never_silent) {
  make_ready();
  o.time.freeze(1h);
  c.on_alarm(now(), events);
  EXPECT_TRUE(c.is_ready());
}

TEST_F(redis_connection, gives_up_a_server_that_replies_without_a_request) {
  make_ready();
  hear(":1\r\n");
  EXPECT_EQ(log(), "down ");
}

TEST_F(redis_connection, gives_up_a_server_that_does_not_speak_the_protocol) {
  make_ready();
  send(a);
  hear("HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(log(), "a=cut down ");
}

TEST_F(redis_connection, hints_at_tls_where_a_server_closes_before_it_answers) {
  c.open(now());
  c.on_open(now(), events);
  c.on_closed({errc::unavailable, "closed by the peer"}, now(), events);
  EXPECT_TRUE(o.last.text.find("rediss:") != std::string::npos) << o.last.text;
}

TEST_F(redis_connection, for_messages_distinguishes_them_from_replies) {
  connection m(o, e, lane::messages, channels);
  m.open(now());
  m.on_open(now(), events);
  const auto hear_it = [&](std::string_view bytes) {
    m.on_bytes(std::as_bytes(std::span(bytes)), now(), events);
  };
  hear_it(greeting(7, "r1"));
  m.expect(a, 1, now());
  log();
  hear_it("*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$4\r\nlook\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  EXPECT_EQ(log(), "ch:look a= ");
}

TEST_F(redis_connection, for_messages_takes_the_end_of_a_sharded_channel_for_no_reply) {
  connection m(o, e, lane::messages, channels);
  m.open(now());
  m.on_open(now(), events);
  const auto hear_it = [&](const std::string& bytes) {
    m.on_bytes(std::as_bytes(std::span(bytes)), now(), events);
  };
  hear_it(greeting(7, "r1"));
  log();
  const std::string ended = "*3\r\n" + bulk("sunsubscribe") + bulk("ch") + ":0\r\n";
  hear_it(ended);
  EXPECT_EQ(log(), "ch:ended ");
  m.expect(a, 1, now());
  hear_it("*3\r\n" + bulk("smessage") + bulk("ch") + bulk("look") + ended + "+OK\r\n");
  EXPECT_EQ(log(), "ch:look ch:ended a=OK ");
}

}  // namespace
}  // namespace holdfast::redis
