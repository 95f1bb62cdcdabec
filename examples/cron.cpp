// A nightly job on many machines, which runs once a night.
//
//   cron [URL]      where the locks are; without it, in a directory of this machine
//
// The lock alone is not enough: the machine whose clock is a second late finds it free again and
// would run the job a second time. So each machine reads a record of the last run under the lock.
// It presents its token when it reads and when it writes that record, which keeps the record safe
// from a machine that was stopped and goes on after its lease has expired.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int machines = 5, nights = 3;

// What all machines see: a table of a database, a bucket.
class ledger {
 public:
  std::optional<std::string> last_done(const hf::lease& by) {
    const std::lock_guard guard(mutex_);
    if (!guard_.admit(by)) return std::nullopt;
    return last_done_;
  }
  bool record(const std::string& night, const hf::lease& by) {
    const std::lock_guard guard(mutex_);
    if (!guard_.admit(by)) return false;
    last_done_ = night;
    return true;
  }

 private:
  std::mutex mutex_;
  hf::fencing_guard guard_;
  std::string last_done_;
};

// True when this machine ran it. Who finds another one at it waits: should that one die half-way,
// the next does the job.
template <class Job>
bool run_once(const hf::mutex& lock, ledger& l, const std::string& night, Job job) {
  const hf::lease lease = lock.acquire({.note = night});
  const std::optional<std::string> last = l.last_done(lease);
  if (!last || *last >= night) return false;
  job(lease.loss_token());  // a job that takes a stop_token ends when the lock is gone
  return l.record(night, lease);
}

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  ledger l;
  std::atomic<int> runs = 0, idle = 0;
  const auto report = [&](const std::stop_token& lost) {
    for (int page = 0; page < 5 && !lost.stop_requested(); ++page) std::this_thread::sleep_for(1ms);
    ++runs;
  };
  const auto machine = [&](int number) {
    const auto client = hf::client::open(url);
    const auto lock = client.mutex("cron/report");
    for (int night = 0; night < nights; ++night) {
      std::this_thread::sleep_for(number * 3ms);  // no two clocks are the same
      if (!run_once(lock, l, "2026-11-2" + std::to_string(night), report)) ++idle;
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < machines; ++i) all.emplace_back(machine, i);
  }
  std::printf(
      "%d nights, %d machines: the job ran %d times, and %d times there was nothing to do\n",
      nights, machines, runs.load(), idle.load());
  return runs == nights ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cron: %s\n", e.what());
  return 1;
}
