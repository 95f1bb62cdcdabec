// Locks that move between two shards in both directions at once. Each shard answers on a thread of
// its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/redis/shards/moving_claim.hpp"
#include "tests/unit/backend/redis/shards/bare_shard.hpp"

namespace holdfast::redis {
namespace {

// Locks with waiters in order, and a counter. Only its thread reads and changes them.
class threaded_shard final : public bare_shard {
 public:
  threaded_shard() : thread_([this] { run(); }) {}
  ~threaded_shard() override { stop(); }

  // After the last answer.
  void stop() {
    {
      const std::lock_guard guard(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink& s) override {
    return std::make_unique<claim>(*this, name, s);
  }

 private:
  struct claim final : seam::claim {
    claim(threaded_shard& s, std::string_view n, seam::claim_sink& to)
        : home(s), name(n), sink(to) {}
    void acquire(const seam::acquire_request&) override {
      home.post([this] { home.acquire(*this); });
    }
    void cancel() override {}
    void renew(base::duration, std::uint32_t) override {}
    void release(const seam::successor*) override {
      home.post([this] { home.release(*this); });
    }

    threaded_shard& home;
    const std::string name;
    seam::claim_sink& sink;
  };
  struct lock {
    claim* holder = nullptr;
    std::deque<claim*> waiting;
  };

  void acquire(claim& c) {
    lock& l = locks_[c.name];
    if (l.holder) return l.waiting.push_back(&c);
    grant(l, c);
  }
  void grant(lock& l, claim& c) {
    l.holder = &c;
    seam::grant g;
    g.number = ++counter_;
    c.sink.on_granted(g);
  }
  void release(claim& c) {
    lock& l = locks_[c.name];
    l.holder = nullptr;
    c.sink.on_ended({});
    if (l.waiting.empty()) return;
    claim& next = *l.waiting.front();
    l.waiting.pop_front();
    grant(l, next);
  }

  void raise(std::string_view, std::int64_t least, seam::decision_handler& to) override {
    post([this, least, &to] {
      counter_ = std::max(counter_, least);
      to.on_result(true);
    });
  }

  void post(std::function<void()> job) {
    {
      const std::lock_guard guard(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }
  void run() {
    std::unique_lock guard(mutex_);
    for (;;) {
      changed_.wait(guard, [this] { return is_stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> next = std::move(jobs_.front());
      jobs_.pop_front();
      guard.unlock();
      next();
      guard.lock();
    }
  }

  std::map<std::string, lock> locks_;
  std::int64_t counter_ = 0;
  std::mutex mutex_;  // guards the next two
  std::deque<std::function<void()>> jobs_;
  bool is_stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

// A thread that acquires a lock while it moves.
class moving_contender final : private seam::claim_sink {
 public:
  moving_contender(std::string_view name, threaded_shard& former, threaded_shard& present,
                   moving_claims& all)
      : claim_(name, {&former, &former}, {&present, &present}, *this, all) {}

  std::int64_t acquire() {
    claim_.acquire({.ttl = std::chrono::seconds{10}});
    await_answer();
    return granted_.number;
  }
  void release() {
    claim_.release(nullptr);
    await_answer();
  }

 private:
  void on_granted(const seam::grant& g) override {
    granted_ = g;
    answer();
  }
  void on_refused(base::failure why) override {
    ADD_FAILURE() << why.text;
    answer();
  }
  void on_extended(base::time_point, std::uint32_t) override {}
  void on_doubtful() override {}
  void on_lost(std::error_code) override {}
  void on_contended() override {}
  void on_ended(base::failure) override { answer(); }

  void answer() {
    const std::lock_guard guard(mutex_);
    is_answered_ = true;
    changed_.notify_all();
  }
  void await_answer() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return is_answered_; });
    is_answered_ = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_answered_ = false;
  seam::grant granted_;
  moving_claim claim_;
};

// What only the holder of a lock reads and writes.
struct guarded_by_lock {
  int grants = 0;
  std::int64_t last_number = 0;
};

TEST(redis_moving_claim_in_threads, locks_that_move_in_opposite_directions_are_granted) {
  constexpr int contenders_of_each = 2, rounds = 100;
  moving_claims moving;
  threaded_shard a, b;
  guarded_by_lock x, y;
  std::vector<std::unique_ptr<moving_contender>> all;
  std::vector<std::thread> threads;
  const auto start = [&](std::string_view name, threaded_shard& former, threaded_shard& present,
                         guarded_by_lock& guarded) {
    all.push_back(std::make_unique<moving_contender>(name, former, present, moving));
    threads.emplace_back([&c = *all.back(), &guarded] {
      for (int i = 0; i < rounds; ++i) {
        const std::int64_t number = c.acquire();
        EXPECT_GT(number, guarded.last_number);
        guarded.last_number = number;
        ++guarded.grants;
        c.release();
      }
    });
  };
  for (int i = 0; i < contenders_of_each; ++i) {
    start("x", a, b, x);
    start("y", b, a, y);
  }
  for (std::thread& t : threads) t.join();
  a.stop();
  b.stop();
  EXPECT_EQ(x.grants, contenders_of_each * rounds);
  EXPECT_EQ(y.grants, contenders_of_each * rounds);
}

}  // namespace
}  // namespace holdfast::redis
