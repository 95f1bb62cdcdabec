// A connection at the edges of its states: pauses, bounds, and events that come too early or late.
#include "tests/unit/backend/redis/transport/one_connection.hpp"

namespace holdfast::redis {
namespace {

class idle_listener final : public message_handler {
  void on_subscribed(time_point, event_queue&) override {}
  void on_message(std::string_view, time_point, event_queue&) override {}
};

class redis_connection_bounds : public one_connection {
 protected:
  void close(const std::string& why = "reset") {
    c.on_closed({errc::unavailable, why}, now(), events);
  }
};

TEST_F(redis_connection_bounds, bytes_before_it_is_open_are_dropped) {
  c.open(now());
  hear("+OK\r\n");
  EXPECT_FALSE(c.is_down());
  EXPECT_EQ(log(), "");
}

TEST_F(redis_connection_bounds, a_stream_that_opens_twice_is_greeted_once) {
  c.open(now());
  c.on_open(now(), events);
  c.on_open(now(), events);
  EXPECT_EQ(commands_in(c.out()),
            "CLIENT SETNAME holdfast-commands | CLIENT ID | " + std::string(asks_who_it_is));
}

TEST_F(redis_connection_bounds, one_that_is_open_is_not_opened_again) {
  make_ready();
  c.open(now());
  EXPECT_TRUE(c.is_ready());
  EXPECT_EQ(o.connects, 1);
}

TEST_F(redis_connection_bounds, the_end_of_a_connection_that_is_down_changes_nothing) {
  make_ready();
  close();
  log();
  close();
  c.end({errc::unavailable, "ended"}, now(), events);
  EXPECT_EQ(log(), "");
  EXPECT_EQ(c.last_failure().text, "reset");
}

TEST_F(redis_connection_bounds, a_retry_of_a_connection_that_was_never_opened_opens_none) {
  c.retry_now(now());
  c.on_alarm(now(), events);
  EXPECT_TRUE(c.is_down());
  EXPECT_EQ(o.connects, 0);
}

TEST_F(redis_connection_bounds, a_retry_of_a_connection_that_is_open_sets_no_alarm) {
  make_ready();
  c.retry_now(now());
  EXPECT_EQ(o.wake, base::never);
}

TEST_F(redis_connection_bounds, without_a_reason_or_with_tls_no_hint_at_tls_is_given) {
  c.open(now());
  c.on_open(now(), events);
  close("");
  EXPECT_EQ(o.last.text, "");
  e.tls.emplace();
  until_alarm();
  c.on_open(now(), events);
  close("closed by the peer");
  EXPECT_EQ(o.last.text, "closed by the peer");
}

TEST_F(redis_connection_bounds, a_silence_is_forgotten_with_the_connection) {
  make_ready();
  send(a);
  until_alarm();
  close();
  EXPECT_EQ(log(), "silent a=cut down ");
  o.wake = now();
  until_alarm();
  c.on_open(now(), events);
  hear(greeting(8, "r2"));
  EXPECT_EQ(log(), "ready ");
}

TEST_F(redis_connection_bounds, that_was_rejected_is_opened_again_after_a_pause) {
  make_ready();
  c.reject({errc::unavailable, "another server"}, now(), events);
  EXPECT_EQ(log(), "down ");
  EXPECT_TRUE(c.will_pass());
  const duration pause = until_alarm();
  EXPECT_GE(pause, 37ms);
  EXPECT_LE(pause, 63ms);
  EXPECT_FALSE(c.is_down());
}

TEST_F(redis_connection_bounds, that_was_refused_fails_for_good_and_is_opened_after_a_pause) {
  make_ready();
  c.refuse({errc::refused, "no right"}, now(), events);
  EXPECT_EQ(log(), "refused ");
  EXPECT_FALSE(c.will_pass());
  const duration pause = until_alarm();
  EXPECT_GE(pause, 37ms);
  EXPECT_LE(pause, 63ms);
}

TEST_F(redis_connection_bounds, is_given_up_at_the_connect_timeout_and_not_before) {
  c.open(now());
  o.wake = base::never;
  o.time.freeze(999ms);
  c.on_alarm(now(), events);
  EXPECT_FALSE(c.is_down());
  EXPECT_EQ(o.wake, now() + 1ms);
  until_alarm();
  EXPECT_TRUE(c.is_down());
  EXPECT_TRUE(c.will_pass());
}

TEST_F(redis_connection_bounds, a_later_retry_does_not_make_the_pause_longer) {
  make_ready();
  close();
  until_alarm();
  close();
  c.retry_now(now() + 10s);
  EXPECT_LE(until_alarm(), 63ms);
  EXPECT_FALSE(c.is_down());
}

TEST_F(redis_connection_bounds, attempts_out_of_turn_do_not_make_the_pause_longer) {
  make_ready();
  close();
  until_alarm();
  for (int i = 0; i < 8; ++i) {
    close();
    c.retry_now(now());
    EXPECT_EQ(until_alarm(), 0ms);
    EXPECT_FALSE(c.is_down());
  }
  close();
  EXPECT_LE(until_alarm(), 63ms);
}

TEST_F(redis_connection_bounds, hints_at_plain_text_where_tls_does_not_begin) {
  e.tls.emplace();
  c.open(now());
  EXPECT_EQ(until_alarm(), 1s);
  EXPECT_NE(o.last.text.find("open it as redis:"), std::string::npos) << o.last.text;
  EXPECT_EQ(until_alarm(), 0ms) << "it is opened again at once";
  c.on_open(now(), events);
  EXPECT_EQ(until_alarm(), 1s);
  EXPECT_EQ(o.last.text, "no connection within the connect-timeout");
}

TEST_F(redis_connection_bounds, for_commands_takes_an_array_that_looks_like_a_message_for_a_reply) {
  make_ready();
  send(a);
  hear("*3\r\n" + bulk("message") + bulk("ch") + bulk("look"));
  EXPECT_EQ(log(), "a= ");
}

TEST_F(redis_connection_bounds, of_several_errors_in_a_transaction_the_first_is_the_reason) {
  make_ready();
  send(a, 4);
  hear("+OK\r\n-OOM no memory\r\n-ERR second\r\n-EXECABORT discarded\r\n");
  EXPECT_EQ(log(), "a=EXECABORT discardedOOM no memory ");
}

TEST_F(redis_connection_bounds, what_was_not_written_is_not_sent_over_the_next_connection) {
  make_ready();
  c.out() = "not written";
  close();
  EXPECT_EQ(c.out(), "");
}

TEST_F(redis_connection_bounds, was_ready_only_if_the_last_connection_was) {
  make_ready();
  close();
  EXPECT_TRUE(c.was_ready());
  until_alarm();
  close();
  EXPECT_FALSE(c.was_ready());
}

TEST_F(redis_connection_bounds, for_messages_ends_one_that_was_lost_before_it_was_ready) {
  idle_listener l;
  channels.add("ch", l);
  connection m(o, e, lane::messages, channels);
  const auto open_and_hear = [&](const std::string& id) {
    m.on_open(now(), events);
    const std::string bytes = "+OK\r\n:" + id + "\r\n" + introduction("r1");
    m.on_bytes(std::as_bytes(std::span(bytes)), now(), events);
    return commands_in(std::exchange(m.out(), {}));
  };
  m.open(now());
  EXPECT_NE(open_and_hear("7").find("SUBSCRIBE ch"), std::string::npos);
  EXPECT_FALSE(m.is_ready());
  m.on_closed({errc::unavailable, "reset"}, now(), events);
  m.on_alarm(now(), events);
  EXPECT_NE(open_and_hear("8").find("CLIENT KILL ID 7"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::redis
