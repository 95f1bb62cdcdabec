// A client of MariaDB as a whole: what close() waits for, and what it reports.
#include "backend/mysql/backend.hpp"

#include <atomic>
#include <latch>
#include <thread>

#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

class mysql_backend : public testing::Test {
 protected:
  mysql_backend() {
    net.while_blocked = [&] {
      run([](time_point now, event_queue& e, auto& c) { c.events->on_open(now, e); });
      reply({});
      reply(rows({{"wait_timeout", "30"}, {"read_only", "OFF"}}));
      reply(rows({{"7", "100", "client:1"}}));
      while (statement().starts_with("SELECT name")) reply({});
    };
    client.connect({});
    net.while_blocked = [] {};
    lock = client.stores().first().open("job", sink);
  }
  ~mysql_backend() override { lock.reset(); }

  static mysql::settings terms() {
    mysql::settings out;
    out.strategy = "row";
    out.table = "locks";
    out.database = "test";
    out.servers.push_back({"server", 3306, {}});
    out.connections = 1;
    out.idle_timeout = idle_timeout;
    out.row_wait = 7s;
    out.retry_base = 50ms;
    out.op_timeout = out.connect_timeout = out.rules.op_timeout = op_timeout;
    out.text = "mysql://server/test";
    return out;
  }
  // The client has one connection, and events of it come by the client's own reactor.
  template <class Event>
  void run(Event event) {
    reactor->run([&](time_point now, event_queue& e) { event(now, e, *connections.back()); });
  }
  void reply(const sql_reply& r) {
    connections.back()->statement.clear();
    run([&](time_point now, event_queue& e, auto& c) {
      if (c.events) c.events->on_reply(r, now, e);
    });
  }
  const std::string& statement() const { return connections.back()->statement; }
  // Leaves something that has to be withdrawn: an acquire without an answer.
  void leave_something() {
    lock->acquire({.one_attempt = true, .ttl = 30s, .at = net.now()});
    EXPECT_NE(statement().find("UPDATE"), std::string::npos) << statement();
    lock->cancel();
  }

  // Two in a row, after which there is a pause. Returns how many were made.
  std::size_t lose_connections() {
    for (int i = 0; i < 2; ++i)
      run([](time_point now, event_queue& e, auto& c) {
        c.events->on_closed({errc::unavailable, "reset"}, now, e);
      });
    const std::size_t made = connections.size();
    net.time.advance(1ms);
    EXPECT_EQ(connections.size(), made) << "there is a pause";
    return made;
  }

  io::reactor_tests::played_network net;
  std::vector<std::shared_ptr<scripted_connection_state>> connections;
  io::client_reactor* reactor = nullptr;
  told sink;
  mysql::backend client{net, terms(), [this](io::client_reactor& r, const auto&) {
                          reactor = &r;
                          return std::make_unique<scripted_connector>(connections);
                        }};
  std::unique_ptr<seam::claim> lock;
};

TEST_F(mysql_backend, is_closed_at_once_when_nothing_is_left) {
  const time_point began = net.now();
  net.while_blocked = [] { ADD_FAILURE() << "it waits"; };
  EXPECT_TRUE(client.close(began + 1s));
  EXPECT_EQ(net.now(), began);
}

TEST_F(mysql_backend, is_closed_once_what_is_left_has_been_withdrawn) {
  leave_something();
  net.while_blocked = [&] {
    reply({});
    EXPECT_NE(statement().find("SET owner=x''"), std::string::npos) << statement();
    reply({});
  };
  EXPECT_TRUE(client.close(net.now() + 1s));
}

TEST_F(mysql_backend, is_not_known_to_be_closed_while_something_is_left) {
  leave_something();
  net.while_blocked = [&] { net.time.advance(1s); };
  EXPECT_FALSE(client.close(net.now() + 1s));
}

TEST_F(mysql_backend, is_not_known_to_be_closed_in_the_child_of_a_fork) {
  lock.reset();
  client.forked();
  EXPECT_FALSE(client.close(net.now() + 1s));
}

TEST_F(mysql_backend, ignores_the_reply_to_a_release_of_a_lock_that_is_gone) {
  lock->acquire({.one_attempt = true, .ttl = 30s, .at = net.now()});
  reply(granted_row(5));
  EXPECT_EQ(sink.take(), "granted ");
  lock->release(nullptr);
  net.while_blocked = [&] { net.time.advance(1s); };
  EXPECT_FALSE(client.close(net.now() + 1s));
  lock.reset();
  reply(granted_row(3));
  EXPECT_EQ(sink.take().substr(0, 5), "ended");
}

TEST_F(mysql_backend, is_closed_once_each_report_to_a_claim_has_ended) {
  struct slow_sink final : told {
    void on_granted(const seam::grant&) override {
      has_begun.count_down();
      may_end.wait();
      has_ended = true;
    }
    std::latch has_begun{1}, may_end{1};
    std::atomic<bool> has_ended = false;
  } slow;
  struct last_sink final : told {
    explicit last_sink(std::latch& l) : latch(l) {}
    void on_refused(base::failure) override { latch.count_down(); }
    std::latch& latch;
  } last(slow.may_end);
  const auto granted = client.stores().first().open("slow", slow);
  const auto refused = client.stores().first().open("last", last);
  granted->acquire({.one_attempt = true, .ttl = 30s, .at = net.now()});
  std::jthread reports([&] { reply(granted_row(5)); });
  slow.has_begun.wait();
  refused->acquire({.ttl = 30s, .at = net.now()});
  net.while_blocked = [&] { net.time.advance(0s); };
  client.close(net.now());
  EXPECT_TRUE(slow.has_ended);
}

TEST_F(mysql_backend, connects_again_at_once_to_withdraw_what_is_left) {
  leave_something();
  const std::size_t made = lose_connections();
  net.while_blocked = [&] {
    net.time.advance(1ms);
    EXPECT_EQ(connections.size(), made + 1);
    net.time.advance(1s);
  };
  EXPECT_FALSE(client.close(net.now() + 1s));
}

TEST_F(mysql_backend, reports_an_outage) {
  EXPECT_FALSE(client.is_unavailable());
  EXPECT_TRUE(client.status().connected);
  run([](time_point now, event_queue& e, auto& c) {
    c.events->on_closed({errc::unavailable, "reset by the network"}, now, e);
  });
  EXPECT_TRUE(client.is_unavailable());
  EXPECT_FALSE(client.status().connected);
  EXPECT_EQ(client.status().trouble.text, "reset by the network");
}

TEST_F(mysql_backend, connects_again_at_once_where_that_is_asked_for) {
  const std::size_t made = lose_connections();
  client.retry_now();
  net.time.advance(1ms);
  EXPECT_EQ(connections.size(), made + 1);
}

}  // namespace
}  // namespace holdfast::mysql_unit
