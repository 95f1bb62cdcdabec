#include "redis/bare_redlock.hpp"

#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "pace.hpp"
#include "redis/bare_limits.hpp"

namespace bench {
namespace {

constexpr const char* key_of_limit = "limit";

std::string random_owner() {
  std::random_device random;
  std::ostringstream text;
  text << std::hex << random() << random() << random() << random();
  return text.str();
}

// Whether the reply is another one than nil.
bool round_trip(bare_redis& redis, const std::string& command) {
  redis.append(command);
  redis.flush();
  return redis.skip(1) == 1;
}

}  // namespace

outcome bare_parallel_round_trips(const std::vector<int>& ports, seconds length) {
  std::vector<bare_redis> masters;
  for (const int port : ports) prepare(masters.emplace_back(port), set_and_compare, {key_of_limit});
  const auto cycle = set_and_compare.cycle_on(key_of_limit, bare_owner);
  const double each = nanoseconds_per_cycle<redlock_cycles_of_batch>(length, [&] {
    for (const std::string& command : cycle) {
      for (bare_redis& master : masters) {
        master.append(command);
        master.flush();
      }
      for (bare_redis& master : masters)
        if (master.skip(1) != 1) throw std::runtime_error("the limit did not get its lock");
    }
  });
  return {1e9 / each, {}};
}

sequential_redlock::sequential_redlock(const std::string& ports) {
  std::istringstream list(ports);
  for (std::string port; std::getline(list, port, ',');)
    prepare(masters_.emplace_back(std::stoi(port)), set_and_compare, {});
  const auto cycle = set_and_compare.cycle_on("peer", random_owner().c_str());
  take_ = cycle.front();
  give_ = cycle.back();
}

void sequential_redlock::lock() {
  for (;;) {
    std::size_t votes = 0;
    for (bare_redis& master : masters_) votes += round_trip(master, take_) ? 1 : 0;
    if (votes > masters_.size() / 2) return;
    unlock();
    std::this_thread::sleep_for(pause);
  }
}

void sequential_redlock::unlock() {
  for (bare_redis& master : masters_) round_trip(master, give_);
}

}  // namespace bench
