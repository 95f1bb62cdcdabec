// A transport whose master is named by other servers: where its connections go.
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

class redis_led_transport : public two_transports {
 protected:
  void lead(const char* host) {
    base::event_queue events;
    const std::lock_guard guard(reactor.mutex());
    one.lead_to({.host = host}, net.now(), events);
  }
  // The number of connections begun so far, including those that are due now.
  std::size_t attempts() {
    net.time.advance(0ms);
    return net.lines.size();
  }
  void open_without_address() {
    {
      const std::lock_guard guard(reactor.mutex());
      one.await_address();
    }
    open(one);
  }
  void have_commands_at(const char* host) {
    open_without_address();
    lead(host);
    greet(0, "r1", "ha");
    a.take_log();
  }
  bool is_led_elsewhere() {
    const std::lock_guard guard(reactor.mutex());
    return one.is_led_elsewhere();
  }
};

TEST_F(redis_led_transport, nothing_is_opened_before_an_address_is_named) {
  open_without_address();
  net.time.advance(1s);
  EXPECT_TRUE(net.lines.empty());
  lead("m1");
  ASSERT_EQ(net.lines.size(), 1u);
  EXPECT_EQ(net.lines[0]->host, "m1");
  EXPECT_TRUE(is_led_elsewhere());
  greet(0);
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_FALSE(is_led_elsewhere());
}

TEST_F(redis_led_transport, the_same_address_again_changes_nothing) {
  have_commands_at("m1");
  lead("m1");
  EXPECT_EQ(net.lines.size(), 1u);
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_TRUE(agrees());
}

TEST_F(redis_led_transport, another_address_is_probed_before_the_commands_move) {
  have_commands_at("m1");
  lead("m2");
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_FALSE(agrees());
  EXPECT_TRUE(is_led_elsewhere());
  ASSERT_EQ(net.lines.size(), 2u);
  EXPECT_EQ(net.lines[1]->host, "m2");
  greet(1, "r2", "hb", "ha");
  EXPECT_FALSE(is_ready(lane::commands));
  ASSERT_EQ(attempts(), 3u);
  EXPECT_EQ(net.lines[2]->host, "m2");
  greet(2, "r2", "hb", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_FALSE(is_led_elsewhere());
}

TEST_F(redis_led_transport, another_address_of_the_same_server_moves_nothing) {
  have_commands_at("m1");
  lead("m2");
  EXPECT_FALSE(agrees());
  greet(1, "r1", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_TRUE(agrees());
  EXPECT_EQ(a.take_log(), "agreed ");
  EXPECT_FALSE(is_led_elsewhere());
}

TEST_F(redis_led_transport, the_latest_address_is_probed) {
  have_commands_at("m1");
  lead("m2");
  ASSERT_EQ(net.lines.size(), 2u);
  lead("m3");
  ASSERT_EQ(attempts(), 3u) << "the probe of the address before is over";
  EXPECT_EQ(net.lines[2]->host, "m3");
  EXPECT_TRUE(net.lines[1]->is_over());
}

TEST_F(redis_led_transport, an_address_that_did_not_answer_is_probed_again_when_it_is_named_again) {
  have_commands_at("m1");
  lead("m2");
  net.close(1);
  EXPECT_TRUE(is_led_elsewhere());
  lead("m2");
  ASSERT_EQ(attempts(), 3u);
  EXPECT_EQ(net.lines[2]->host, "m2");
}

TEST_F(redis_led_transport, a_rejection_is_final_and_an_address_that_is_not_reached_may_change) {
  open_without_address();
  lead("m1");
  net.close(0);
  EXPECT_EQ(a.last_loss, loss::in_use);
  ASSERT_EQ(attempts(), 2u);
  net.open(1);
  net.received(1);
  net.reply(1, "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(a.last_loss, loss::refused);
}

TEST(redis_endpoint, requires_the_certificate_of_the_address_unless_the_url_names_another) {
  endpoint e;
  e.tls = base::tls_terms{.host = "m1"};
  e.move_to({.host = "m2"});
  EXPECT_EQ(e.tls->host, "m2");
  e.tls->host = "all";
  e.has_tls_host = true;
  e.move_to({.host = "m1"});
  EXPECT_EQ(e.where.host, "m1");
  EXPECT_EQ(e.tls->host, "all");
}

TEST_F(redis_led_transport, a_connection_to_the_address_before_is_given_up) {
  open_without_address();
  lead("m1");
  lead("m2");
  ASSERT_EQ(attempts(), 2u);
  EXPECT_EQ(net.lines[1]->host, "m2");
  EXPECT_TRUE(net.lines[0]->is_over());
}

}  // namespace
}  // namespace holdfast::redis
