// What counts under replicas=: nothing that too few replicas have confirmed.
#include "tests/unit/backend/redis/transport/replicated_transport.hpp"

namespace holdfast::redis {
namespace {

class redis_replica_wait : public replicated_transport {
 protected:
  // Why the client will not open.
  std::string refusal() {
    const std::lock_guard guard(reactor.mutex());
    const base::failure why = one.why_not_open(false);
    EXPECT_EQ(why.code, errc::refused);
    return why.text;
  }
  // By a server where the user may use neither INFO nor HELLO.
  void greet_without_info(std::size_t n) {
    net.open(n);
    net.received(n);
    net.reply(n, greeting_without_info(static_cast<int>(n) + 1));
  }
  // The answer to WAIT shows that the server has become a replica.
  void expect_another_server_after(const std::string& error) {
    have_both();
    get_answer();
    net.reply(1, ":0\r\n-" + error + "\r\n");
    net.time.advance(1s);
    EXPECT_GT(net.lines.size(), 2u);
    EXPECT_EQ(a.take_log().find("=OK"), std::string::npos) << "a replica's answer counts";
    const std::lock_guard guard(reactor.mutex());
    EXPECT_FALSE(one.why_not_open(false).code) << "it may pass";
  }
};

TEST_F(redis_replica_wait, a_server_that_became_a_replica_during_a_question_is_left) {
  expect_another_server_after(
      "UNBLOCKED force unblock from blocking operation, instance state changed (master -> "
      "replica?)");
}

TEST_F(redis_replica_wait, a_server_that_is_a_replica_when_it_is_asked_is_left) {
  expect_another_server_after("ERR WAIT cannot be used with replica instances. Please also note");
}

TEST_F(redis_replica_wait, a_client_is_open_once_the_replicas_can_be_asked) {
  open(lane::commands);
  greet(0);
  EXPECT_FALSE(is_open());
  greet(1);
  EXPECT_EQ(net.received(1), question);
  EXPECT_FALSE(is_open());
  confirm(0);
  EXPECT_TRUE(is_open());
  net.close(1);
  EXPECT_FALSE(is_open());
}

TEST_F(redis_replica_wait, a_reply_counts_once_a_replica_has_confirmed) {
  have_both();
  send();
  net.reply(0, "+OK\r\n");
  EXPECT_EQ(a.take_log(), "");
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
}

TEST_F(redis_replica_wait, a_renewal_counts_once_a_replica_has_confirmed) {
  have_both();
  open(lane::renewals);
  greet(2);
  EXPECT_EQ(a.take_log(), "ready2 ");
  a.renews = true;
  EXPECT_EQ(net.received(2), "GET 2");
  net.reply(2, "+OK\r\n");
  EXPECT_EQ(a.take_log(), "");
  EXPECT_EQ(net.received(1), question);
  confirm(0);
  net.time.advance(100ms);
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
}

TEST_F(redis_replica_wait, a_question_has_the_loop_driven_until_it_is_answered) {
  have_both();
  const base::loop_user& callers = *net.users.front();
  EXPECT_FALSE(callers.has_pending_replies());
  get_answer();
  EXPECT_TRUE(callers.has_pending_replies());
  confirm(1);
  EXPECT_FALSE(callers.has_pending_replies());
}

// Renewals are read by another thread than those that write the question.
TEST_F(redis_replica_wait, a_question_about_a_renewal_is_written_at_the_next_alarm) {
  have_both();
  open(lane::renewals);
  greet(2);
  a.renews = true;
  net.received(2);
  net.reply(2, "+OK\r\n");
  const int before = net.flush_requests;
  net.time.advance(0ms);
  EXPECT_GT(net.flush_requests, before);
  EXPECT_EQ(net.received(1), question);
}

TEST_F(redis_replica_wait, a_reply_after_the_question_waits_for_the_next_one) {
  have_both();
  send();
  net.reply(0, "+first\r\n");
  net.received(1);
  send();
  net.reply(0, "+second\r\n");
  confirm(1);
  EXPECT_EQ(a.take_log(), "=first ");
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=second ");
}

TEST_F(redis_replica_wait, what_a_reply_tells_of_time_goes_on_while_it_is_held_back) {
  have_both();
  get_answer();
  net.time.advance(300ms);
  send();
  net.reply(0, "+OK\r\n");
  net.time.advance(200ms);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
  EXPECT_EQ(a.left_of_a_minute, 1min - 500ms);
  net.time.advance(100ms);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
  EXPECT_EQ(a.left_of_a_minute, 1min - 300ms) << "it came later than the first one";
}

// A waiter looks at its lock later by the time of a round trip.
TEST_F(redis_replica_wait, a_reading_of_the_server_s_clock_takes_no_longer_when_it_is_held_back) {
  have_both();
  net.received(0);
  {
    const std::lock_guard guard(reactor.mutex());
    one.want_sample(1s, net.now());
  }
  EXPECT_EQ(net.received(0), "TIME");
  net.time.advance(10ms);
  net.reply(0, "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n");
  net.time.advance(300ms);
  net.received(1);
  confirm(1);
  const std::lock_guard guard(reactor.mutex());
  EXPECT_EQ(one.clock().round_trip(), 10ms);
}

TEST_F(redis_replica_wait, more_replies_may_wait_than_one_reply_may_have_bytes) {
  have_both();
  constexpr int replies = 30;
  a.to_send = replies;
  reactor.flush();
  const std::string reply = '+' + std::string(reply_reader::bytes_max / 10, 'x') + "\r\n";
  for (int i = 0; i < replies; ++i) net.reply(0, reply);
  EXPECT_EQ(a.take_log(), "");
  net.received(1);
  confirm(1);  // the first one
  confirm(1);
  EXPECT_EQ(a.take_log().size(), replies * reply.size() - replies) << "'=', the text and a space";
}

TEST_F(redis_replica_wait, a_release_counts_at_once) {
  have_both();
  send_release();
  net.reply(0, "+OK\r\n");
  EXPECT_EQ(released.answers, 1);
  EXPECT_EQ(net.received(1), "") << "nothing has to be confirmed";
}

TEST_F(redis_replica_wait, a_release_passes_a_grant_that_is_held_back) {
  have_both();
  get_answer();
  send_release();
  net.reply(0, "+OK\r\n");
  EXPECT_EQ(released.answers, 1);
  send();
  net.reply(0, "+next\r\n");
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
  confirm(1);
  EXPECT_EQ(a.take_log(), "=next ");
  EXPECT_EQ(released.answers, 1) << "it was answered once";
}

TEST_F(redis_replica_wait, a_release_is_answered_while_no_replica_confirms) {
  have_both();
  get_answer();
  for (int n = 1; n <= 100; ++n) {
    send_release();
    net.reply(0, "+OK\r\n");
    EXPECT_EQ(released.answers, n);
  }
  net.close(0);
  EXPECT_EQ(a.take_log(), "cut down ");
  EXPECT_EQ(released.answers, 100);
  EXPECT_EQ(released.cuts, 0);
}

TEST_F(redis_replica_wait, a_server_that_refuses_a_release_behind_a_grant_as_a_replica_is_left) {
  have_both();
  get_answer();
  send_release();
  net.reply(0, "-READONLY You can't write against a read only replica.\r\n");
  EXPECT_EQ(a.take_log(), "doubt cut down ");
  EXPECT_EQ(released.answers, 1);
}

TEST_F(redis_replica_wait, without_a_replica_nothing_counts_and_the_status_says_why) {
  have_both();
  get_answer();
  confirm(0);
  EXPECT_EQ(a.take_log(), "");
  EXPECT_NE(trouble().find("0 of the 1 replicas"), std::string::npos) << trouble();
  net.time.advance(100ms);
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
  EXPECT_EQ(trouble(), "");
}

TEST_F(redis_replica_wait, an_answer_of_another_server_confirms_nothing) {
  have_both();
  get_answer_of_another_server();
  confirm(1);
  EXPECT_EQ(a.take_log(), "");
}

// It has the data of another master, which may lack what it answered before.
TEST_F(redis_replica_wait, replicas_confirm_nothing_that_was_answered_in_an_earlier_reign) {
  have_both();
  get_answer();
  confirm(1, "h2", "h1");
  EXPECT_EQ(a.take_log(), "cut down ");
  net.time.advance(1s);
  EXPECT_GT(net.lines.size(), 2u) << "no connection was replaced";
}

// A master without replicas draws a new id when the first one comes, which continues none.
TEST_F(redis_replica_wait, a_new_name_of_the_same_data_is_no_new_reign) {
  have_both();
  get_answer();
  confirm(1, "h2");
  EXPECT_EQ(a.take_log(), "=OK ");
}

TEST_F(redis_replica_wait, a_user_who_loses_the_right_to_info_is_refused) {
  have_both();
  get_answer();
  net.reply(1, ":0\r\n:1\r\n-NOPERM no right to 'info'\r\n");
  EXPECT_EQ(a.take_log(), "");
  EXPECT_NE(trouble().find("the right to INFO"), std::string::npos) << trouble();
}

class redis_replica_wait_for_messages : public redis_replica_wait {
 protected:
  redis_replica_wait_for_messages() {
    have_both();
    {
      const std::lock_guard guard(reactor.mutex());
      over = one.subscribe("ch", handler, net.now());
    }
    open(lane::messages);
    greet(2);
    net.reply(2, "*3\r\n" + bulk("subscribe") + bulk("ch") + ":1\r\n");
    EXPECT_EQ(handler.heard, "+ ");
  }
  ~redis_replica_wait_for_messages() override {
    const std::lock_guard guard(reactor.mutex());
    over.reset();
  }
  void send_message(const char* text) {
    net.reply(2, "*3\r\n" + bulk("message") + bulk("ch") + bulk(text));
  }
  early_or_late handler;
  std::unique_ptr<subscription> over;
};

TEST_F(redis_replica_wait_for_messages, a_message_is_held_back_too) {
  send_message("yours");
  EXPECT_EQ(handler.heard, "+ ");
  net.received(1);
  confirm(1);
  EXPECT_EQ(handler.heard, "+ yours ");
  send_message("again");
  EXPECT_EQ(handler.heard, "+ yours ");
  net.received(1);
  confirm(1);
  EXPECT_EQ(handler.heard, "+ yours again ");
}

TEST_F(redis_replica_wait_for_messages, the_question_is_repeated_until_replicas_confirm) {
  send_message("yours");
  net.received(1);
  confirm(0);
  EXPECT_EQ(handler.heard, "+ ");
  net.time.advance(100ms);
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(handler.heard, "+ yours ");
}

TEST_F(redis_replica_wait_for_messages,
       replicas_confirm_nothing_while_the_commands_have_no_server) {
  send_message("yours");
  net.received(1);
  net.close(0);
  confirm(1);
  EXPECT_EQ(handler.heard, "+ ");
  net.time.advance(0ms);
  for (const std::size_t n : {3u, 4u}) {
    ASSERT_GT(net.lines.size(), n);
    greet(n);
    EXPECT_TRUE(net.received(n).starts_with("CLIENT KILL ID"));
    net.reply(n, ":1\r\n");
  }
  EXPECT_EQ(net.received(4), question);
  net.reply(4, ":0\r\n:1\r\n" + replication("h"));
  EXPECT_EQ(handler.heard, "+ yours ");
}

TEST_F(redis_replica_wait, a_user_without_the_right_to_wait_is_refused) {
  open(lane::commands);
  greet(0);
  greet(1);
  net.received(1);
  net.reply(1, ":0\r\n-NOPERM no right to 'wait'\r\n");
  EXPECT_NE(refusal().find("WAIT"), std::string::npos) << refusal();
}

TEST_F(redis_replica_wait, a_server_that_reports_no_run_id_is_refused) {
  open(lane::commands);
  greet(0);
  greet_without_info(1);
  EXPECT_NE(refusal().find("the right to INFO"), std::string::npos) << refusal();
}

TEST_F(redis_replica_wait, servers_that_report_no_run_ids_are_not_taken_for_one) {
  open(lane::commands);
  for (std::size_t n = 0; n < net.lines.size(); ++n) {
    greet_without_info(n);
    if (net.received(n).find("PUBLISH") != std::string::npos) net.reply(n, ":1\r\n");
  }
  EXPECT_NE(refusal().find("the right to INFO"), std::string::npos) << refusal();
}

TEST_F(redis_replica_wait, a_question_to_another_server_than_that_of_the_commands_is_repeated) {
  open(lane::commands);
  greet(0);
  greet(1, "r2");
  {
    const std::lock_guard guard(reactor.mutex());
    EXPECT_FALSE(one.why_not_open(false).code);
  }
  net.time.advance(1s);
  EXPECT_GT(net.lines.size(), 2u);
}

TEST_F(redis_replica_wait, an_error_that_passes_is_no_refusal) {
  open(lane::commands);
  greet(0);
  greet(1);
  net.received(1);
  net.reply(1, ":0\r\n-LOADING the data\r\n");
  EXPECT_FALSE(is_open());
  {
    const std::lock_guard guard(reactor.mutex());
    EXPECT_FALSE(one.why_not_open(false).code);
  }
  net.time.advance(1s);
  EXPECT_GT(net.lines.size(), 2u);
}

TEST_F(redis_replica_wait, a_majority_is_counted_with_the_master_from_the_most_replicas_known) {
  endpoint e = with_a_replica();
  e.replicas = 0;
  e.by_majority = true;
  transport t(reactor, e, two_scripts);
  const auto needed_with = [&](std::size_t replicas) {
    const std::lock_guard guard(reactor.mutex());
    t.note_replicas(replicas);
    return t.replicas_needed();
  };
  EXPECT_EQ(t.replicas_needed(), 1u);
  EXPECT_EQ(needed_with(0), 1u);
  EXPECT_EQ(needed_with(2), 1u);
  EXPECT_EQ(needed_with(3), 2u);
  EXPECT_EQ(needed_with(5), 3u);
  EXPECT_EQ(needed_with(1), 3u) << "the others may be back";
}

TEST_F(redis_replica_wait, a_number_of_replicas_does_not_depend_on_those_that_are_known) {
  const std::lock_guard guard(reactor.mutex());
  one.note_replicas(9);
  EXPECT_EQ(one.replicas_needed(), 1u);
}

TEST_F(redis_replica_wait, without_a_confirmation_in_time_the_connection_ends_with_that_reason) {
  have_both();
  get_answer();
  net.time.advance(2s);
  EXPECT_NE(trouble().find("the replicas have not confirmed"), std::string::npos) << trouble();
}

}  // namespace
}  // namespace holdfast::redis
