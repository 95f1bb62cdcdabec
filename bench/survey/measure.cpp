#include "survey/measure.hpp"

#include <holdfast/error.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "survey/machine.hpp"

namespace survey {
namespace {

using steady = std::chrono::steady_clock;
using time_point = steady::time_point;

// The state that the workers of one lock share.
struct alignas(64) shared_lock {
  std::atomic<int> inside{0};
  std::atomic<time_point> release_began{time_point::min()};
};

struct alignas(64) worker_log {
  std::uint64_t attempts = 0, acquired = 0, errors = 0, overlaps = 0;
  std::string first_error;
  latencies acquire, handoff, cycle;
};

class contenders {
 public:
  contenders(subject& what, const load& l)
      : subject_(what), load_(l), locks_(l.own_locks ? l.workers : 1), logs_(l.workers) {}

  // The workers, from here to the end of their measurement.
  double measure_for(std::chrono::duration<double> length, deployment& where, measurement& into);
  void collect(measurement& into) const;

 private:
  void work(unsigned id, std::stop_token stop);
  void attempt(unsigned id, time_point planned, const std::stop_token& stop);
  void hold(unsigned id, time_point asked, time_point granted, bool counts);
  bool is_done() const { return load_.attempts != 0 && attempts_ >= load_.attempts; }

  subject& subject_;
  const load& load_;
  std::vector<shared_lock> locks_;
  std::vector<worker_log> logs_;
  std::atomic<bool> counts_{false};
  std::atomic<std::uint64_t> attempts_{0};
};

void contenders::hold(unsigned id, time_point asked, time_point granted, bool counts) {
  shared_lock& lock = locks_[id % locks_.size()];
  worker_log& log = logs_[id];
  const bool excludes = subject_.excludes();
  if (excludes && lock.inside.fetch_add(1) != 0) ++log.overlaps;
  const time_point began = lock.release_began.load();
  if (load_.hold.count() > 0) std::this_thread::sleep_until(granted + load_.hold);
  if (excludes) lock.inside.fetch_sub(1);
  lock.release_began.store(steady::now());
  subject_.release(id);
  if (!counts) return;
  ++log.acquired;
  log.acquire.add(granted - asked);
  log.cycle.add(steady::now() - asked);
  if (began > asked) log.handoff.add(granted - began);
}

void contenders::attempt(unsigned id, time_point planned, const std::stop_token& stop) {
  worker_log& log = logs_[id];
  try {
    const bool got = subject_.acquire(id, load_.wait, stop);
    const time_point granted = steady::now();
    const bool counts = counts_ && !stop.stop_requested();
    if (counts) ++log.attempts, ++attempts_;
    if (got) hold(id, planned, granted, counts);
  } catch (const holdfast::lock_error& e) {
    if (!counts_ || stop.stop_requested()) return;
    ++log.attempts, ++attempts_, ++log.errors;
    if (log.first_error.empty()) log.first_error = e.what();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// A planned attempt counts from the time for which it was planned, also when the worker was late. A
// worker that is late by the wait counts the attempts that nobody waits for any more as failures.
void contenders::work(unsigned id, std::stop_token stop) {
  const auto first = steady::now() + load_.period * id / load_.workers;
  for (time_point planned = first; !stop.stop_requested(); planned += load_.period) {
    if (load_.period.count() == 0) {
      attempt(id, steady::now(), stop);
      continue;
    }
    for (; planned + load_.wait < steady::now(); planned += load_.period)
      if (counts_) ++logs_[id].attempts, ++attempts_;
    std::this_thread::sleep_until(planned);
    attempt(id, planned, stop);
  }
}

double contenders::measure_for(std::chrono::duration<double> length, deployment& where,
                               measurement& into) {
  std::vector<std::jthread> workers;
  for (unsigned id = 0; id < load_.workers; ++id)
    workers.emplace_back([this, id](std::stop_token stop) { work(id, std::move(stop)); });
  std::this_thread::sleep_for(length / 5);

  const processor_times before(where.servers());
  const double commands = where.commands();
  const auto opened = steady::now();
  counts_ = true;
  while (!is_done() && steady::now() - opened < length)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (std::jthread& w : workers) w.request_stop();
  const std::chrono::duration<double> passed = steady::now() - opened;
  into.server_commands = where.commands() - commands;
  const processor_times after(where.servers());
  into.client_cpu = after.own - before.own;
  into.server_cpu = after.servers - before.servers;
  into.others_cpu = after.share_of_others(before);
  return passed.count();
}

void contenders::collect(measurement& into) const {
  std::uint64_t most = 0, fewest = UINT64_MAX;
  double squares = 0;
  for (const worker_log& log : logs_) {
    into.attempts += log.attempts;
    into.acquired += log.acquired;
    into.errors += log.errors;
    into.overlaps += log.overlaps;
    if (into.first_error.empty()) into.first_error = log.first_error;
    into.acquire.add(log.acquire);
    into.handoff.add(log.handoff);
    into.cycle.add(log.cycle);
    most = std::max(most, log.acquired);
    fewest = std::min(fewest, log.acquired);
    squares += static_cast<double>(log.acquired) * static_cast<double>(log.acquired);
  }
  const auto sum = static_cast<double>(into.acquired);
  into.most_to_fewest = static_cast<double>(most) / std::max(static_cast<double>(fewest), 0.5);
  into.jain = squares > 0 ? sum * sum / (static_cast<double>(logs_.size()) * squares) : 0;
}

}  // namespace

measurement measure(const lock_row& row, deployment& where, const load& l,
                    std::chrono::duration<double> length) {
  const auto what = make_subject(row, where, l);
  measurement m;
  contenders all(*what, l);
  m.seconds = all.measure_for(length, where, m);
  all.collect(m);
  m.overlaps += what->lost_updates();
  return m;
}

}  // namespace survey
