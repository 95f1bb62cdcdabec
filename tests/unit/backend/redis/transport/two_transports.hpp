// Two transports, each to a server of its own, on one reactor; the test plays the servers.
#pragma once
#include <string>
#include <utility>

#include "backend/redis/transport/transport.hpp"
#include "tests/unit/backend/redis/transport/scripted_network.hpp"

namespace holdfast::redis {

using base::event_queue;
using namespace std::chrono_literals;

inline constexpr script two_scripts[] = {{"return 1", "aaaa"}, {"return 2", "bbbb"}};

// Sends GET with a number at each write that it was asked for, over the commands or the renewals,
// and writes down what comes back.
class counting_source final : public request_source, public reply_handler {
 public:
  void write_requests(lane what, request_writer& to) override {
    for (; to_send > 0; --to_send) {
      to.plain("GET", ++sent);
      to.expect(*this, replies_each, over->reactor().env().now());
    }
    if (what == lane::renewals && std::exchange(renews, false)) {
      to.plain("GET", ++sent);
      to.expect(*this, 1, over->reactor().env().now());
    }
    if (what == lane::commands && std::exchange(calls, false)) {
      to.call(two_scripts[0], 0, 0);
      to.expect(*this, 1, over->reactor().env().now());
    }
  }
  void on_ready(lane what, time_point, event_queue&) override {
    log += "ready" + std::to_string(static_cast<int>(what)) + ' ';
    moves += over->has_moved();
  }
  void on_agreed(time_point) override { log += "agreed "; }
  void on_down(lane, const base::failure&, loss kind, time_point, event_queue&) override {
    log += "down ";
    last_loss = kind;
  }
  void on_silent(lane, time_point) override { log += "silent "; }
  void on_data_in_doubt() override { log += "doubt "; }
  void on_tick(time_point now, event_queue&) override {
    if (now < tick_at) return over->tick_by(tick_at);
    log += "tick ";
    tick_at = base::never;
  }
  bool is_in_use() const noexcept override { return in_use; }

  void on_reply(const value& v, const reply_context& c) override {
    log += '=' + std::string(v.text()) + (c.is_doubted ? "? " : " ");
    left_of_a_minute = c.left_of(1min);
  }
  void on_not_executed(not_executed, const value&, const reply_context&) override {
    log += "unknown ";
    calls = true;
  }
  void on_cut(const reply_context&) override { log += "cut "; }

  std::string take_log() { return std::exchange(log, {}); }

  transport* over = nullptr;
  int to_send = 0, sent = 0, moves = 0;
  std::uint32_t replies_each = 1;
  bool calls = false, renews = false, in_use = false;
  time_point tick_at = base::never;
  std::string log;
  loss last_loss{};
  base::duration left_of_a_minute{};  // that the last reply would have told
};

class early_or_late final : public message_handler {
 public:
  void on_subscribed(time_point, event_queue&) override { heard += "+ "; }
  void on_unsubscribed(time_point, event_queue&) override { heard += "- "; }
  void on_message(std::string_view payload, time_point, event_queue&) override {
    heard += std::string(payload) + ' ';
  }
  std::string heard;
};

class two_transports : public testing::Test {
 protected:
  two_transports() {
    a.over = &one;
    b.over = &two;
    const std::lock_guard guard(reactor.mutex());
    one.serve(a);
    two.serve(b);
  }
  static endpoint to(const std::string& host) {
    endpoint e;
    e.where.host = host;
    e.retry_base = 50ms;
    e.connect_timeout = 1s;
    e.op_timeout = 4s;
    e.probe = 1s;
    e.text = "redis://" + host;
    return e;
  }
  void open(transport& t, lane what = lane::commands) {
    const std::lock_guard guard(reactor.mutex());
    t.open(what, net.now());
  }
  // Opens the n-th connection and says which server it has reached. Returns what is requested then.
  std::string introduce(std::size_t n, const std::string& run_id, const std::string& history,
                        const std::string& before = "0") {
    net.open(n);
    net.received(n);
    const std::string id = std::to_string(n + 1);
    net.reply(n, "+OK\r\n:" + id + "\r\n" + introduction(run_id, history, before));
    net.flush();
    return commands_in(net.lines.at(n)->written);
  }
  // Opens the n-th connection and answers its handshake.
  void greet(std::size_t n, const std::string& run_id = "r1", const std::string& history = "h",
             const std::string& before = "0") {
    const std::string asked = introduce(n, run_id, history, before);
    if (!asked.starts_with("CLIENT KILL")) return;  // else older connections are to end first
    net.received(n);
    for (std::size_t at = 0; (at = asked.find("KILL", at)) != asked.npos; ++at)
      net.reply(n, ":1\r\n");
  }
  // The same, by a server that has sharded channels.
  void greet_as_redis_7(std::size_t n) {
    net.open(n);
    net.received(n);
    net.reply(n, "+OK\r\n:" + std::to_string(n + 1) + "\r\n" + bulk("laddr=127.0.0.1:6379") +
                     bulk("# Server\r\nredis_version:7.0.15\r\nrun_id:r1\r\n") + replication("h"));
  }
  // Likewise, by a server where the user may use neither INFO nor HELLO. Returns what the
  // connection requests then.
  std::string greet_without_info(std::size_t n) {
    net.open(n);
    net.received(n);
    net.reply(n, greeting_without_info(static_cast<int>(n) + 1));
    return net.received(n);
  }
  // Opens the connection for messages of `one` at such a server, as the n-th. Returns its channel.
  std::string listen_without_info(std::size_t n) {
    const std::string asked = greet_without_info(n), before = "HELLO 2 | SUBSCRIBE ";
    if (!asked.starts_with(before)) return asked;
    const std::string channel = asked.substr(before.size());
    net.reply(n, "*3\r\n" + bulk("subscribe") + bulk(channel) + ":1\r\n");
    return channel;
  }
  // The connections of `one` for commands, messages and renewals are the first three.
  void have_three() {
    open(one);
    greet(0, "r1", "ha");
    open(one, lane::messages);
    greet(1, "r1", "ha");
    open(one, lane::renewals);
    greet(2, "r1", "ha");
    a.take_log();
  }
  bool is_ready(lane what) {
    const std::lock_guard guard(reactor.mutex());
    return one.is_ready(what);
  }
  bool agrees() {
    const std::lock_guard guard(reactor.mutex());
    return one.lanes_agree();
  }
  void have_both() {
    open(one);
    open(two);
    greet(0);
    greet(1);
    a.log.clear();
    b.log.clear();
  }

  scripted_network net;
  io::client_reactor reactor{net, {"alarm", "loop", "own"}, "redis://both"};
  const endpoint first = to("first"), second = to("second");
  counting_source a, b;
  transport one{reactor, first, two_scripts}, two{reactor, second, two_scripts};
  ~two_transports() override { reactor.stop(); }
};

}  // namespace holdfast::redis
