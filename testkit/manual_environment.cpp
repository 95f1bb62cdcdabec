#include "testkit/manual_environment.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

namespace holdfast::testkit {

struct manual_environment::state {
  using key = std::pair<base::time_point, std::uint64_t>;

  std::mutex mutex;
  std::condition_variable rung;
  base::time_point now{std::chrono::seconds{1000}};
  std::chrono::nanoseconds wall{std::chrono::seconds{1'700'000'000}};
  std::mt19937_64 numbers;
  std::map<key, manual_alarm*> alarms;
  std::uint64_t sets = 0;
  manual_alarm* ringing = nullptr;
  bool has_threads = true;
  std::thread::id ringer;
  std::deque<std::pair<const manual_worker*, std::function<void()>>> jobs;

  void move(base::time_point to) {
    wall += to - now;
    now = to;
  }
  bool ring_one(base::time_point until);
};

class manual_environment::manual_alarm final : public base::alarm {
 public:
  manual_alarm(std::shared_ptr<state> s, base::alarm_target& target)
      : state_(std::move(s)), target_(target) {}

  ~manual_alarm() override {
    std::unique_lock lock(state_->mutex);
    forget();
    if (state_->ringer == std::this_thread::get_id()) return;
    state_->rung.wait(lock, [&] { return state_->ringing != this; });
  }

  bool set(base::time_point t) noexcept override {
    const std::lock_guard lock(state_->mutex);
    forget();
    if (t == base::never) return true;
    if (!state_->has_threads && !is_started_) return false;
    is_started_ = true;
    state_->alarms.emplace(at_ = {t, ++state_->sets}, this);
    return true;
  }

  void ring(base::time_point now) { target_.on_alarm(now); }

 private:
  void forget() {
    const auto found = state_->alarms.find(at_);
    if (found != state_->alarms.end() && found->second == this) state_->alarms.erase(found);
  }

  std::shared_ptr<state> state_;
  base::alarm_target& target_;
  state::key at_{base::never, 0};
  bool is_started_ = false;
};

class manual_environment::manual_worker final : public base::worker {
 public:
  explicit manual_worker(std::shared_ptr<state> s) : state_(std::move(s)) {}

  ~manual_worker() override {
    for (;;) {
      std::function<void()> job;
      {
        const std::lock_guard lock(state_->mutex);
        const auto mine = std::find_if(state_->jobs.begin(), state_->jobs.end(),
                                       [&](const auto& j) { return j.first == this; });
        if (mine == state_->jobs.end()) return;
        job = std::move(mine->second);
        state_->jobs.erase(mine);
      }
      job();
    }
  }

  void post(std::function<void()> job) override {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.emplace_back(this, std::move(job));
  }

 private:
  std::shared_ptr<state> state_;
};

// Rings the first alarm that is due by `until`, after moving the clock to it.
bool manual_environment::state::ring_one(base::time_point until) {
  std::unique_lock lock(mutex);
  const auto first = alarms.begin();
  if (first == alarms.end() || first->first.first > until) return false;
  if (first->first.first > now) move(first->first.first);
  ringing = first->second;
  ringer = std::this_thread::get_id();
  alarms.erase(first);
  manual_alarm* const target = ringing;
  const base::time_point at = now;
  lock.unlock();
  target->ring(at);
  lock.lock();
  ringing = nullptr;
  ringer = {};
  rung.notify_all();
  return true;
}

manual_environment::manual_environment(std::uint64_t seed) : state_(std::make_shared<state>()) {
  state_->numbers.seed(seed);
}
manual_environment::~manual_environment() = default;

base::time_point manual_environment::now() noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->now;
}

std::chrono::microseconds manual_environment::wall() noexcept {
  const std::lock_guard lock(state_->mutex);
  return std::chrono::floor<std::chrono::microseconds>(state_->wall);
}

void manual_environment::random(std::span<std::byte> out) noexcept {
  const std::lock_guard lock(state_->mutex);
  while (!out.empty()) {
    const std::uint64_t n = state_->numbers();
    const std::size_t part = std::min(out.size(), sizeof n);
    std::memcpy(out.data(), &n, part);
    out = out.subspan(part);
  }
}

std::unique_ptr<base::alarm> manual_environment::make_alarm(base::alarm_target& target,
                                                            const char*) {
  return std::make_unique<manual_alarm>(state_, target);
}

std::unique_ptr<base::worker> manual_environment::make_worker(const char*) {
  return std::make_unique<manual_worker>(state_);
}

void manual_environment::advance(base::duration d) {
  const base::time_point until = base::saturating_add(now(), d);
  do {
    while (state_->ring_one(until)) {}
    const std::lock_guard lock(state_->mutex);
    if (state_->now < until) state_->move(until);
  } while (run_jobs() != 0);
}

bool manual_environment::advance_to_next_alarm() {
  const base::time_point next = next_alarm();
  if (next == base::never) return false;
  advance(std::max(next - now(), base::duration{}));
  return true;
}

void manual_environment::freeze(base::duration d) {
  const std::lock_guard lock(state_->mutex);
  state_->move(base::saturating_add(state_->now, d));
}

std::size_t manual_environment::run_jobs() {
  for (std::size_t count = 0;; ++count) {
    std::function<void()> job;
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->jobs.empty()) return count;
      job = std::move(state_->jobs.front().second);
      state_->jobs.pop_front();
    }
    job();
  }
}

void manual_environment::set_wall(std::chrono::microseconds since_1970) {
  const std::lock_guard lock(state_->mutex);
  state_->wall = since_1970;
}

void manual_environment::have_threads(bool yes) {
  const std::lock_guard lock(state_->mutex);
  state_->has_threads = yes;
}

base::time_point manual_environment::next_alarm() const {
  const std::lock_guard lock(state_->mutex);
  return state_->alarms.empty() ? base::never : state_->alarms.begin()->first.first;
}

std::size_t manual_environment::alarms_set() const {
  const std::lock_guard lock(state_->mutex);
  return state_->alarms.size();
}

}  // namespace holdfast::testkit
