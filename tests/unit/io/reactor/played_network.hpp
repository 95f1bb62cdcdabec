// An environment whose network a test plays by hand: streams, watched descriptors and loops only
// write down what is asked of them.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/network.hpp"
#include "io/reactor/client_reactor.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::io::reactor_tests {

using base::driven_by;
using base::event_queue;
using base::failure;
using base::time_point;
using namespace std::chrono_literals;

class played_network final : public base::environment, private base::caller_driver {
 public:
  class loop;
  struct stream_state {
    base::stream_events* events = nullptr;
    driven_by over{};
    std::string written;
    bool is_aborted = false, is_gone = false;
  };

  base::time_point now() noexcept override { return time.now(); }
  std::chrono::microseconds wall() noexcept override { return time.wall(); }
  void random(std::span<std::byte> out) noexcept override { time.random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return time.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return time.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user&, driven_by, const char*) override;

  std::string take_log() { return std::exchange(log, {}); }
  void write_down(std::string_view what) { log.append(what) += ' '; }

  testkit::manual_environment time;
  std::vector<std::shared_ptr<stream_state>> streams;
  base::loop_user *callers = nullptr, *own = nullptr;  // of the two loops; null: there is none
  base::descriptor_events* watched = nullptr;
  base::readiness awaited = base::readiness::none;
  bool has_threads = true;
  bool watches_descriptors = true;
  bool has_descriptors = true;  // for connections
  std::string log;
  std::function<void()> while_blocked = [] {};  // played by the thread that blocks
  std::function<void()> on_loop_end = [] {};    // of the loop of callers
  std::function<void()> while_writing;          // played once, before the bytes are written

 private:
  void run_until_signalled(base::parker& p) override {
    while_blocked();
    p.park();
  }
  void sleep_until_signalled(base::follower&) override {}
  void enlist(base::follower&) noexcept override {}
  void attend() noexcept override {}
};

class played_network::loop final : public base::event_loop {
 public:
  loop(played_network& n, base::loop_user& u, driven_by by) : net_(n), by_(by) { user() = &u; }
  ~loop() override {
    user() = nullptr;
    if (by_ == driven_by::callers) net_.on_loop_end();
    net_.write_down(by_ == driven_by::callers ? "loop-ends" : "own-loop-ends");
  }
  std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms*,
                                        base::stream_events& e) override {
    if (!net_.has_descriptors)
      throw std::system_error(std::make_error_code(std::errc::too_many_files_open));
    auto made = std::make_shared<stream_state>();
    made->events = &e;
    made->over = by_;
    net_.streams.push_back(made);
    return std::make_unique<stream>(net_, std::move(made));
  }
  std::unique_ptr<base::descriptor_watch> watch(int, base::readiness r,
                                                base::descriptor_events& e) override {
    if (!net_.watches_descriptors) return nullptr;
    net_.watched = &e;
    net_.awaited = r;
    return std::make_unique<descriptor>(net_);
  }
  void request_flush(bool at_once) noexcept override {
    net_.write_down(by_ == driven_by::thread ? "own-flush" : at_once ? "flush" : "flush-soon");
  }
  void attend() noexcept override { net_.write_down("attend"); }
  base::caller_driver* driver() noexcept override {
    return by_ == driven_by::callers ? &net_ : nullptr;
  }
  void forked() noexcept override { net_.write_down("forked"); }

 private:
  class stream final : public base::stream {
   public:
    stream(played_network& n, std::shared_ptr<stream_state> s) : net_(n), state_(std::move(s)) {}
    ~stream() override { state_->is_gone = true; }
    void write(std::span<const std::byte> bytes) noexcept override {
      if (const auto played = std::exchange(net_.while_writing, nullptr)) played();
      state_->written.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    void abort() noexcept override { state_->is_aborted = true; }
    void finish() noexcept override {}

   private:
    played_network& net_;
    const std::shared_ptr<stream_state> state_;
  };
  class descriptor final : public base::descriptor_watch {
   public:
    explicit descriptor(played_network& n) : net_(n) {}
    ~descriptor() override { net_.watched = nullptr; }
    void set(base::readiness r) noexcept override { net_.awaited = r; }
    void cancel() noexcept override {}

   private:
    played_network& net_;
  };

  base::loop_user*& user() noexcept { return by_ == driven_by::callers ? net_.callers : net_.own; }

  played_network& net_;
  const driven_by by_;
};

inline std::unique_ptr<base::event_loop> played_network::make_loop(base::loop_user& u, driven_by by,
                                                                   const char*) {
  if (!has_threads)
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  return std::make_unique<loop>(*this, u, by);
}

inline constexpr client_reactor::thread_names names{"alarm", "loop", "own loop"};

// Asked on a thread of its own: the one that calls may own it.
inline bool is_free(std::mutex& m) {
  bool out = false;
  std::thread([&] {
    const std::unique_lock guard(m, std::try_to_lock);
    out = guard.owns_lock();
  }).join();
  return out;
}

// A claim of which only the events count: it writes down each one that is dispatched.
class dispatched final : public base::event_source {
 public:
  dispatched(played_network& n, std::mutex& m) : net_(n), mutex_(m) {}

 private:
  void on_event(base::claim_event) override {
    net_.write_down(is_free(mutex_) ? "dispatched" : "dispatched-with-the-mutex");
  }
  void on_retired() noexcept override {}

  played_network& net_;
  std::mutex& mutex_;
};

}  // namespace holdfast::io::reactor_tests
