// A client of a memory store at the seam, in an environment moved by hand.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/memory/backend.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::memory {

using namespace std::chrono_literals;

// Writes down what it is told.
struct note_taker final : seam::claim_sink {
  std::string told;  // one letter each: g r m l w e
  seam::grant grant;
  base::failure failure;
  base::time_point deadline{};
  std::uint32_t ticket = 0;
  std::function<void(char)> also = [](char) {};

  void on_granted(const seam::grant& g) override {
    grant = g;
    deadline = g.deadline;
    take('g');
  }
  void on_refused(base::failure f) override {
    failure = std::move(f);
    take('r');
  }
  void on_extended(base::time_point d, std::uint32_t t) override {
    deadline = d;
    ticket = t;
    take('m');
  }
  void on_doubtful() override {}
  void on_lost(std::error_code) override { take('l'); }
  void on_contended() override { take('w'); }
  void on_ended(base::failure f) override {
    failure = std::move(f);
    take('e');
  }
  std::string news() { return std::exchange(told, {}); }

 private:
  void take(char c) {
    told += c;
    also(c);
  }
};

inline constexpr timing usual{.op_timeout = 4s, .clock_skew = 0s};

// One client with one claim.
struct contender {
  contender(std::shared_ptr<server> s, base::environment& e, std::string_view name = "x",
            const timing& t = usual)
      : env(e),
        store(std::make_unique<backend>(std::move(s), e, t)),
        claim(store->open(name, heard)) {}
  ~contender() {
    store->close(env.now());
    claim.reset();
  }
  void acquire(base::duration ttl = 10s, std::string_view note = {}) {
    claim->acquire({.one_attempt = false, .ttl = ttl, .note = note});
  }
  void attempt(base::duration ttl = 10s) { claim->acquire({.one_attempt = true, .ttl = ttl}); }
  void release() { claim->release(nullptr); }
  void cut_off(bool yes) {
    const std::lock_guard guard(store->over().at().mutex);
    store->over().cut_off(yes);
  }

  base::environment& env;
  note_taker heard;
  std::unique_ptr<backend> store;
  std::unique_ptr<seam::claim> claim;
};

struct holders : seam::holders_handler {
  std::vector<holder> list;
  int answers = 0;
  base::failure failure;
  void on_result(std::vector<holder> h) override {
    list = std::move(h);
    ++answers;
  }
  void on_failed(base::failure f) override {
    failure = std::move(f);
    ++answers;
  }
};

struct judgement : seam::decision_handler {
  bool was = false;
  int answers = 0;
  base::failure failure;
  void on_result(bool b) override {
    was = b;
    ++answers;
  }
  void on_failed(base::failure f) override {
    failure = std::move(f);
    ++answers;
  }
};

struct memory_case : testing::Test {
  testkit::manual_environment env;
  std::shared_ptr<server> s = std::make_shared<server>();

  template <class Change>
  void faults(Change change) {
    const std::lock_guard guard(s->mutex);
    change(s->faults);
    s->faults_changed();
  }
  void latency(base::duration d) {
    faults([&](fault_plan& w) { w.latency = d; });
  }
  void outage(bool yes) {
    faults([&](fault_plan& w) { w.outage = yes; });
  }
  std::vector<holder> inspect(contender& by) {
    holders out;
    by.store->inspect({}, out);
    return out.list;
  }
  std::size_t entries() {
    const std::lock_guard guard(s->mutex);
    return s->data.size();
  }
};

}  // namespace holdfast::memory
