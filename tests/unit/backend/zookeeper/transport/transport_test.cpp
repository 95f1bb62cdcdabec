// Opening and closing a client of ZooKeeper, and what it reports of an outage.
#include "backend/zookeeper/transport/transport.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "backend/zookeeper/transport/requests.hpp"
#include "testkit/heard_warnings.hpp"
#include "tests/unit/backend/zookeeper/transport/session_fixture.hpp"
#include "tests/unit/io/reactor/played_network.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

class deaf_listener final : public zookeeper::session_listener {
 public:
  void on_attached(bool, base::time_point, base::event_queue&) override {}
  void on_deadline(base::time_point, base::event_queue&) override {}
  void on_doubtful(base::event_queue&) override {}
  void on_session_lost(const base::failure&, base::event_queue&) override {}
  void on_watch(const zookeeper::watch_event&, base::time_point, base::event_queue&) override {}
};

class zookeeper_transport : public testing::Test {
 protected:
  static constexpr std::int64_t session_id = 0x77;

  ~zookeeper_transport() override { over.stop(); }
  static zookeeper::endpoint two_servers() {
    zookeeper::endpoint out;
    out.servers = {{"a", 2181, {}}, {"b", 2181, {}}};
    out.session_timeout = 30s;
    out.connect_timeout = out.op_timeout = 5s;
    out.retry_base = 50ms;
    out.text = "zookeeper://a,b";
    return out;
  }

  // The refusal; `play` is what the servers do. They do not answer afterwards.
  std::string open(const std::function<void()>& play) {
    bool has_played = false;
    net.while_blocked = [&] {
      if (std::exchange(has_played, true))
        net.time.advance(2s);
      else
        play();
    };
    std::string text;
    code = {};
    try {
      over.open();
    } catch (const lock_error& e) {
      code = e.code();
      text = e.detail();
    }
    net.while_blocked = [] {};
    return text;
  }
  // Its server does not answer in time. No caller drives the loop of the next connection: its
  // thread may be asleep.
  void move_to_own_loop() {
    net.time.advance(where.session_timeout / 2);  // its ping is not answered
    const std::size_t before = net.streams.size();
    for (int i = 0; i < 40 && net.streams.size() == before; ++i) net.time.advance_to_next_alarm();
    ASSERT_EQ(net.streams.back()->over, base::driven_by::thread);
    stream().on_open();
    net.own->flush();
    give(connected(30'000, session_id));
    net.take_log();
  }
  base::stream_events& stream() { return *net.streams.back()->events; }
  void give(const std::string& bytes) { stream().on_bytes(bytes_of(bytes)); }
  void attach() {
    stream().on_open();
    net.callers->flush();
    give(connected(30'000, session_id));
  }
  void lose(errc why, const std::string& text) { stream().on_closed({why, text}); }
  seam::connection_status status() {
    const std::lock_guard guard(over.mutex());
    return over.read_status();
  }

  io::reactor_tests::played_network net;
  zookeeper::endpoint where = two_servers();
  deaf_listener listener;
  noted_replies replies;
  zookeeper::transport over{net, where, listener};
  std::error_code code;
};

TEST_F(zookeeper_transport, is_open_once_its_session_is_attached) {
  EXPECT_EQ(open([&] { attach(); }), "");
  EXPECT_FALSE(code);
  EXPECT_TRUE(status().connected);
}

TEST_F(zookeeper_transport, is_open_once_the_node_of_its_path_was_seen) {
  where.chroot = "/locks";
  const std::string text = open([&] {
    attach();
    give(replied(1, 5, zookeeper::error::no_auth));  // to the sync
    give(replied(2, 5, zookeeper::error::ok, stat_bytes({})));
  });
  EXPECT_EQ(text, "");
}

TEST_F(zookeeper_transport, names_the_node_of_the_path_that_is_missing_or_cannot_be_read) {
  where.chroot = "/locks/mine";
  const std::string missing = open([&] {
    attach();
    give(replied(1, 5));
    give(replied(2, 5, zookeeper::error::no_node));
  });
  EXPECT_EQ(code, errc::refused);
  EXPECT_NE(missing.find("there is no node /locks/mine for the locks; create it, with zkCli.sh: "
                         "create /locks, create /locks/mine"),
            missing.npos)
      << missing;
}

TEST_F(zookeeper_transport, names_the_right_that_is_missing_at_the_node_of_the_path) {
  where.chroot = "/locks";
  const std::string hidden = open([&] {
    attach();
    give(replied(1, 5));
    give(replied(2, 5, zookeeper::error::no_auth));
  });
  EXPECT_EQ(code, errc::refused);
  EXPECT_NE(hidden.find("this user may not read the node /locks"), hidden.npos) << hidden;
}

TEST_F(zookeeper_transport, names_the_error_of_the_node_of_the_path) {
  where.chroot = "/locks";
  const std::string text = open([&] {
    attach();
    give(replied(1, 5));
    give(replied(2, 5, zookeeper::error::marshalling));
  });
  EXPECT_EQ(code, errc::refused);
  EXPECT_NE(text.find("does not show the node /locks (its error -5)"), text.npos) << text;
}

TEST_F(zookeeper_transport, is_unavailable_once_each_server_has_been_tried) {
  const std::string text = open([&] {
    lose(errc::unavailable, "the first one");
    lose(errc::unavailable, "the second one");
  });
  EXPECT_EQ(text, "the second one");
  EXPECT_GE(net.streams.size(), 2u);
  EXPECT_EQ(code, errc::unavailable);
}

TEST_F(zookeeper_transport, is_refused_at_once_by_a_server_that_is_not_trusted) {
  EXPECT_EQ(open([&] { lose(errc::refused, "the certificate is of another host"); }),
            "the certificate is of another host");
  EXPECT_EQ(code, errc::refused);
}

TEST_F(zookeeper_transport, is_refused_at_once_where_its_certificate_cannot_be_used) {
  const std::string text = open([&] {
    lose(errc::bad_option, "no certificate in that file");
    net.time.advance(where.op_timeout);
  });
  EXPECT_EQ(text, "no certificate in that file");
  EXPECT_EQ(code, errc::bad_option);
}

TEST_F(zookeeper_transport, names_a_server_that_is_connected_to_and_silent) {
  const std::string text = open([&] {
    stream().on_open();
    net.time.advance(where.op_timeout);
  });
  EXPECT_EQ(code, errc::unavailable);
  EXPECT_EQ(text, zookeeper::session::silent_server);
}

TEST_F(zookeeper_transport, is_closed_when_the_server_has_confirmed_it) {
  EXPECT_EQ(open([&] { attach(); }), "");
  net.while_blocked = [&] { give(replied(1, 6)); };
  EXPECT_TRUE(over.close(net.now() + 1s));
}

TEST_F(zookeeper_transport, soon_tries_again_when_no_connection_can_be_made) {
  EXPECT_EQ(open([&] { attach(); }), "");
  net.has_threads = false;  // for the own loop, which a server that does not answer calls for
  net.time.advance(where.session_timeout / 4);
  std::string why;
  const auto waits = [&] {
    const std::lock_guard guard(over.mutex());
    why = over.of_session().last_failure().text;
    return over.of_session().where() == zookeeper::session::state::waiting;
  };
  for (int i = 0; i < 40 && !waits(); ++i) net.time.advance_to_next_alarm();
  ASSERT_TRUE(waits());
  EXPECT_NE(why.find("raise the limit of processes"), why.npos) << why;
  const std::size_t before = net.streams.size();
  net.has_threads = true;
  net.time.advance(where.retry_base);
  EXPECT_EQ(net.streams.size(), before + 1);
}

TEST_F(zookeeper_transport, has_its_end_sent_by_the_loop_that_has_its_connection) {
  EXPECT_EQ(open([&] { attach(); }), "");
  ASSERT_NO_FATAL_FAILURE(move_to_own_loop());
  std::string log_at_wait;
  net.while_blocked = [&] {
    log_at_wait += net.take_log();
    net.time.advance(1s);
  };
  over.close(net.now() + 1s);
  EXPECT_NE(log_at_wait.find("own-flush"), std::string::npos) << log_at_wait;
}

TEST_F(zookeeper_transport, has_its_requests_sent_by_the_loop_that_has_its_connection) {
  EXPECT_EQ(open([&] { attach(); }), "");
  net.take_log();
  over.request_flush(true);
  EXPECT_EQ(net.take_log(), "flush ");
  ASSERT_NO_FATAL_FAILURE(move_to_own_loop());
  over.request_flush(true);
  EXPECT_EQ(net.take_log(), "flush own-flush ");
}

TEST_F(zookeeper_transport, has_its_pings_sent_by_the_loop_that_has_its_connection) {
  EXPECT_EQ(open([&] { attach(); }), "");
  ASSERT_NO_FATAL_FAILURE(move_to_own_loop());
  net.time.advance(300ms);  // the write that renews is not answered
  EXPECT_NE(net.take_log().find("own-flush"), std::string::npos);
}

TEST_F(zookeeper_transport, a_thread_that_writes_takes_along_what_is_added_meanwhile) {
  EXPECT_EQ(open([&] { attach(); }), "");
  const auto submit = [&](const std::string& path) {
    const std::lock_guard guard(over.mutex());
    over.of_session().submit(replies, zookeeper::opcode::exists,
                             zookeeper::watched_path_body(path, false), net.now());
  };
  std::string& written = net.streams.back()->written;
  written.clear();
  submit("/first");
  net.while_writing = [&] {
    submit("/second");
    net.callers->flush();
    EXPECT_EQ(written, "");
  };
  net.callers->flush();
  const std::size_t first = written.find("/first"), second = written.find("/second");
  ASSERT_NE(first, written.npos);
  ASSERT_NE(second, written.npos);
  EXPECT_LT(first, second);
}

TEST_F(zookeeper_transport, is_not_known_to_be_closed_without_a_confirmation) {
  EXPECT_EQ(open([&] { attach(); }), "");
  const base::time_point began = net.now();
  net.while_blocked = [&] { net.time.advance(1s); };
  EXPECT_FALSE(over.close(began + 1s));
  EXPECT_EQ(net.now(), began + 1s);
}

TEST_F(zookeeper_transport, reports_and_logs_an_outage_and_its_end) {
  testkit::heard_warnings heard;
  EXPECT_EQ(open([&] { attach(); }), "");
  EXPECT_EQ(status().last_failure, "");
  lose(errc::unavailable, "reset by the network");
  EXPECT_FALSE(status().connected);
  EXPECT_EQ(status().trouble.code, errc::unavailable);
  EXPECT_EQ(status().trouble.text, "reset by the network");
  EXPECT_EQ(status().reconnects, 0u);
  net.time.advance(50ms);
  attach();
  EXPECT_TRUE(status().connected);
  EXPECT_FALSE(status().trouble.code);
  EXPECT_EQ(status().last_failure, "reset by the network");
  EXPECT_EQ(status().reconnects, 1u);
  EXPECT_EQ(heard.other_lines(), 0u);
  EXPECT_EQ(heard.text(), "the connection to zookeeper://a,b is lost: reset by the network\n"
                          "connected to zookeeper://a,b again after 50 ms\n");
}

TEST_F(zookeeper_transport, reports_that_it_cannot_connect_for_want_of_a_descriptor) {
  EXPECT_EQ(open([&] { attach(); }), "");
  net.has_descriptors = false;
  lose(errc::unavailable, "reset by the network");
  EXPECT_EQ(status().trouble.text,
            "Too many open files; raise the limit of open files (ulimit -n)");
  EXPECT_EQ(status().last_failure, status().trouble.text);
  net.has_descriptors = true;
  net.time.advance(50ms);
  attach();
  EXPECT_TRUE(status().connected);
}

TEST_F(zookeeper_transport, is_not_connected_again_when_it_is_opened_at_its_second_server) {
  testkit::heard_warnings heard;
  EXPECT_EQ(open([&] {
              stream().on_open();
              lose(errc::unavailable, "the first one");
              attach();
            }),
            "");
  EXPECT_TRUE(status().connected);
  EXPECT_EQ(status().reconnects, 0u);
  EXPECT_EQ(heard.text(), "");
}

TEST_F(zookeeper_transport, names_the_last_failure_when_it_cannot_be_opened_in_time) {
  const std::string text = open([&] {
    stream().on_open();
    lose(errc::unavailable, "reset by the network");
    net.time.advance(where.op_timeout);
  });
  EXPECT_EQ(code, errc::unavailable);
  EXPECT_TRUE(text.starts_with("reset by the network")) << text;
}

// The server would keep a session that nobody uses until it expires.
TEST_F(zookeeper_transport, closes_its_session_when_it_cannot_be_opened) {
  where.chroot = "/locks";
  (void)open([&] {
    attach();
    give(replied(1, 5));
    give(replied(2, 5, zookeeper::error::no_node));
  });
  EXPECT_EQ(code, errc::refused);
  net.callers->flush();
  const std::string sent = hex_of(net.streams.back()->written);
  EXPECT_NE(sent.find("00000003fffffff5"), sent.npos) << sent;
}

TEST_F(zookeeper_transport, logs_the_loss_of_its_session_unless_it_is_being_closed) {
  const auto expire = [&] {
    lose(errc::unavailable, "reset by the network");
    stream().on_open();
    net.callers->flush();
    give(expired());
  };
  testkit::heard_warnings heard;
  EXPECT_EQ(open([&] { attach(); }), "");
  expire();
  EXPECT_EQ(heard.that_mention("the session at zookeeper://a,b is lost, and what it held"), 1u);
  attach();
  net.while_blocked = expire;
  EXPECT_TRUE(over.close(net.now() + 1s));
  EXPECT_EQ(heard.that_mention("is lost, and what it held"), 1u);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
