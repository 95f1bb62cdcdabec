// A client whose server answers whatever it likes: every call ends, with an outcome, in bounded
// time. The input is a list of records: the number of a connection, a length, and so many bytes.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/client_access.hpp"
#include "core/network.hpp"
#include "core/parker.hpp"
#include "testkit/manual_environment.hpp"

namespace {

using namespace std::chrono_literals;
namespace core = holdfast::core;

void require(bool fact) {
  if (!fact) std::abort();
}

class fuzzed_world;

class fuzzed_stream final : public core::stream {
 public:
  fuzzed_stream(fuzzed_world& w, core::stream_events& e) : events(&e), world_(w) {}
  ~fuzzed_stream() override;
  void write(std::span<const std::byte>) noexcept override {}
  void abort() noexcept override { ends = true; }
  void finish() noexcept override { ends = true; }

  core::stream_events* events;  // null: it has told its last
  bool is_open = false, ends = false;

 private:
  fuzzed_world& world_;
};

// Time stands still but when nothing else can happen; then it moves on to the next alarm.
class fuzzed_world final : public core::environment, public core::driver {
 public:
  explicit fuzzed_world(std::span<const std::uint8_t> input) : left_(input) {}
  core::time_point now() noexcept override { return time_.now(); }
  std::chrono::microseconds wall() noexcept override { return time_.wall(); }
  void random(std::span<std::byte> out) noexcept override { time_.random(out); }
  std::unique_ptr<core::alarm> make_alarm(core::alarm_target& t, const char* n) override {
    return time_.make_alarm(t, n);
  }
  std::unique_ptr<core::worker> make_worker(const char* n) override { return time_.make_worker(n); }
  std::unique_ptr<core::event_loop> make_loop(core::loop_user&, core::driven_by,
                                              const char*) override;

  void run_until_signalled(core::parker& p) override {
    for (int steps = 0; !p.signalled(); ++steps) {
      require(steps < 20'000);  // it hangs
      step();
    }
  }
  void attend() noexcept override {}

  std::vector<core::loop_user*> users;
  std::vector<fuzzed_stream*> streams;

 private:
  // One thing happens.
  void step() {
    for (core::loop_user* u : std::vector(users)) u->flush();
    for (fuzzed_stream* s : streams) {
      if (!s->events) continue;
      if (s->ends || (left_.size() < 2 && !s->is_open)) return close(*s);
      if (s->is_open) continue;
      s->is_open = true;
      return s->events->on_open();
    }
    if (left_.size() >= 2) return deliver();
    for (fuzzed_stream* s : streams)
      if (s->events) return close(*s);
    require(time_.advance_to_next_alarm());
  }
  static void close(fuzzed_stream& s) {
    std::exchange(s.events, nullptr)->on_closed({holdfast::errc::unavailable, "it is closed"});
  }
  void deliver() {
    std::vector<fuzzed_stream*> open;
    std::copy_if(streams.begin(), streams.end(), std::back_inserter(open),
                 [](const fuzzed_stream* s) { return s->events && s->is_open; });
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

fuzzed_stream::~fuzzed_stream() { std::erase(world_.streams, this); }

class fuzzed_loop final : public core::event_loop {
 public:
  fuzzed_loop(fuzzed_world& w, core::loop_user& u, bool lends)
      : world_(w), user_(u), lends_(lends) {
    world_.users.push_back(&user_);
  }
  ~fuzzed_loop() override { std::erase(world_.users, &user_); }
  std::unique_ptr<core::stream> connect(const core::address&, const core::tls_terms*,
                                        core::stream_events& e) override {
    auto made = std::make_unique<fuzzed_stream>(world_, e);
    world_.streams.push_back(made.get());
    return made;
  }
  void collected(bool) noexcept override {}
  void attend() noexcept override {}
  core::driver* lend() noexcept override { return lends_ ? &world_ : nullptr; }
  void forked() noexcept override {}

 private:
  fuzzed_world& world_;
  core::loop_user& user_;
  const bool lends_;
};

std::unique_ptr<core::event_loop> fuzzed_world::make_loop(core::loop_user& u, core::driven_by how,
                                                          const char*) {
  return std::make_unique<fuzzed_loop>(*this, u, how == core::driven_by::callers);
}

void use(const holdfast::client& c) {
  const auto m = c.mutex("fuzzed");
  auto mine = m.try_acquire_for(10s, {.ttl = 3s});
  if (mine) {
    require(mine.token() > 0);
    std::error_code ec;
    mine.extend(5s, ec);
    mine.release(ec);
    require(!mine);
  }
  {
    const auto first = m.try_acquire();
    const auto second = m.try_acquire();
    require(!(first.held() && second.held()));
  }
  (void)c.inspect();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool silent = (holdfast::set_log_hook(nullptr), true);
  (void)silent;
  fuzzed_world world({data, size});
  try {
    const auto where = holdfast::url::parse("redis://127.0.0.1:6379?connect-timeout=2s");
    auto c = holdfast::detail::client_access::open(where, {}, world);
    try {
      use(c);
    } catch (const holdfast::lock_error&) {}
    c.close();
  } catch (const holdfast::lock_error& e) {
    require(std::string_view(e.what()).size() > 0);
  }
  return 0;
}
