// One connection whose server and owner are played by the test.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/redis/transport/connection.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using namespace std::chrono_literals;

class deaf_stream final : public base::stream {
  void write(std::span<const std::byte>) noexcept override {}
  void abort() noexcept override {}
  void finish() noexcept override {}
};

// Writes down what happens, as its replies do.
class recording_owner final : public connection_owner {
 public:
  bool may_open(connection&, time_point) override { return true; }
  bool accepts(connection&, failure& why, time_point, event_queue&) override {
    if (!is_accepting) why = {errc::unavailable, "another server"};
    return is_accepting;
  }
  bool lanes_agree() const noexcept override { return true; }
  void on_demoted(time_point, event_queue&) override { log += "demoted "; }
  void on_ready(connection&, time_point, event_queue&) override { log += "ready "; }
  void on_data_in_doubt() override { log += "doubt "; }
  void on_script_missing(std::uint16_t script) override {
    log += "script " + std::to_string(script) + ' ';
  }
  void on_message(std::string_view channel, std::string_view payload, time_point,
                  event_queue&) override {
    log += std::string(channel) + ':' + std::string(payload) + ' ';
  }
  void on_unsubscribed(std::string_view channel, time_point, event_queue&) override {
    log += std::string(channel) + ":ended ";
  }
  void on_down(connection&, const failure& why, loss how, time_point, event_queue&) override {
    log += how == loss::in_use ? "down " : how == loss::refused ? "refused " : "unreached ";
    last = why;
  }
  void on_silent(connection&, time_point) override { log += "silent "; }
  void on_heard(connection&, time_point) override { log += "heard "; }
  std::shared_ptr<io::attached_stream> connect(connection& c, failure& why) override {
    ++connects;
    if (!has_descriptors) {
      why = {errc::unavailable, "no descriptor"};
      return nullptr;
    }
    return std::make_shared<io::attached_stream>(c, std::make_unique<deaf_stream>());
  }
  void wake_by(time_point t) override { wake = std::min(wake, t); }
  base::environment& env() override { return time; }

  testkit::manual_environment time;
  std::string log;
  failure last;
  time_point wake = base::never;
  int connects = 0;
  bool has_descriptors = true, is_accepting = true;
};

class named_reply final : public reply_handler {
 public:
  named_reply(recording_owner& o, std::string name) : to_(o), name_(std::move(name)) {}
  void on_reply(const value& v, const reply_context& c) override {
    to_.log += name_ + '=' + (v.is(value::kind::integer) ? std::to_string(v.integer()) : "") +
               std::string(v.text()) + std::string(c.aborted) + (c.is_doubted ? "? " : " ");
  }
  void on_not_executed(not_executed why, const value&, const reply_context&) override {
    constexpr const char* reasons[] = {"=unknown ", "=moved ", "=ask ", "=again "};
    to_.log += name_ + reasons[static_cast<unsigned>(why)];
  }
  void on_cut(const reply_context&) override { to_.log += name_ + "=cut "; }
  bool needs_master() const noexcept override { return !looks_only; }

  bool looks_only = false;

 private:
  recording_owner& to_;
  const std::string name_;
};

class one_connection : public testing::Test {
 protected:
  one_connection() {
    e.retry_base = 50ms;
    e.connect_timeout = 1s;
    e.op_timeout = 4s;
  }
  time_point now() { return o.time.now(); }
  void hear(std::string_view bytes) { c.on_bytes(std::as_bytes(std::span(bytes)), now(), events); }
  void make_ready() {
    c.open(now());
    c.on_open(now(), events);
    hear(greeting(7, "r1"));
    c.out().clear();
    o.log.clear();
    o.wake = base::never;
  }
  void send(reply_handler& to, std::uint32_t replies = 1) { c.expect(to, replies, now()); }
  // The clock moves on to the next alarm.
  duration until_alarm() {
    const duration d = o.wake - now();
    o.time.freeze(d);
    o.wake = base::never;
    c.on_alarm(now(), events);
    return d;
  }
  std::string log() { return std::exchange(o.log, {}); }

  endpoint e;
  subscriptions channels;
  event_queue events;
  recording_owner o;
  connection c{o, e, lane::commands, channels};
  named_reply a{o, "a"}, b{o, "b"};
};

}  // namespace holdfast::redis
