// A world in which a server answers whatever it likes. The input is a list of records: the number
// of a connection, a length, and so many bytes.
#pragma once
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/client_access.hpp"
#include "base/caller_driver.hpp"
#include "base/network.hpp"
#include "testkit/manual_environment.hpp"

namespace fuzzed {

using namespace std::chrono_literals;
namespace base = holdfast::base;

inline void require(bool fact) {
  if (!fact) std::abort();
}

class world;

class stream final : public base::stream {
 public:
  stream(world& w, base::stream_events& e) : events(&e), world_(w) {}
  ~stream() override;
  void write(std::span<const std::byte>) noexcept override {}
  void abort() noexcept override { ends = true; }
  void finish() noexcept override { ends = true; }

  base::stream_events* events;  // null: it has told its last
  bool is_open = false, ends = false;

 private:
  world& world_;
};

// Time stands still but when nothing else can happen; then it moves on to the next alarm.
class world final : public base::environment, public base::caller_driver {
 public:
  explicit world(std::span<const std::uint8_t> input) : left_(input) {}
  base::time_point now() noexcept override { return time_.now(); }
  std::chrono::microseconds wall() noexcept override { return time_.wall(); }
  void random(std::span<std::byte> out) noexcept override { time_.random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return time_.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return time_.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user&, base::driven_by,
                                              const char*) override;

  void run_until_signalled(base::parker& p) override {
    for (int steps = 0; !p.signalled(); ++steps) {
      require(steps < 20'000);  // it hangs
      step();
    }
  }
  void sleep_until_signalled(base::follower& f) override { run_until_signalled(f.parker); }
  void enlist(base::follower&) noexcept override {}
  void attend() noexcept override {}

  std::vector<base::loop_user*> users;
  std::vector<stream*> streams;

 private:
  // One thing happens.
  void step() {
    for (base::loop_user* u : std::vector(users)) u->flush();
    for (stream* s : streams) {
      if (!s->events) continue;
      if (s->ends || (left_.size() < 2 && !s->is_open)) return close(*s);
      if (s->is_open) continue;
      s->is_open = true;
      return s->events->on_open();
    }
    if (left_.size() >= 2) return deliver();
    for (stream* s : streams)
      if (s->events) return close(*s);
    require(time_.advance_to_next_alarm());
  }
  static void close(stream& s) {
    std::exchange(s.events, nullptr)->on_closed({holdfast::errc::unavailable, "it is closed"});
  }
  void deliver() {
    std::vector<stream*> open;
    std::copy_if(streams.begin(), streams.end(), std::back_inserter(open),
                 [](const stream* s) { return s->events && s->is_open; });
    const std::size_t which = left_[0];
    const auto bytes = left_.subspan(2).first(std::min<std::size_t>(left_[1], left_.size() - 2));
    left_ = left_.subspan(2 + bytes.size());
    if (open.empty())
      time_.advance(10ms);
    else
      open[which % open.size()]->events->on_bytes(std::as_bytes(bytes));
  }

  std::span<const std::uint8_t> left_;
  holdfast::testkit::manual_environment time_;
};

inline stream::~stream() { std::erase(world_.streams, this); }

class loop final : public base::event_loop {
 public:
  loop(world& w, base::loop_user& u, bool lends) : world_(w), user_(u), lends_(lends) {
    world_.users.push_back(&user_);
  }
  ~loop() override { std::erase(world_.users, &user_); }
  std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms*,
                                        base::stream_events& e) override {
    auto made = std::make_unique<stream>(world_, e);
    world_.streams.push_back(made.get());
    return made;
  }
  void request_flush(bool) noexcept override {}
  void attend() noexcept override {}
  base::caller_driver* driver() noexcept override { return lends_ ? &world_ : nullptr; }
  void forked() noexcept override {}

 private:
  world& world_;
  base::loop_user& user_;
  const bool lends_;
};

inline std::unique_ptr<base::event_loop> world::make_loop(base::loop_user& u, base::driven_by how,
                                                          const char*) {
  return std::make_unique<loop>(*this, u, how == base::driven_by::callers);
}

// Opens a client in a world of this input and uses it; every call ends, with an outcome.
template <class Use>
void play(std::span<const std::uint8_t> input, Use use) {
  static const bool silent = (holdfast::set_log_hook(nullptr), true);
  (void)silent;
  world w(input);
  try {
    const auto where = holdfast::url::parse("redis://127.0.0.1:6379?op-timeout=2s");
    auto c = holdfast::detail::client_access::open(where, {}, w);
    try {
      use(c);
    } catch (const holdfast::lock_error&) {}
    c.close();
  } catch (const holdfast::lock_error& e) {
    require(std::string_view(e.what()).size() > 0);
  }
}

}  // namespace fuzzed
