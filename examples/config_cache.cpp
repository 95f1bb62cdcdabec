// A configuration that many programs read and one writes now and then.
//
//   config_cache [URL]      where the locks are; without it, in a directory of this machine
//
// Readers share the lock, so they do not wait for each other. The writer has it alone, so no reader
// sees half of a change.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int readers = 6, reads_of_each = 5, changes = 4;

// Two files that belong together, which all programs read.
struct configuration {
  std::atomic<int> hosts = 0, ports = 0;
};

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  configuration shared;
  std::atomic<int> reads = 0, halves = 0;
  const auto reader = [&] {
    const auto client = hf::client::open(url);
    auto lock = client.shared_mutex("config_cache/cluster");
    for (int i = 0; i < reads_of_each; ++i) {
      const std::shared_lock reading(lock);
      const int hosts = shared.hosts;
      std::this_thread::sleep_for(1ms);
      halves += hosts != shared.ports ? 1 : 0;
      ++reads;
    }
  };
  const auto writer = [&] {
    const auto client = hf::client::open(url);
    auto lock = client.shared_mutex("config_cache/cluster");
    for (int i = 0; i < changes; ++i) {
      const std::lock_guard writing(lock);
      ++shared.hosts;
      std::this_thread::sleep_for(1ms);
      ++shared.ports;
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < readers; ++i) all.emplace_back(reader);
    all.emplace_back(writer);
  }
  std::printf("%d reads and %d changes; %d reads saw half of a change\n", reads.load(),
              shared.ports.load(), halves.load());
  return halves == 0 && shared.ports == changes ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "config_cache: %s\n", e.what());
  return 1;
}
