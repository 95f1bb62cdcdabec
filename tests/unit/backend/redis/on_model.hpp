// A client of Redis without a server: its connections end at the simulator's model, and time stands
// still unless nothing else can happen. One thread.
#pragma once
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/client_access.hpp"
#include "base/caller_driver.hpp"
#include "base/network.hpp"
#include "base/parker.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::redis {

class on_model : public base::environment, public base::caller_driver {
 public:
  on_model() : model([this] { return time.wall(); }) {}

  client open(std::string_view options = {}) {
    return detail::client_access::open(url::parse("redis://model:1?" + std::string(options)), {},
                                       *this);
  }
  client open_url(std::string_view url) {
    return detail::client_access::open(url::parse(url), {}, *this);
  }
  // What the server answers to a command of somebody else.
  std::string command(std::initializer_list<std::string_view> argv) {
    return command_at(model, argv);
  }
  std::string command_at(sim::model_redis& server, std::initializer_list<std::string_view> argv) {
    const int c = server.connect(nobody_);
    const std::string answer = server.execute(c, std::span(argv.begin(), argv.size()));
    server.disconnect(c);
    return answer;
  }
  // Then, once somebody waits long enough.
  void at(base::duration d, std::function<void()> what) {
    later_.push_back(std::make_unique<later>());
    later_.back()->what = std::move(what);
    later_.back()->alarm = make_alarm(*later_.back(), "test");
    later_.back()->alarm->set(now() + d);
  }
  // Everything happens that is due by then.
  void pass(base::duration d) {
    base::parker end;
    at(d, [&] { end.signal(); });
    run_until_signalled(end);
  }
  // Whether callers would have to drive the loop for the sake of others.
  bool has_pending_replies() const noexcept {
    return std::ranges::any_of(loops_, [](const loop* l) {
      return l->lends && l->user.has_pending_replies();
    });
  }
  // Whatever the server sends goes through this, if it is set.
  std::function<std::string(std::string)> changed;
  bool refuses_connections = false;  // the new ones
  // Servers that are out of reach, once their connections have ended; and stopped ones, whose bytes
  // arrive once they go on.
  std::vector<const sim::model_redis*> dead, stopped;
  std::vector<base::time_point> connection_attempts;

  testkit::manual_environment time;
  sim::model_redis model;
  sim::model_redis second{[this] { return time.wall(); }, 1};  // of the host "second"
  sim::model_redis third{[this] { return time.wall(); }, 2};   // of the host "third"

  base::time_point now() noexcept override { return time.now(); }
  std::chrono::microseconds wall() noexcept override { return time.wall(); }
  void random(std::span<std::byte> out) noexcept override { time.random(out); }
  base::process_identity process() override { return {"here", 1}; }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return time.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return time.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& u, base::driven_by by,
                                              const char*) override {
    return std::make_unique<loop>(*this, u, by == base::driven_by::callers);
  }

  void run_until_signalled(base::parker& p) override {
    for (int steps = 0; !p.signalled() && steps < 20'000; ++steps) step();
  }
  void sleep_until_signalled(base::follower& f) override { run_until_signalled(f.parker); }
  void enlist(base::follower&) noexcept override {}
  void attend() noexcept override {}

 private:
  struct later final : base::alarm_target {
    void on_alarm(base::time_point) override { what(); }
    std::function<void()> what;
    std::unique_ptr<base::alarm> alarm;
  };

  struct end_of_nobody final : sim::peer {
    void deliver(std::string_view) override {}
    void kicked() override {}
  };

  class stream final : public base::stream, public sim::peer {
   public:
    stream(on_model& w, sim::model_redis& server, base::stream_events& e)
        : events(&e), world_(w), server_(server), handle_(server.connect(*this)) {
      w.streams_.push_back(this);
    }
    ~stream() override {
      server_.disconnect(handle_);
      std::erase(world_.streams_, this);
    }
    void write(std::span<const std::byte> b) noexcept override {
      server_.receive(handle_, {reinterpret_cast<const char*>(b.data()), b.size()});
    }
    void abort() noexcept override { ends_ = true; }
    void finish() noexcept override { ends_ = true; }
    void deliver(std::string_view bytes) override { arrived_ += bytes; }
    void kicked() override { ends_ = true; }

    // True when something happened.
    bool step() {
      if (!events) return false;
      if (std::ranges::find(world_.stopped, &server_) != world_.stopped.end()) return false;
      const bool is_dead = std::ranges::find(world_.dead, &server_) != world_.dead.end();
      if (!is_open_ && (world_.refuses_connections || is_dead)) return be_closed(), true;
      if (!std::exchange(is_open_, true)) return events->on_open(), true;
      if (!arrived_.empty()) {
        std::string bytes = std::exchange(arrived_, {});
        if (world_.changed) bytes = world_.changed(std::move(bytes));
        return events->on_bytes(std::as_bytes(std::span(bytes))), true;
      }
      if (!ends_) return false;
      return be_closed(), true;
    }

    base::stream_events* events;  // null: it has had its last

   private:
    void be_closed() {
      std::exchange(events, nullptr)->on_closed({errc::unavailable, "it is closed"});
    }

    on_model& world_;
    sim::model_redis& server_;
    const int handle_;
    bool is_open_ = false, ends_ = false;
    std::string arrived_;
  };

  class loop final : public base::event_loop {
   public:
    loop(on_model& w, base::loop_user& u, bool by_callers) : user(u), lends(by_callers), world_(w) {
      world_.loops_.push_back(this);
    }
    ~loop() override { std::erase(world_.loops_, this); }
    std::unique_ptr<base::stream> connect(const base::address& to, const base::tls_terms*,
                                          base::stream_events& e) override {
      world_.connection_attempts.push_back(world_.now());
      auto& server = to.host == "second"  ? world_.second
                     : to.host == "third" ? world_.third
                                          : world_.model;
      return std::make_unique<stream>(world_, server, e);
    }
    void request_flush(bool) noexcept override {}
    void attend() noexcept override {}
    base::caller_driver* driver() noexcept override { return lends ? &world_ : nullptr; }
    void forked() noexcept override {}

    base::loop_user& user;
    const bool lends;  // to callers, who drive it

   private:
    on_model& world_;
  };

  void step() {
    for (loop* const l : std::vector(loops_)) l->user.flush();
    for (stream* const s : std::vector(streams_))
      if (s->step()) return;
    if (!time.advance_to_next_alarm()) time.run_jobs();
  }

  end_of_nobody nobody_;
  std::vector<std::unique_ptr<later>> later_;
  std::vector<loop*> loops_;
  std::vector<stream*> streams_;
};

// Counts the answers by which servers refuse to write, until another test function or its own end
// takes its place at `changed`.
class refused_writes {
 public:
  explicit refused_writes(on_model& w) : world_(w) {
    w.changed = [this](std::string bytes) {
      count += bytes.find("MISCONF") != bytes.npos;
      return bytes;
    };
  }
  ~refused_writes() { world_.changed = nullptr; }
  refused_writes(const refused_writes&) = delete;
  refused_writes& operator=(const refused_writes&) = delete;

  int count = 0;

 private:
  on_model& world_;
};

}  // namespace holdfast::redis
