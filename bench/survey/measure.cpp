#include "survey/measure.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "process_meter.hpp"
#include "survey/machine.hpp"
#include "survey/sockets.hpp"

namespace survey {
namespace {

using steady = std::chrono::steady_clock;
using time_point = steady::time_point;

constexpr std::chrono::duration<double> longest_warm_up{0.3};
constexpr std::chrono::milliseconds timeline_length{20};
constexpr std::size_t longest_timeline = 40;  // tenures

// The state that the workers of one lock share.
struct alignas(64) shared_lock {
  std::atomic<int> inside{0};
  std::atomic<time_point> release_began{time_point::min()};
};

struct alignas(64) worker_log {
  std::uint64_t attempts = 0, acquired = 0, errors = 0, overlaps = 0;
  std::string first_error;
  latencies acquire, held, handoff, cycle;
  std::vector<tenure> timeline;
};

double in_us(steady::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

// The times between the planned attempts of one worker. They are the same in each run.
class pauses {
 public:
  pauses(const load& l, unsigned worker)
      : load_(l), worker_(worker), random_(worker + 1), exponential_(1.0) {}

  time_point first() {
    return steady::now() + (load_.is_random ? next() : load_.period * worker_ / load_.workers);
  }
  steady::duration next() {
    if (!load_.is_random) return load_.period;
    return std::chrono::duration_cast<steady::duration>(load_.period * exponential_(random_));
  }

 private:
  const load& load_;
  const unsigned worker_;
  std::mt19937_64 random_;
  std::exponential_distribution<double> exponential_;
};

class contenders {
 public:
  contenders(subject& what, const load& l)
      : subject_(what), load_(l), locks_(l.own_locks ? l.workers : 1), logs_(l.workers) {}

  // The workers, from here to the end of their measurement.
  double measure_for(std::chrono::duration<double> length, deployment& where,
                     const new_sockets& of_clients, measurement& into);
  void collect(measurement& into) const;

 private:
  void work(unsigned id, std::stop_token stop);
  void attempt(unsigned id, time_point planned, const std::stop_token& stop);
  void hold(unsigned id, time_point asked, time_point granted, bool counts);
  bool is_in_timeline(time_point granted) const {
    return subject_.excludes() && load_.workers > locks_.size() &&
           granted < opened_ + timeline_length;
  }
  bool is_done() const { return load_.attempts != 0 && attempts_ >= load_.attempts; }

  subject& subject_;
  const load& load_;
  std::vector<shared_lock> locks_;
  std::vector<worker_log> logs_;
  time_point opened_{};  // the beginning; written before counts_
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
  const time_point ended = steady::now();
  lock.release_began.store(ended);
  subject_.release(id);
  if (!counts) return;
  ++log.acquired;
  log.acquire.add(granted - asked);
  log.held.add(ended - granted);
  log.cycle.add(steady::now() - asked);
  if (began > asked) log.handoff.add(granted - began);
  if (is_in_timeline(granted) && log.timeline.size() < longest_timeline)
    log.timeline.push_back({id, in_us(granted - opened_), in_us(ended - opened_)});
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
  pauses between(load_, id);
  for (time_point planned = between.first(); !stop.stop_requested(); planned += between.next()) {
    if (load_.period.count() == 0) {
      attempt(id, steady::now(), stop);
      continue;
    }
    for (; planned + load_.wait < steady::now(); planned += between.next())
      if (counts_) ++logs_[id].attempts, ++attempts_;
    std::this_thread::sleep_until(planned);
    attempt(id, planned, stop);
  }
}

double contenders::measure_for(std::chrono::duration<double> length, deployment& where,
                               const new_sockets& of_clients, measurement& into) {
  std::vector<std::jthread> workers;
  for (unsigned id = 0; id < load_.workers; ++id)
    workers.emplace_back([this, id](std::stop_token stop) { work(id, std::move(stop)); });
  std::this_thread::sleep_for(std::min(length / 5, longest_warm_up));

  const processor_times before(where.servers(), subject_.processes());
  const double commands = where.commands();
  const double bytes = of_clients.bytes();
  opened_ = steady::now();
  counts_ = true;
  while (!is_done() && steady::now() - opened_ < length)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (std::jthread& w : workers) w.request_stop();
  const std::chrono::duration<double> passed = steady::now() - opened_;
  into.bytes = of_clients.bytes() - bytes;
  into.server_commands = where.commands() - commands;
  const processor_times after(where.servers(), subject_.processes());
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
    into.held.add(log.held);
    into.handoff.add(log.handoff);
    into.cycle.add(log.cycle);
    into.timeline.insert(into.timeline.end(), log.timeline.begin(), log.timeline.end());
    most = std::max(most, log.acquired);
    fewest = std::min(fewest, log.acquired);
    squares += static_cast<double>(log.acquired) * static_cast<double>(log.acquired);
  }
  std::ranges::sort(into.timeline, {}, &tenure::from_us);
  into.timeline.resize(std::min(into.timeline.size(), longest_timeline));
  const auto sum = static_cast<double>(into.acquired);
  into.most_to_fewest = static_cast<double>(most) / std::max(static_cast<double>(fewest), 0.5);
  into.jain = squares > 0 ? sum * sum / (static_cast<double>(logs_.size()) * squares) : 0;
}

// The first half of the locks is acquired and released, one at a time: it opens connections and
// fills buffers. The other half is held together.
measurement measure_held(subject& what, deployment& where, const load& l) {
  measurement m;
  const auto acquire = [&](unsigned id) {
    ++m.attempts;
    if (what.acquire(id, l.wait, {})) ++m.acquired;
  };
  const auto began = steady::now();
  const unsigned first = l.workers / 2;
  for (unsigned id = 0; id < first; ++id) {
    acquire(id);
    what.release(id);
  }
  const auto heap = static_cast<double>(bench::heap_in_use());
  const double memory = where.memory();
  for (unsigned id = first; id < l.workers; ++id) acquire(id);
  const double locks = l.workers - first;
  m.client_memory = (static_cast<double>(bench::heap_in_use()) - heap) / locks;
  m.server_memory = (where.memory() - memory) / locks;
  for (unsigned id = first; id < l.workers; ++id) what.release(id);
  m.seconds = std::chrono::duration<double>(steady::now() - began).count();
  return m;
}

}  // namespace

measurement measure(const lock_row& row, deployment& where, const load& l,
                    std::chrono::duration<double> length) {
  const new_sockets of_clients;
  const auto what = make_subject(row, where, l);
  if (l.keeps) return measure_held(*what, where, l);
  measurement m;
  contenders all(*what, l);
  m.seconds = all.measure_for(length, where, of_clients, m);
  all.collect(m);
  m.overlaps += what->lost_updates();
  return m;
}

}  // namespace survey
