// A lock store in the hands of a test of one thread: it notes the verbs of its claims and answers
// them at once. It grants every request, and excludes no other claim. Next to it an environment
// that calls the test whenever its clock is read.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "seam/backend.hpp"
#include "seam/registry.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::cohort_tests {

class noting_store final : public seam::lock_store, public seam::connection {
 public:
  class claim;

  using signal = seam::contention_signal;
  explicit noting_store(base::environment& e, unsigned modes = 7, signal waiters = signal::push)
      : env(e) {
    can_.contention = waiters;
    can_.modes = modes;
    can_.processes = true;
  }
  // A client of a store of its own.
  static client open(base::environment&, std::string_view options = {});
  static noting_store& of(const client& c) {
    return static_cast<noting_store&>(detail::client_access::impl(c).connection());
  }

  void note(std::string_view word) { (log_ += log_.empty() ? "" : " ") += word; }
  std::string news() { return std::exchange(log_, {}); }
  void refuse_first(base::failure why);  // of the requests

  base::environment& env;
  std::vector<claim*> requests;  // without an answer
  bool grants = true;            // a request is answered
  bool shows_waiters = false;    // in the reply to check_waiters()
  bool grants_groups = false;    // can_lock_all()
  base::failure end;             // of each release
  std::function<void()> on_renewal = [] {}, on_check = [] {};
  std::function<void(seam::holders_handler&)> on_holders = [](auto& h) { h.on_result({}); };
  std::unique_ptr<noting_store> other;  // of the same client, for other kinds of locks
  int flushes = 0, claims = 0;
  std::int64_t number = 0;

  const seam::capabilities& can() const noexcept override { return can_; }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  bool can_lock_all(std::span<const std::string_view>) const override { return grants_groups; }
  void inspect(std::string_view, seam::holders_handler& h) override { h.on_result({}); }
  void holders(std::string_view, seam::holders_handler& h) override { on_holders(h); }
  void break_lock(std::string_view, std::string_view, seam::decision_handler& h) override {
    h.on_result(false);
  }
  void diagnose(seam::findings_handler& h) override { h.on_result({}); }
  void flush() override { ++flushes; }
  bool close(base::time_point) override { return true; }
  void forked() noexcept override {}

 private:
  seam::capabilities can_;
  std::string log_;
};

class noting_store::claim final : public seam::claim {
 public:
  claim(noting_store& s, seam::claim_sink& sink) : store_(s), sink_(sink) { ++store_.claims; }
  ~claim() override { --store_.claims; }

  void acquire(const seam::acquire_request& r) override {
    store_.note(r.group ? "acquire-in-group" : "acquire");
    if (!store_.grants) return store_.requests.push_back(this);
    seam::grant g;
    g.number = ++store_.number;
    g.received_at = store_.env.now();
    g.deadline = g.received_at + r.ttl;
    g.waiters_unknown = true;
    sink_.on_granted(g);
  }
  void cancel() override {
    store_.note("cancel");
    std::erase(store_.requests, this);
    sink_.on_ended({});
  }
  void renew(base::duration ttl, std::uint32_t ticket) override {
    store_.note("renew");
    store_.on_renewal();
    sink_.on_extended(store_.env.now() + ttl, ticket);
    store_.note("renewed");
  }
  void check_waiters() override {
    store_.note("check");
    store_.on_check();
    if (store_.shows_waiters) sink_.on_contended();
  }
  bool others_wait() override {
    store_.note("poll");
    return store_.shows_waiters;
  }
  void release(const seam::successor* next) override {
    const seam::successor after = next ? *next : seam::successor{};
    store_.note(next ? "release+" : "release");
    sink_.on_ended(store_.end);  // this claim may be gone then
    if (after.who) after.who->acquire(after.request);
  }

 private:
  friend class noting_store;
  noting_store& store_;
  seam::claim_sink& sink_;
};

inline std::unique_ptr<seam::claim> noting_store::open(std::string_view, seam::claim_sink& s) {
  return std::make_unique<claim>(*this, s);
}

inline void noting_store::refuse_first(base::failure why) {
  claim* const first = requests.front();
  requests.erase(requests.begin());
  first->sink_.on_refused(std::move(why));
}

inline client noting_store::open(base::environment& env, std::string_view options) {
  static constexpr seam::scheme schemes[] = {{"noting",
                                              [](const seam::open_args& how) {
                                                return seam::backend_of(
                                                    std::make_unique<noting_store>(how.env));
                                              },
                                              ""}};
  std::string text("noting:");
  if (!options.empty()) text.append("?").append(options);
  return detail::client_access::open(url::parse(text), {}, env, {}, schemes);
}

class watched_environment : public base::environment {
 public:
  base::time_point now() noexcept override {
    on_now();
    return real.now();
  }
  std::chrono::microseconds wall() noexcept override { return real.wall(); }
  void random(std::span<std::byte> to) noexcept override { real.random(to); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& target, const char* name) override {
    return real.make_alarm(target, name);
  }
  std::unique_ptr<base::worker> make_worker(const char* name) override {
    return real.make_worker(name);
  }
  std::unique_ptr<base::recording> make_recording(const base::recording_terms&,
                                                  base::failure&) override {
    ++recordings;
    return nullptr;
  }

  testkit::manual_environment real;
  std::function<void()> on_now = [] {};
  int recordings = 0;  // that were begun
};

}  // namespace holdfast::cohort_tests
