// Several servers that know nothing of each other: a majority decides.
#include "backend/redis/topologies/independent.hpp"

#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

class redis_independent : public testing::Test {
 protected:
  redis_independent() {
    const std::lock_guard guard(reactor.mutex());
    over.open(net.now());
  }
  ~redis_independent() override { reactor.stop(); }

  static std::vector<endpoint> three() {
    endpoint e;
    e.retry_base = 50ms;
    e.connect_timeout = 1s;
    e.op_timeout = 4s;
    std::vector<endpoint> out;
    for (const char* host : {"a", "b", "c"}) {
      e.where = {host, 6379, {}};
      e.text = base::text_of(e.where);
      out.push_back(e);
    }
    return out;
  }
  // `server`: its answer to INFO server.
  void greet(std::size_t n, const std::string& server, const std::string& more = {}) {
    net.open(n);
    net.received(n);
    net.reply(n, "+OK\r\n:" + std::to_string(n + 1) + "\r\n" + bulk("laddr=127.0.0.1:6379") +
                     bulk(server) + replication("h") + more);
  }
  void refuse(std::size_t n) {
    net.open(n);
    net.received(n);
    net.reply(n, "-NOAUTH Authentication required.\r\n");
  }
  void have_three() {
    greet(0, "run_id:r1");
    greet(1, "run_id:r2");
    greet(2, "run_id:r3");
  }
  bool is_open() {
    const std::lock_guard guard(reactor.mutex());
    return over.is_open();
  }
  base::failure why_not_open(bool is_overdue = false) {
    const std::lock_guard guard(reactor.mutex());
    return over.why_not_open(is_overdue);
  }
  seam::connection_status status() {
    const std::lock_guard guard(reactor.mutex());
    return over.status();
  }

  scripted_network net;
  io::client_reactor reactor{net, {"alarm", "loop", "own"}, "redlock://a,b,c"};
  const std::vector<endpoint> servers = three();
  independent over{reactor, servers, two_scripts};
};

TEST_F(redis_independent, are_open_once_a_majority_is) {
  ASSERT_EQ(net.lines.size(), 3u);
  EXPECT_FALSE(is_open());
  greet(0, "run_id:r1");
  EXPECT_FALSE(is_open());
  greet(2, "run_id:r3");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_independent, are_never_open_where_the_refusals_leave_no_majority) {
  refuse(0);
  EXPECT_FALSE(why_not_open().code);
  refuse(1);
  const base::failure why = why_not_open();
  EXPECT_EQ(why.code, errc::no_quorum);
  EXPECT_TRUE(why.text.starts_with(
      "2 of 3 servers cannot be used, and 2 are needed: a:6379 (the server answered"))
      << why.text;
  EXPECT_NE(why.text.find("), b:6379 (the server answered"), why.text.npos) << why.text;
}

TEST_F(redis_independent, that_do_not_answer_in_time_are_named) {
  greet(1, "run_id:r2");
  EXPECT_FALSE(why_not_open().code);
  EXPECT_EQ(why_not_open(true).text,
            "2 of 3 servers cannot be used, and 2 are needed: a:6379 (no connection within the "
            "op-timeout), c:6379 (no connection within the op-timeout)");
}

TEST_F(redis_independent, a_sentinel_among_them_is_a_wrong_url) {
  greet(0, "run_id:r1\r\nredis_mode:sentinel");
  EXPECT_EQ(why_not_open().code, errc::bad_url);
}

TEST_F(redis_independent, are_available_while_a_majority_is) {
  have_three();
  EXPECT_TRUE(status().connected);
  net.close(0);
  EXPECT_FALSE(over.is_unavailable());
  EXPECT_TRUE(status().connected);
  EXPECT_FALSE(status().trouble.code);
  EXPECT_EQ(status().last_failure, "a:6379 0 ms ago: closed");
  net.close(1);
  EXPECT_TRUE(over.is_unavailable());
  EXPECT_FALSE(status().connected);
  EXPECT_EQ(status().trouble.code, errc::no_quorum);
  EXPECT_EQ(status().trouble.text,
            "2 of 3 servers cannot be used, and 2 are needed: a:6379 (no connection: closed), "
            "b:6379 (no connection: closed)");
}

TEST_F(redis_independent, count_the_reconnects_of_all) {
  have_three();
  net.close(0);
  net.close(2);
  net.time.advance(0ms);
  ASSERT_EQ(net.lines.size(), 5u);
  greet(3, "run_id:r1", ":1\r\n");  // the older connection has ended
  greet(4, "run_id:r3", ":1\r\n");
  EXPECT_EQ(status().reconnects, 2u);
  EXPECT_FALSE(over.is_unavailable());
}

TEST(redis_failed_servers, are_named_once_each) {
  failed_servers all;
  EXPECT_EQ(all.list(), "");
  all.add("a:1", "it is a replica");
  all.add("b:2", "b:2 does not answer");
  EXPECT_EQ(all.list(), "a:1 (it is a replica), b:2 does not answer");
  EXPECT_EQ(all.size(), 2u);
}

}  // namespace
}  // namespace holdfast::redis
