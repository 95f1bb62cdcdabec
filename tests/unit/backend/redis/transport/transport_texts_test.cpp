// The requests that a transport sends on its own, and the texts with which it explains itself.
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

class redis_transport_texts : public two_transports {
 protected:
  redis_transport_texts() {
    const auto write = [](log_level, std::string_view line, void* to) {
      static_cast<std::string*>(to)->append(line).append("\n");
    };
    reactor.log().write_to({write, &logged});
  }
  ~redis_transport_texts() override { reactor.log().write_to({}); }
  template <class Call>
  auto with_mutex(Call call) {
    const std::lock_guard guard(reactor.mutex());
    return call();
  }
  base::failure why_not_open(bool is_overdue = false) {
    return with_mutex([&] { return one.why_not_open(is_overdue); });
  }
  void greet_with(std::size_t n, const std::string& server, const std::string& history) {
    net.open(n);
    net.received(n);
    net.reply(n, "+OK\r\n:" + std::to_string(n + 1) + "\r\n" + bulk("laddr=127.0.0.1:6379") +
                     bulk(server) + history);
  }
  std::string logged;
};

TEST_F(redis_transport_texts, a_script_is_loaded_with_its_text) {
  have_both();
  with_mutex([&] { one.load_script(two_scripts[1], net.now()); });
  EXPECT_EQ(net.received(0), "SCRIPT LOAD return 2");
  net.reply(0, "-NOPERM no\r\n");
  EXPECT_TRUE(is_ready(lane::commands)) << "it is sent in full when it is called";
}

TEST_F(redis_transport_texts, a_server_that_may_evict_keys_is_in_the_log) {
  have_both();
  with_mutex([&] { one.check_eviction(net.now()); });
  EXPECT_EQ(net.received(0), "INFO memory");
  net.reply(0, bulk("maxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n"));
  EXPECT_NE(logged.find("redis://first: the server may evict"), logged.npos) << logged;
}

TEST_F(redis_transport_texts, without_the_right_to_info_no_risk_of_eviction_is_known) {
  have_both();
  with_mutex([&] { one.check_eviction(net.now()); });
  net.received(0);
  net.reply(0, "-NOPERM no\r\n");
  EXPECT_EQ(logged, "");
  EXPECT_TRUE(is_ready(lane::commands));
}

TEST_F(redis_transport_texts, a_sample_of_the_clock_checks_the_connection_for_messages_too) {
  have_three();
  const auto sample = [&] {
    with_mutex([&] { one.want_sample(0ms, net.now()); });
    net.received(0);
    net.reply(0, "*2\r\n" + bulk("1700000000") + bulk("5"));
    return net.received(1);
  };
  EXPECT_EQ(sample(), "PING");
  net.reply(1, "+PONG\r\n");
  net.time.freeze(999ms);
  EXPECT_EQ(sample(), "") << "a quarter of the op-timeout has not passed";
  net.time.freeze(1ms);
  EXPECT_EQ(sample(), "PING");
}

TEST_F(redis_transport_texts, another_sample_is_requested_after_the_connection_was_lost) {
  have_both();
  with_mutex([&] { one.want_sample(1s, net.now()); });
  EXPECT_EQ(net.received(0), "TIME");
  net.close(0);
  net.time.advance(0ms);
  greet(2);
  with_mutex([&] { one.want_sample(1s, net.now()); });
  EXPECT_EQ(net.received(2), "TIME");
}

TEST_F(redis_transport_texts, a_connection_is_asked_once_whether_it_is_still_there) {
  have_three();
  net.close(0);
  net.time.advance(0ms);
  EXPECT_EQ(net.received(1), "PING");
  net.close(2);
  net.time.advance(0ms);
  EXPECT_EQ(net.received(1), "");
  net.reply(1, "+PONG\r\n");
  EXPECT_TRUE(is_ready(lane::messages));
}

TEST_F(redis_transport_texts, an_operation_that_was_not_answered_in_time_names_the_trouble) {
  have_both();
  EXPECT_EQ(with_mutex([&] { return one.why_not(); }), "no answer within the op-timeout");
  EXPECT_EQ(with_mutex([&] { return one.reason(errc::refused); }), "");
  net.close(0);
  const std::string why = "no answer within the op-timeout: no connection: closed";
  EXPECT_EQ(with_mutex([&] { return one.why_not(); }), why);
  EXPECT_EQ(with_mutex([&] { return one.reason(errc::unavailable); }), why);
  EXPECT_EQ(with_mutex([&] { return one.reason(errc::outcome_unknown); }), why);
  EXPECT_EQ(with_mutex([&] { return one.reason(errc::refused); }), "");
  EXPECT_EQ(with_mutex([&] { return one.outage_text(); }),
            "the outage lasts for longer than the outage-timeout: no connection: closed");
}

TEST_F(redis_transport_texts, what_the_server_rejects_for_good_is_known_at_once) {
  open(one);
  EXPECT_FALSE(why_not_open().code);
  net.open(0);
  net.received(0);
  net.reply(0, "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(why_not_open().code, errc::refused);
  EXPECT_NE(why_not_open().text.find("requires a password"), std::string::npos);
  EXPECT_TRUE(with_mutex([&] { return one.has_failed(lane::commands); }));
  EXPECT_FALSE(with_mutex([&] { return one.has_failed(lane::renewals); }));
}

TEST_F(redis_transport_texts, a_replica_is_not_used_and_the_remedy_is_named) {
  open(one);
  greet_with(0, "run_id:r1\r\n", replication("h", "0", "slave"));
  EXPECT_FALSE(is_ready(lane::commands));
  EXPECT_FALSE(why_not_open().code) << "it may be promoted";
  EXPECT_EQ(why_not_open(true).code, errc::unavailable);
  EXPECT_NE(why_not_open(true).text.find("name its master in the URL"), std::string::npos);
}

TEST_F(redis_transport_texts, a_sentinel_where_a_server_should_be_is_a_wrong_url) {
  open(one);
  greet_with(0, "run_id:r1\r\nredis_mode:sentinel\r\n", bulk(""));
  EXPECT_EQ(why_not_open().code, errc::bad_url);
  EXPECT_NE(why_not_open().text.find("redis+sentinel://"), std::string::npos);
}

TEST_F(redis_transport_texts, another_server_under_the_same_name_is_in_the_log) {
  open(one);
  greet(0, "r1", "ha");
  net.close(0);
  net.time.advance(0ms);
  logged.clear();
  greet(1, "r9", "hz");
  EXPECT_NE(logged.find("another server answers (run_id r9, before it r1)"), logged.npos) << logged;
}

TEST_F(redis_transport_texts, a_channel_that_was_refused_is_requested_again_after_a_second) {
  early_or_late handler;
  open(one, lane::messages);
  greet(0);
  greet(1);
  auto channel = with_mutex([&] { return one.subscribe("x", handler, net.now()); });
  EXPECT_EQ(net.received(1), "SUBSCRIBE x");
  net.reply(1, "-NOPERM this user has no permissions to access one of the channels\r\n");
  EXPECT_EQ(net.received(1), "");
  net.time.advance(999ms);
  EXPECT_EQ(net.received(1), "");
  net.time.advance(1ms);
  EXPECT_EQ(net.received(1), "SUBSCRIBE x");
  net.reply(1, "*3\r\n" + bulk("subscribe") + bulk("x") + ":1\r\n");
  EXPECT_EQ(handler.heard, "+ ");
  with_mutex([&] { channel.reset(); });
}

TEST_F(redis_transport_texts, without_a_pause_between_probes_none_is_sent) {
  endpoint e = to("third");
  e.probe = 0s;
  counting_source source;
  transport third(reactor, e, two_scripts);
  source.over = &third;
  source.in_use = true;
  with_mutex([&] { third.serve(source); });
  open(third);
  greet(0);
  source.to_send = 1;
  reactor.flush();
  net.reply(0, "+OK\r\n");
  net.time.advance(1h);
  EXPECT_EQ(net.lines.size(), 1u);
}

TEST_F(redis_transport_texts, a_server_that_goes_on_refusing_is_in_the_log_once_a_minute) {
  const std::string begins = "temporarily refusing requests: the server is full",
                    again = "the server has been refusing requests for";
  have_both();
  net.time.advance(10s);  // nothing else has an alarm set then
  a.in_use = true;
  with_mutex([&] { one.note_refusal("the server is full", net.now()); });
  net.time.advance(59s);
  EXPECT_EQ(logged.find(again), logged.npos) << logged;
  net.time.advance(1s);
  EXPECT_NE(logged.find(begins), logged.npos) << logged;
  EXPECT_NE(logged.find(again), logged.npos) << logged;
}

}  // namespace
}  // namespace holdfast::redis
