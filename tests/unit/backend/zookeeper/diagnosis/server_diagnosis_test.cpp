// The diagnosis of one server, which answers an administrator's word and nothing else.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "backend/zookeeper/diagnosis/diagnosis.hpp"
#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/backend/zookeeper/transport/wire.hpp"
#include "tests/unit/io/reactor/played_network.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

// A loop with a thread plays the word's connection; no session can be opened over the other one.
class word_network final : public base::environment {
 public:
  word_network() {
    net.while_blocked = [this] {
      for (; refused_ < net.streams.size(); ++refused_)
        net.streams[refused_]->events->on_closed({errc::unavailable, "no session here"});
    };
  }
  base::time_point now() noexcept override { return net.now(); }
  std::chrono::microseconds wall() noexcept override { return net.wall(); }
  void random(std::span<std::byte> out) noexcept override { net.random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return net.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return net.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& u, base::driven_by by,
                                              const char* n) override {
    if (by == base::driven_by::callers) return net.make_loop(u, by, n);
    if (!has_loops) return nullptr;
    return std::make_unique<word_loop>(*this);
  }

  io::reactor_tests::played_network net;
  std::string answer;         // before the server closes the connection
  base::duration pause = 2s;  // that passes then: an alarm that rings late changes nothing
  unsigned connections = 0;   // for the word
  bool has_loops = true;      // for it

 private:
  class word_stream final : public base::stream {
    void write(std::span<const std::byte>) noexcept override {}
    void abort() noexcept override {}
    void finish() noexcept override {}
  };
  class word_loop final : public base::event_loop {
   public:
    explicit word_loop(word_network& n) : home_(n) {}
    ~word_loop() override {
      if (thread_.joinable()) thread_.join();
    }
    std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms*,
                                          base::stream_events& to) override {
      ++home_.connections;
      thread_ = std::thread([this, &to] {
        to.on_open();
        if (!home_.answer.empty()) to.on_bytes(bytes_of(home_.answer));
        to.on_closed({errc::unavailable, "closed by the server"});
        home_.net.time.advance(home_.pause);
      });
      return std::make_unique<word_stream>();
    }
    void request_flush(bool) noexcept override {}
    void attend() noexcept override {}
    base::caller_driver* driver() noexcept override { return nullptr; }
    void forked() noexcept override {}

   private:
    word_network& home_;
    std::thread thread_;
  };

  std::size_t refused_ = 0;
};

const std::string srvr_answer = "Zookeeper version: 3.9.2\nMode: leader\n";

struct asked_server {
  zookeeper::server_facts ask() {
    return zookeeper::diagnose_server(net, settings, settings.servers.front());
  }
  word_network net;
  zookeeper::settings settings =
      settings_unit::settings_of(zookeeper::read_settings, "zookeeper://h?op-timeout=2s");
};

TEST(zookeeper_server_diagnosis, of_a_server_that_answers_its_word_has_no_failure_of_that) {
  asked_server t;
  t.net.answer = srvr_answer;
  const zookeeper::server_facts found = t.ask();
  EXPECT_EQ(found.srvr, srvr_answer);
  EXPECT_EQ(found.mode, zookeeper::server_mode::leader);
  EXPECT_FALSE(found.unreached.code);
  EXPECT_EQ(found.no_session.text, "no session here");
}

TEST(zookeeper_server_diagnosis, says_why_a_server_did_not_answer) {
  asked_server t;
  const zookeeper::server_facts found = t.ask();
  EXPECT_EQ(found.srvr, "");
  EXPECT_TRUE(found.was_open);
  EXPECT_EQ(found.unreached.text, "closed by the server");
}

TEST(zookeeper_server_diagnosis, does_not_begin_to_wait_without_a_thread_that_ends_the_wait) {
  asked_server t;
  t.net.net.time.have_threads(false);
  const zookeeper::server_facts found = t.ask();
  EXPECT_EQ(t.net.connections, 0u);
  EXPECT_EQ(found.unreached.text, "no thread can be started to ask it");
}

TEST(zookeeper_server_diagnosis, is_not_begun_without_a_loop_for_the_word) {
  asked_server t;
  t.net.has_loops = false;
  EXPECT_EQ(t.ask().unreached.text, "no thread can be started to ask it");
}

TEST(zookeeper_server_diagnosis, sends_its_word_once_however_little_time_is_left) {
  asked_server t;
  t.net.answer = srvr_answer;
  t.settings.op_timeout = 0s;
  EXPECT_EQ(t.ask().srvr, srvr_answer);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
