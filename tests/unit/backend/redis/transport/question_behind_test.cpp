// A question to the replicas that follows requests on their own connection (replica_wait.hpp).
#include "tests/unit/backend/redis/transport/replicated_transport.hpp"

namespace holdfast::redis {
namespace {

class redis_question_behind_a_request : public replicated_transport {
 protected:
  redis_question_behind_a_request() { connect_both(); }
  std::string sent() {
    send();
    return net.received(0);
  }
  static std::string asked_behind(const std::string& request) {
    return request + " | PUBLISH hf:wait 0 | WAIT 1 2 | INFO replication";
  }
  // The second connection asks about it then.
  void have_renewal_answered() {
    a.renews = true;
    net.received(2);
    net.reply(2, "+renewed\r\n");
    net.time.advance(0ms);
    EXPECT_EQ(net.received(1), question);
  }
  void open_renewals() {
    open(lane::renewals);
    greet(2);
    a.take_log();
  }
};

TEST_F(redis_question_behind_a_request, a_request_takes_the_question_along) {
  EXPECT_EQ(sent(), asked_behind("GET 1"));
  net.reply(0, "+OK\r\n");
  EXPECT_EQ(a.take_log(), "");
  EXPECT_EQ(net.received(1), "") << "one question is enough";
  net.reply(0, confirmed_by(1));
  EXPECT_EQ(a.take_log(), "=OK ");
  EXPECT_EQ(sent(), asked_behind("GET 2"));
  net.reply(0, "+OK\r\n" + confirmed_by(1));
  EXPECT_EQ(a.take_log(), "=OK ");
  EXPECT_EQ(net.received(1), "");
}

TEST_F(redis_question_behind_a_request, an_answer_counts_wherever_its_bytes_are_divided) {
  const std::string all = "+QUEUED\r\n+OK\r\n" + confirmed_by(1);
  a.replies_each = 2;
  for (std::size_t bytes = 1; bytes < all.size(); ++bytes) {
    send();
    net.reply(0, all.substr(0, bytes));
    EXPECT_EQ(a.take_log(), "") << bytes;
    net.reply(0, all.substr(bytes));
    EXPECT_EQ(a.take_log(), "=OK ") << bytes;
  }
  EXPECT_EQ(net.received(1), "");
}

TEST_F(redis_question_behind_a_request, an_answer_confirms_no_reply_that_follows_it) {
  send();
  net.received(0);
  EXPECT_EQ(sent(), "GET 2") << "its connection is not idle";
  net.reply(0, "+first\r\n" + confirmed_by(1) + "+second\r\n");
  EXPECT_EQ(a.take_log(), "=first ");
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=second ");
}

TEST_F(redis_question_behind_a_request, a_release_takes_no_question_along) {
  send_release();
  EXPECT_EQ(net.received(0), "DEL a");
  net.reply(0, "+OK\r\n");
  EXPECT_EQ(released.answers, 1);
  EXPECT_EQ(sent(), asked_behind("GET 1"));
}

TEST_F(redis_question_behind_a_request, too_few_replicas_leave_it_to_the_second_connection) {
  send();
  net.reply(0, "+OK\r\n" + confirmed_by(0));
  EXPECT_EQ(a.take_log(), "");
  EXPECT_EQ(net.received(1), question);
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK ");
  net.received(0);
  EXPECT_EQ(sent(), "GET 2") << "replicas that are late would hold up other requests";
  net.reply(0, "+OK\r\n");
  net.received(1);
  confirm(1);
  net.time.advance(1s);
  net.received(0);
  EXPECT_EQ(sent(), asked_behind("GET 3"));
}

TEST_F(redis_question_behind_a_request, a_refused_question_leaves_it_to_the_second_connection) {
  const std::string told = replication("h");
  for (const std::string& answer :
       {"-NOPERM no PUBLISH\r\n:1\r\n" + told, ":0\r\n-NOPERM no WAIT\r\n" + told,
        std::string(":0\r\n:1\r\n-NOPERM no INFO\r\n")}) {
    send();
    net.reply(0, "+OK\r\n" + answer);
    EXPECT_EQ(a.take_log(), "") << answer;
    EXPECT_EQ(net.received(1), question) << answer;
    confirm(1);
    EXPECT_EQ(a.take_log(), "=OK ") << answer;
    net.time.advance(1s);
  }
}

TEST_F(redis_question_behind_a_request, an_answer_of_a_later_reign_confirms_nothing) {
  send();
  net.reply(0, "+OK\r\n" + confirmed_by(1, "h2", "h1"));
  EXPECT_EQ(a.take_log(), "cut down ");
}

TEST_F(redis_question_behind_a_request, it_ends_with_its_connection) {
  send();
  net.reply(0, "+OK\r\n:0\r\n");
  net.close(0);
  EXPECT_EQ(a.take_log(), "cut down ");
  net.time.advance(0ms);
  greet(2);
  EXPECT_TRUE(net.received(2).starts_with("CLIENT KILL ID"));
  net.reply(2, ":1\r\n");
  a.take_log();
  send();
  EXPECT_EQ(net.received(2), asked_behind("GET 2"));
  net.reply(2, "+OK\r\n" + confirmed_by(1));
  EXPECT_EQ(a.take_log(), "=OK ");
}

// The thread that reads the renewals is not that which reads the commands.
TEST_F(redis_question_behind_a_request, a_renewal_does_not_wait_for_its_answer) {
  open_renewals();
  send();
  net.received(0);
  have_renewal_answered();
  confirm(1);
  EXPECT_EQ(a.take_log(), "=renewed ");
  net.reply(0, "+OK\r\n" + confirmed_by(1));
  EXPECT_EQ(a.take_log(), "=OK ");
}

// The second connection has asked after the reply had come, so its answer covers that too.
TEST_F(redis_question_behind_a_request, another_answer_may_come_before_its_own) {
  open_renewals();
  send();
  net.reply(0, "+OK\r\n:0\r\n");
  have_renewal_answered();
  confirm(1);
  EXPECT_EQ(a.take_log(), "=OK =renewed ");
  net.reply(0, ":1\r\n" + replication("h"));
  net.received(0);
  EXPECT_EQ(sent(), asked_behind("GET 3"));
  net.reply(0, "+third\r\n" + confirmed_by(1));
  EXPECT_EQ(a.take_log(), "=third ");
}

TEST_F(redis_question_behind_a_request, bytes_that_are_no_reply_end_the_connection_at_once) {
  send();
  net.reply(0, "+OK\r\nHTTP/1.1 400\r\n");
  EXPECT_EQ(a.take_log(), "cut down ");
  EXPECT_NE(trouble().find("not a Redis server"), std::string::npos) << trouble();
}

}  // namespace
}  // namespace holdfast::redis
