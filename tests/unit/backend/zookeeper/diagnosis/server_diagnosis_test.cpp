// The diagnosis of one server, which answers an administrator's word and may grant sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "backend/zookeeper/diagnosis/diagnosis.hpp"
#include "base/caller_driver.hpp"
#include "base/network.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/backend/zookeeper/transport/wire.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

// A loop with a thread plays the word's connection, and a blocked caller that of each session.
class word_network final : public base::environment {
 public:
  base::time_point now() noexcept override { return time.now(); }
  std::chrono::microseconds wall() noexcept override { return time.wall(); }
  void random(std::span<std::byte> out) noexcept override { time.random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return time.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return time.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& u, base::driven_by by,
                                              const char*) override {
    if (by == base::driven_by::callers) return std::make_unique<session_loop>(*this, u);
    if (!has_loops) return nullptr;
    return std::make_unique<word_loop>(*this);
  }

  testkit::manual_environment time;
  std::string answer;         // before the server closes the connection
  base::duration pause = 2s;  // that passes then: an alarm that rings late changes nothing
  unsigned connections = 0;   // for the word
  std::string tls_host;       // of the last one; empty: without TLS
  bool has_loops = true;      // for it
  bool has_sessions = false;
  int sessions = 0;  // that were made
  // The transaction that a sync is answered with; 0: the sync fails.
  std::function<std::int64_t()> last_transaction = [] { return 5; };

 private:
  class silent_stream final : public base::stream {
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
    std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms* tls,
                                          base::stream_events& to) override {
      ++home_.connections;
      home_.tls_host = tls ? tls->host : "";
      thread_ = std::thread([this, &to] {
        to.on_open();
        if (!home_.answer.empty()) to.on_bytes(bytes_of(home_.answer));
        to.on_closed({errc::unavailable, "closed by the server"});
        home_.time.advance(home_.pause);
      });
      return std::make_unique<silent_stream>();
    }
    void request_flush(bool) noexcept override {}
    void attend() noexcept override {}
    base::caller_driver* driver() noexcept override { return nullptr; }
    void forked() noexcept override {}

   private:
    word_network& home_;
    std::thread thread_;
  };
  // The server attaches a session, and answers each of its requests, at once.
  class session_loop final : public base::event_loop, base::caller_driver {
   public:
    session_loop(word_network& n, base::loop_user& u) : home_(n), user_(u) {}
    std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms*,
                                          base::stream_events& to) override {
      events_ = &to;
      is_new_ = true;
      written_.clear();
      return std::make_unique<stream>(written_);
    }
    void request_flush(bool) noexcept override {}
    void attend() noexcept override {}
    base::caller_driver* driver() noexcept override { return this; }
    void forked() noexcept override {}

   private:
    class stream final : public base::stream {
     public:
      explicit stream(std::string& to) : written_(to) {}
      void write(std::span<const std::byte> bytes) noexcept override {
        written_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
      void abort() noexcept override {}
      void finish() noexcept override {}

     private:
      std::string& written_;
    };
    void run_until_signalled(base::parker& p) override {
      while (std::exchange(is_new_, false))
        home_.has_sessions ? events_->on_open()
                           : events_->on_closed({errc::unavailable, "no session here"});
      for (user_.flush(); !written_.empty(); user_.flush()) {
        const std::string bytes = std::exchange(written_, {});
        zookeeper::frame_reader frames;
        frames.feed(bytes_of(bytes), [&](std::span<const std::byte> f) {
          answer(f);
          return true;
        });
      }
      p.park();
    }
    void answer(std::span<const std::byte> frame) {
      zookeeper::jute_reader r(frame);
      const std::int32_t number = r.read_int();
      if (number == 0) {
        r.skip(8);  // the last transaction seen
        const std::int32_t timeout = std::clamp(r.read_int(), 4'000, 40'000);
        return events_->on_bytes(bytes_of(connected(timeout, ++home_.sessions)));
      }
      const bool is_sync = static_cast<zookeeper::opcode>(r.read_int()) == zookeeper::opcode::sync;
      const std::int64_t last = is_sync ? home_.last_transaction() : 5;
      const auto code = last != 0 ? zookeeper::error::ok : zookeeper::error::no_auth;
      events_->on_bytes(bytes_of(replied(number, 5 + last, code)));
    }
    void sleep_until_signalled(base::follower&) override {}
    void enlist(base::follower&) noexcept override {}

    word_network& home_;
    base::loop_user& user_;
    base::stream_events* events_ = nullptr;
    bool is_new_ = false;
    std::string written_;
  };
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
  t.net.pause = 0s;
  const zookeeper::server_facts found = t.ask();
  EXPECT_EQ(t.net.connections, 1u) << "there would be time for more";
  EXPECT_EQ(found.srvr, "");
  EXPECT_TRUE(found.was_open);
  EXPECT_EQ(found.unreached.text, "closed by the server");
}

TEST(zookeeper_server_diagnosis, does_not_begin_to_wait_without_a_thread_that_ends_the_wait) {
  asked_server t;
  t.net.time.have_threads(false);
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

TEST(zookeeper_server_diagnosis, verifies_the_host_of_the_url_or_the_one_of_tls_host) {
  const std::pair<const char*, const char*> hosts[] = {{"zookeepers://h", "h"},
                                                       {"zookeepers://h?tls-host=other", "other"},
                                                       {"zookeeper://h", ""}};
  for (const auto& [url, host] : hosts) {
    asked_server t;
    t.settings = settings_unit::settings_of(zookeeper::read_settings, url);
    (void)t.ask();
    EXPECT_EQ(t.net.tls_host, host) << url;
  }
}

TEST(zookeeper_server_diagnosis, finds_the_bounds_of_the_session_timeouts) {
  asked_server t;
  t.net.has_sessions = true;
  const zookeeper::server_facts found = t.ask();
  EXPECT_TRUE(found.serves());
  EXPECT_EQ(found.shortest, 4s);
  EXPECT_EQ(found.longest, 40s);
}

TEST(zookeeper_server_diagnosis, finds_local_sessions_since_no_transaction_makes_them) {
  const auto found_with = [](std::function<std::int64_t(const asked_server&, int sync)> last) {
    asked_server t;
    t.net.has_sessions = true;
    t.net.last_transaction = [&, syncs = 0]() mutable { return last(t, ++syncs); };
    return t.ask().has_local_sessions;
  };
  EXPECT_EQ(found_with([](auto&, int) { return 5; }), true);
  EXPECT_EQ(found_with([](auto& t, int) { return t.net.sessions; }), false);
  EXPECT_EQ(found_with([](auto&, int sync) { return std::min(sync, 6); }), true)
      << "other clients' transactions came in between";
  EXPECT_EQ(found_with([](auto&, int sync) { return sync == 1 ? 0 : 5; }), std::nullopt);
  EXPECT_EQ(found_with([](auto&, int sync) { return sync == 2 ? 0 : 5; }), std::nullopt);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
