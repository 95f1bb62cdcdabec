// memory/w1 and memory/w3.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <mutex>
#include <thread>

#include "crowd.hpp"
#include "fifo_lock.hpp"
#include "pace.hpp"
#include "row.hpp"

namespace bench {
namespace {

// A client of its own and one lock of it.
struct memory_lock {
  holdfast::client client = holdfast::client::open("memory:");
  holdfast::mutex mutex = client.mutex("bench");
};

// Sleeps until it is destroyed. glibc takes short cuts in a process with one thread, and nobody who
// locks a mutex has one thread.
class idle_thread {
 public:
  idle_thread() : held_(mutex_), thread_([this] { std::lock_guard wait(mutex_); }) {}
  ~idle_thread() {
    held_.unlock();
    thread_.join();
  }
  idle_thread(const idle_thread&) = delete;
  idle_thread& operator=(const idle_thread&) = delete;

 private:
  std::mutex mutex_;
  std::unique_lock<std::mutex> held_;
  std::thread thread_;
};

outcome fifo_crowd(unsigned threads, seconds length) {
  fifo_lock lock;
  return run_crowd(lock, threads, length);
}

outcome memory_crowd(unsigned threads, seconds length) {
  memory_lock lock;
  return run_crowd(lock.mutex, threads, length);
}

}  // namespace

std::vector<contest> memory_uncontended() {
  const auto idle = std::make_shared<idle_thread>();
  const auto ours = std::make_shared<memory_lock>();
  const auto bare = std::make_shared<std::mutex>();
  const auto cycle = [idle](auto& lock, seconds length) {
    return outcome{nanoseconds_per_cycle(length, [&lock] { std::lock_guard guard(lock); }), {}};
  };
  return {{"", [bare, cycle](seconds length) { return cycle(*bare, length); },
           [ours, cycle](seconds length) { return cycle(ours->mutex, length); }}};
}

std::vector<contest> memory_crowds() {
  std::vector<contest> contests;
  for (const unsigned threads : {16u, 64u}) {
    contests.push_back({std::to_string(threads) + " threads",
                        [threads](seconds length) { return fifo_crowd(threads, length); },
                        [threads](seconds length) { return memory_crowd(threads, length); }});
  }
  return contests;
}

}  // namespace bench
