// A session without sockets: the test is the network, the server and the clock.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "backend/zookeeper/transport/session.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/zookeeper/transport/wire.hpp"

namespace holdfast::zookeeper_unit {

using base::duration;
using base::time_point;
using zookeeper::channel;
using namespace std::chrono_literals;

inline constexpr duration session_timeout = 12s;
inline constexpr std::int32_t timeout_ms = 12'000;
inline constexpr std::int64_t session_id = 0x77;

inline zookeeper::ensemble ensemble_of(std::size_t servers) {
  zookeeper::ensemble e;
  for (std::size_t i = 0; i < servers; ++i)
    e.servers.push_back({.host = std::string(1, static_cast<char>('a' + i)), .port = 1});
  e.session_timeout = session_timeout;
  e.connect_timeout = 3s;
  e.retry_base = 50ms;
  return e;
}

class session_fixture : public zookeeper::session_host {
 public:
  explicit session_fixture(zookeeper::ensemble e = ensemble_of(1))
      : terms(std::move(e)), s(*this, terms) {}

  // Opens it and attaches a new session.
  void attach() {
    s.open(now());
    open();
    give(connected(timeout_ms, session_id));
    (void)sent();
  }
  void open(channel c = channel::session) { s.opened(c, now(), events); }
  void give(std::string_view bytes, channel c = channel::session) {
    s.received(c, bytes_of(bytes), now(), events);
  }
  void lose(channel c = channel::session) {
    is_open[static_cast<int>(c)] = false;
    s.closed(c, {errc::unavailable, "reset"}, now(), events);
  }
  // Lets the time pass, and rings the alarms in it.
  void pass(duration d) {
    const time_point until = now() + d;
    while (wake <= until) {
      const time_point at = std::exchange(wake, base::never);
      if (at > now()) machine.freeze(at - now());
      s.on_alarm(now(), events);
    }
    if (until > now()) machine.freeze(until - now());
  }
  void pass_silently(duration d) { machine.freeze(d); }  // the process is stopped
  time_point now() { return machine.now(); }
  // What was written since, in frames' hexadecimal digits without their lengths.
  std::vector<std::string> sent(channel c = channel::session) {
    std::vector<std::string> out;
    zookeeper::frame_reader reader;
    const std::string bytes = std::exchange(s.out(c), {});
    reader.feed(bytes_of(bytes), [&](std::span<const std::byte> f) {
      out.push_back(hex_of({reinterpret_cast<const char*>(f.data()), f.size()}));
      return true;
    });
    return out;
  }
  std::vector<std::string> take_log() { return std::exchange(log, {}); }
  bool is_connected(channel c = channel::session) const { return is_open[static_cast<int>(c)]; }

  testkit::manual_environment machine;
  zookeeper::ensemble terms;
  std::vector<std::string> log;     // what the owner was told, but for deadlines
  std::vector<std::string> places;  // where connections went: "session a", "mode a"
  time_point deadline = base::never;
  int deadlines = 0;  // that were told
  time_point wake = base::never;
  bool has_descriptors = true;
  std::function<void()> when_lost;
  base::failure why_lost;
  base::event_queue events;
  bool is_open[2] = {false, false};
  zookeeper::session s;

 private:
  bool connect(channel c, const base::address& where, base::failure& why) override {
    if (!has_descriptors) why = {errc::unavailable, "no descriptor"};
    if (!has_descriptors) return false;
    is_open[static_cast<int>(c)] = true;
    places.push_back((c == channel::session ? "session " : "mode ") + where.host);
    return true;
  }
  void disconnect(channel c) noexcept override { is_open[static_cast<int>(c)] = false; }
  void wake_by(time_point t) override { wake = std::min(wake, t); }
  base::environment& env() override { return machine; }
  void on_attached(bool is_new, time_point, base::event_queue&) override {
    log.push_back(is_new ? "new" : "again");
  }
  void on_deadline(time_point t, base::event_queue&) override {
    deadline = t;
    ++deadlines;
  }
  void on_doubtful(base::event_queue&) override { log.push_back("doubtful"); }
  void on_session_lost(const base::failure& why, base::event_queue&) override {
    log.push_back("lost");
    why_lost = why;
    if (when_lost) when_lost();
  }
  void on_watch(const zookeeper::watch_event& e, time_point, base::event_queue&) override {
    log.push_back("watch " + std::string(e.path));
  }
  void on_down(const base::failure&, time_point, base::event_queue&) override {
    log.push_back("down");
  }
  void on_ended(const base::failure& why, base::event_queue&) override {
    log.push_back(why.code ? "refused" : "ended");
  }
};

// Notes what becomes of its requests.
struct noted_replies : zookeeper::reply_handler {
  std::vector<std::string> log;
  bool wanted = true;
  bool has_requester() const noexcept override { return wanted; }
  void on_reply(const zookeeper::reply& r, const zookeeper::reply_context&) override {
    log.push_back(std::to_string(static_cast<int>(r.head.code)));
  }
  void on_cut(bool was_sent, const zookeeper::reply_context&) override {
    log.push_back(was_sent ? "cut" : "not sent");
  }
};

using strings = std::vector<std::string>;

}  // namespace holdfast::zookeeper_unit
