// Two transports, each to a server of its own, on one reactor: one mutex, one loop, one alarm.
#include "backend/redis/transport/transport.hpp"

#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

class redis_transport : public two_transports {
 protected:
  std::unique_ptr<subscription> subscribe(std::string_view channel, message_handler& to,
                                          channel_kind kind = channel_kind::plain) {
    const std::lock_guard guard(reactor.mutex());
    return one.subscribe(channel, to, net.now(), kind);
  }
  void unsubscribe(std::unique_ptr<subscription>& channel) {
    const std::lock_guard guard(reactor.mutex());
    channel.reset();
  }
  // A client has requested the sharded channel {x} of a server that reports version 7.0.
  std::unique_ptr<subscription> request_sharded_channel() {
    open(one, lane::messages);
    greet(0);
    greet_as_redis_7(1);
    auto channel = subscribe("{x}", left, channel_kind::sharded);
    EXPECT_EQ(net.received(1), "SSUBSCRIBE {x}");
    return channel;
  }
  // The server refuses SSUBSCRIBE with this error. Expects a plain subscription.
  void expect_plain_channel_after(const std::string& error) {
    auto channel = request_sharded_channel();
    net.reply(1, error);
    EXPECT_EQ(net.received(1), "SUBSCRIBE {x}");
    net.reply(1, "*3\r\n" + bulk("subscribe") + bulk("{x}") + ":1\r\n");
    EXPECT_EQ(left.heard, "+ ");
    unsubscribe(channel);
  }
  // The client has left the sharded channel {x}, and subscribes to {y}.
  void leave_sharded_channel() {
    auto channel = request_sharded_channel();
    net.reply(1, subscribed_to("{x}"));
    unsubscribe(channel);
    net.time.advance(1s);
    next_channel = subscribe("{y}", next, channel_kind::sharded);
    EXPECT_EQ(net.received(1), "SUNSUBSCRIBE {x} | PING | SSUBSCRIBE {y}");
  }
  // The server sends these values in reply to SUNSUBSCRIBE and PING. Expects that the reply to the
  // next request is recognized.
  void expect_end_of_sharded_channel(const std::string& values) {
    leave_sharded_channel();
    net.reply(1, values);
    net.reply(1, subscribed_to("{y}"));
    EXPECT_TRUE(is_ready(lane::messages));
    EXPECT_EQ(left.heard, "+ ");
    EXPECT_EQ(next.heard, "+ ");
    unsubscribe(next_channel);
  }
  static std::string subscribed_to(const std::string& channel) {
    return "*3\r\n" + bulk("ssubscribe") + bulk(channel) + ":1\r\n";
  }
  early_or_late left, next;
  std::unique_ptr<subscription> next_channel;
  const std::string pong = "*2\r\n" + bulk("pong") + bulk("");
  const std::string ended = "*3\r\n" + bulk("sunsubscribe") + bulk("{x}") + ":0\r\n";
};

TEST_F(redis_transport, opens_each_server_by_itself) {
  open(one);
  open(two);
  ASSERT_EQ(net.lines.size(), 2u);
  EXPECT_EQ(net.lines[0]->host, "first");
  EXPECT_EQ(net.lines[1]->host, "second");
  greet(1);
  EXPECT_FALSE(one.is_ready(lane::commands));
  EXPECT_TRUE(two.is_ready(lane::commands));
  EXPECT_EQ(a.log, "");
  EXPECT_EQ(b.log, "ready0 ");
}

TEST_F(redis_transport, a_flush_writes_what_either_has_to_send) {
  have_both();
  a.to_send = 2;
  b.to_send = 1;
  reactor.flush();
  EXPECT_EQ(net.received(0), "GET 1 | GET 2");
  EXPECT_EQ(net.received(1), "GET 1");
}

TEST_F(redis_transport, a_reply_goes_to_the_source_of_its_transport) {
  have_both();
  a.to_send = b.to_send = 1;
  reactor.flush();
  net.reply(1, "+for-b\r\n");
  EXPECT_EQ(a.take_log(), "");
  EXPECT_EQ(b.take_log(), "=for-b ");
  net.reply(0, "+for-a\r\n");
  EXPECT_EQ(a.take_log(), "=for-a ");
}

TEST_F(redis_transport, the_others_connect_to_the_address_that_the_commands_have_reached) {
  open(one);
  net.lines[0]->reached = "10.0.0.7";
  greet(0);
  open(one, lane::messages);
  ASSERT_EQ(net.lines.size(), 2u);
  EXPECT_EQ(net.lines[1]->host, "10.0.0.7");
}

TEST_F(redis_transport, a_loss_of_one_server_leaves_the_other_alone) {
  have_both();
  a.to_send = b.to_send = 1;
  reactor.flush();
  net.close(0);
  EXPECT_EQ(a.take_log(), "cut down ");
  EXPECT_TRUE(one.is_unavailable());
  EXPECT_FALSE(two.is_unavailable());
  net.reply(1, "+still\r\n");
  EXPECT_EQ(b.take_log(), "=still ");
}

TEST_F(redis_transport, a_server_that_is_silent_is_given_up_by_itself) {
  have_both();
  a.to_send = 1;
  reactor.flush();
  net.time.advance(2s);  // half of the op-timeout
  EXPECT_EQ(a.take_log(), "silent cut down ");
  EXPECT_TRUE(two.is_ready(lane::commands));
}

TEST_F(redis_transport, when_one_connection_is_lost_the_others_are_asked) {
  open(one);
  greet(0);
  open(one, lane::messages);
  greet(1);
  const int before = net.attended;
  net.close(0);
  EXPECT_GT(net.attended, before);  // nobody may block for the answer
  net.time.advance(0ms);
  EXPECT_EQ(net.received(1), "PING");
  EXPECT_FALSE(one.read_status().connected);
}

TEST_F(redis_transport, one_alarm_serves_both) {
  have_both();
  const time_point now = net.now();
  a.tick_at = now + 30ms;
  b.tick_at = now + 20ms;
  {
    const std::lock_guard guard(reactor.mutex());
    one.tick_by(a.tick_at);
    two.tick_by(b.tick_at);
  }
  net.time.advance(20ms);
  EXPECT_EQ(a.take_log(), "");
  EXPECT_EQ(b.take_log(), "tick ");
  net.time.advance(10ms);
  EXPECT_EQ(a.take_log(), "tick ");
}

TEST_F(redis_transport, scripts_are_known_or_missing_at_each_server_by_itself) {
  have_both();
  a.calls = b.calls = true;
  EXPECT_EQ(net.received(0), "EVALSHA aaaa 0");
  EXPECT_EQ(net.received(1), "EVALSHA aaaa 0");
  net.reply(0, "-NOSCRIPT No matching script\r\n");
  net.reply(1, "+1\r\n");
  EXPECT_EQ(a.take_log(), "unknown ");
  EXPECT_EQ(b.take_log(), "=1 ");
  b.calls = true;
  EXPECT_EQ(net.received(0), "EVAL return 1 0");
  EXPECT_EQ(net.received(1), "EVALSHA aaaa 0");
}

TEST_F(redis_transport, doubts_the_data_of_one_server_only) {
  have_both();
  b.to_send = 1;
  reactor.flush();
  net.reply(1, "-READONLY replica\r\n");
  EXPECT_EQ(b.take_log(), "doubt =READONLY replica down ");
  EXPECT_EQ(a.take_log(), "");
}

TEST_F(redis_transport, a_reply_that_nobody_blocks_for_has_the_loop_driven) {
  open(one);
  greet(0);
  const int before = net.attended;
  {
    const std::lock_guard guard(reactor.mutex());
    EXPECT_TRUE(one.submit(a, net.now(), [](request_writer& w) { w.plain("PING"); }));
  }
  net.time.advance(1s);  // an alarm: the silence is noticed
  EXPECT_GT(net.attended, before);
}

TEST_F(redis_transport, nothing_is_submitted_without_a_connection_which_is_opened) {
  const std::lock_guard guard(reactor.mutex());
  EXPECT_FALSE(one.submit(a, net.now(), [](request_writer&) { FAIL(); }));
  EXPECT_EQ(net.lines.size(), 1u);
}

TEST_F(redis_transport, that_is_not_open_in_time_reports_why_the_attempt_before_has_failed) {
  open(one);
  const auto why = [&](bool is_overdue) {
    const std::lock_guard guard(reactor.mutex());
    return one.why_not_open(is_overdue).text;
  };
  EXPECT_EQ(why(true), "no connection within the op-timeout");
  net.open(0);
  net.close(0, {errc::unavailable, "no answer yet"});
  net.time.advance(500ms);
  ASSERT_EQ(net.lines.size(), 2u) << "it is tried again";
  EXPECT_EQ(why(false), "");
  EXPECT_NE(why(true).find("no answer yet"), std::string::npos) << why(true);
}

TEST_F(redis_transport, subscribes_in_the_handshake_and_later) {
  early_or_late early, late;
  auto first_channel = subscribe("early", early);
  EXPECT_TRUE(net.lines.empty());
  open(one, lane::messages);
  greet(0);
  EXPECT_EQ(a.take_log(), "ready0 ");
  greet(1);
  EXPECT_EQ(net.received(1), "SUBSCRIBE early");
  EXPECT_EQ(a.log, "");
  net.reply(1, "*3\r\n$9\r\nsubscribe\r\n$5\r\nearly\r\n:1\r\n");
  EXPECT_EQ(a.take_log(), "ready1 ");
  EXPECT_EQ(early.heard, "+ ");
  auto second_channel = subscribe("late", late);
  EXPECT_TRUE(first_channel->is_active());
  EXPECT_FALSE(second_channel->is_active());
  EXPECT_EQ(net.received(1), "SUBSCRIBE late");
  net.reply(1, "*3\r\n$9\r\nsubscribe\r\n$4\r\nlate\r\n:2\r\n");
  net.reply(1, "*3\r\n$7\r\nmessage\r\n$4\r\nlate\r\n$1\r\nx\r\n");
  EXPECT_EQ(late.heard, "+ x ");
  EXPECT_EQ(early.heard, "+ ");
  unsubscribe(second_channel);
  net.time.advance(1s);
  EXPECT_EQ(net.received(1), "UNSUBSCRIBE late");
  unsubscribe(first_channel);
}

TEST_F(redis_transport, subscribes_to_sharded_channels_where_the_server_has_them) {
  early_or_late handler;
  auto channel = subscribe("{x}", handler, channel_kind::sharded);
  open(one, lane::messages);
  greet(0);
  greet_as_redis_7(1);
  const auto confirmed = [](const std::string& verb) {
    return "*3\r\n" + bulk(verb) + bulk("{x}") + ":1\r\n";
  };
  EXPECT_EQ(net.received(1), "SSUBSCRIBE {x}");
  net.reply(1, confirmed("ssubscribe") + "*3\r\n" + bulk("smessage") + bulk("{x}") + bulk("m"));
  EXPECT_EQ(handler.heard, "+ m ");
  net.reply(1, confirmed("sunsubscribe"));  // unasked: the slot has left the server
  EXPECT_EQ(handler.heard, "+ m - ");
  net.time.advance(1s);
  EXPECT_NE(net.received(1).find("SSUBSCRIBE {x}"), std::string::npos);
  net.reply(1, confirmed("ssubscribe"));
  EXPECT_EQ(handler.heard, "+ m - + ");
  unsubscribe(channel);
  net.time.advance(1s);
  EXPECT_NE(net.received(1).find("SUNSUBSCRIBE {x}"), std::string::npos);
  net.reply(1, confirmed("sunsubscribe") + "+PONG\r\n");
  EXPECT_TRUE(is_ready(lane::messages));
  EXPECT_EQ(handler.heard, "+ m - + ");
}

TEST_F(redis_transport, ends_the_subscription_to_a_sharded_channel) {
  expect_end_of_sharded_channel(ended + pong);
}

TEST_F(redis_transport, ends_the_subscription_to_a_sharded_channel_that_has_moved) {
  expect_end_of_sharded_channel("-MOVED 1 127.0.0.1:7001\r\n" + pong);
}

TEST_F(redis_transport, takes_an_unasked_end_of_a_sharded_channel_before_the_reply_for_no_reply) {
  expect_end_of_sharded_channel(ended + ended + pong);
}

TEST_F(redis_transport, takes_an_unasked_end_of_a_sharded_channel_before_an_error_for_no_reply) {
  expect_end_of_sharded_channel(ended + "-MOVED 1 127.0.0.1:7001\r\n" + pong);
}

TEST_F(redis_transport, takes_an_unasked_end_of_a_sharded_channel_without_a_master_for_no_reply) {
  expect_end_of_sharded_channel(ended + "-CLUSTERDOWN Hash slot not served\r\n" + pong);
}

TEST_F(redis_transport, takes_an_unasked_end_of_a_sharded_channel_before_a_denial_for_no_reply) {
  expect_end_of_sharded_channel(
      ended + "-NOPERM this user has no permissions to run the 'sunsubscribe' command\r\n" + pong);
}

TEST_F(redis_transport, ends_the_subscription_to_a_sharded_channel_without_the_right_to_ping) {
  expect_end_of_sharded_channel(
      ended + "-NOPERM this user has no permissions to run the 'ping' command\r\n");
}

TEST_F(redis_transport, ends_the_subscription_to_a_sharded_channel_where_the_server_has_no_ping) {
  expect_end_of_sharded_channel(ended +
                                "-ERR unknown command 'PING', with args beginning with: \r\n");
}

TEST_F(redis_transport, ends_the_subscription_to_a_sharded_channel_while_the_server_loads_data) {
  expect_end_of_sharded_channel(ended + "-LOADING Redis is loading the dataset in memory\r\n");
}

TEST_F(redis_transport, takes_an_error_that_only_ping_can_have_for_the_reply_to_it) {
  expect_end_of_sharded_channel(ended + "-MISCONF Errors writing to the AOF file\r\n");
}

TEST_F(redis_transport, takes_a_text_for_the_reply_to_ping) {
  expect_end_of_sharded_channel("+PONG\r\n");
}

TEST_F(redis_transport, takes_two_errors_for_the_replies_to_both_requests) {
  const std::string busy = "-BUSY Redis is busy running a script\r\n";
  expect_end_of_sharded_channel(busy + busy);
}

TEST_F(redis_transport, gives_up_a_connection_with_an_error_that_either_request_may_have) {
  leave_sharded_channel();
  net.reply(1, ended + "-BUSY Redis is busy running a script\r\n");
  EXPECT_FALSE(is_ready(lane::messages));
  EXPECT_EQ(next.heard, "");
  unsubscribe(next_channel);
}

TEST_F(redis_transport, subscribes_to_plain_channels_without_the_right_to_sharded_ones) {
  expect_plain_channel_after(
      "-NOPERM this user has no permissions to run the 'ssubscribe' command\r\n");
}

TEST_F(redis_transport, subscribes_to_plain_channels_where_the_server_has_no_ssubscribe) {
  expect_plain_channel_after(
      "-ERR unknown command 'SSUBSCRIBE', with args beginning with: '{x}' \r\n");
}

TEST_F(redis_transport, subscribes_to_sharded_channels_of_an_older_server_as_to_others) {
  early_or_late handler;
  open(one, lane::messages);
  greet(0);
  greet(1);
  auto channel = subscribe("{x}", handler, channel_kind::sharded);
  EXPECT_EQ(net.received(1), "SUBSCRIBE {x}");
  unsubscribe(channel);
}

TEST_F(redis_transport, asks_for_the_clock_unless_a_sample_is_fresh_or_on_its_way) {
  have_both();
  {
    const std::lock_guard guard(reactor.mutex());
    one.want_sample(1s, net.now());
    one.want_sample(1s, net.now());
  }
  EXPECT_EQ(net.received(0), "TIME");
  net.reply(0, "*2\r\n$10\r\n1700000000\r\n$1\r\n5\r\n");
  EXPECT_EQ(one.clock().last_seen(), server_time(1'700'000'000'000'005));
  const std::lock_guard guard(reactor.mutex());
  one.want_sample(1s, net.now());
  EXPECT_EQ(two.clock().last_seen(), std::nullopt);
  net.time.freeze(2s);
  one.want_sample(1s, net.now());
}

}  // namespace
}  // namespace holdfast::redis
