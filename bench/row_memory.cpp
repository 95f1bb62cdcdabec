// memory/w1, w3, contenders, rw-read and metrics.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "contenders.hpp"
#include "fifo_lock.hpp"
#include "pace.hpp"
#include "reading.hpp"
#include "row.hpp"

namespace bench {
namespace {

// A client of its own and one lock of it.
struct memory_lock {
  explicit memory_lock(const std::string& query = {})
      : client(holdfast::client::open("memory:" + query)) {}
  holdfast::client client;
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

outcome fifo_contenders(unsigned threads, seconds length) {
  fifo_lock lock;
  return run_contenders(lock, threads, length);
}

outcome memory_contenders(unsigned threads, seconds length) {
  memory_lock lock;
  return run_contenders(lock.mutex, threads, length);
}

constexpr unsigned readers = 64;

template <class SharedMutex>
outcome reading_contenders(SharedMutex& of, seconds length) {
  reading<SharedMutex> share{of};
  return run_contenders(share, readers, length);
}

template <class Mutex>
outcome guarded_cycle(Mutex& lock, seconds length) {
  return {nanoseconds_per_cycle(length, [&lock] { std::lock_guard guard(lock); }), {}};
}

}  // namespace

std::vector<contest> memory_uncontended() {
  const auto idle = std::make_shared<idle_thread>();
  const auto ours = std::make_shared<memory_lock>();
  const auto bare = std::make_shared<std::mutex>();
  return {{"", [idle, bare](seconds length) { return guarded_cycle(*bare, length); },
           [ours](seconds length) { return guarded_cycle(ours->mutex, length); }}};
}

std::vector<contest> memory_counted() {
  const auto idle = std::make_shared<idle_thread>();
  const auto plain = std::make_shared<memory_lock>();
  const auto counting = std::make_shared<memory_lock>("?metrics=1");
  return {{"", [idle, plain](seconds length) { return guarded_cycle(plain->mutex, length); },
           [counting](seconds length) { return guarded_cycle(counting->mutex, length); }}};
}

std::vector<contest> memory_readers() {
  const auto limit = [](seconds length) {
    std::shared_mutex lock;
    return reading_contenders(lock, length);
  };
  const auto ours = [](seconds length) {
    const auto client = holdfast::client::open("memory:");
    auto lock = client.shared_mutex("bench");
    return reading_contenders(lock, length);
  };
  return {{"", limit, ours}};
}

std::vector<contest> memory_w3() {
  std::vector<contest> contests;
  for (const unsigned threads : {16u, 64u}) {
    contests.push_back({std::to_string(threads) + " threads",
                        [threads](seconds length) { return fifo_contenders(threads, length); },
                        [threads](seconds length) { return memory_contenders(threads, length); }});
  }
  return contests;
}

std::vector<contest> memory_many_contenders() {
  return {{"", [](seconds length) { return memory_contenders(few_contenders, length); },
           [](seconds length) { return memory_contenders(many_contenders, length); }}};
}

std::vector<contest> memory_most_contenders() {
  return {{"", [](seconds length) { return memory_contenders(few_contenders, length); },
           [](seconds length) { return memory_contenders(most_contenders, length); }}};
}

std::vector<contest> fifo_many_contenders() {
  return {{"", [](seconds length) { return fifo_contenders(few_contenders, length); },
           [](seconds length) { return fifo_contenders(many_contenders, length); }}};
}

}  // namespace bench
