// Workers on many machines, of which only a few may use a service at a time.
//
//   worker_pool [URL]      where the locks are; without it, in a directory of this machine
//
// A semaphore has a fixed number of permits for all programs together. The permit of a worker that
// is killed becomes free, at the latest when its lease ends.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int workers = 8, jobs_of_each = 3;
constexpr std::uint32_t permits = 3;

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  std::atomic<int> users = 0, most = 0, done = 0;
  const auto worker = [&] {
    const auto client = hf::client::open(url);
    const auto pool = client.semaphore("worker_pool/renderer", permits);
    for (int job = 0; job < jobs_of_each; ++job) {
      const hf::lease permit = pool.acquire();
      const int now = ++users;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
      std::this_thread::sleep_for(5ms);  // the work
      --users;
      ++done;
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < workers; ++i) all.emplace_back(worker);
  }
  std::printf("%d jobs of %d workers, at most %d at a time\n", done.load(), workers, most.load());
  return done == workers * jobs_of_each && most <= static_cast<int>(permits) ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "worker_pool: %s\n", e.what());
  return 1;
}
