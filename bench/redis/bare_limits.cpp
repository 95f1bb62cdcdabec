#include "redis/bare_limits.hpp"

#include <stdexcept>
#include <vector>

#include "pace.hpp"

namespace bench {
namespace {

void step(bare_redis& redis, const std::string& command) {
  redis.append(command);
  redis.flush();
  if (redis.skip(1) != 1) throw std::runtime_error("the limit did not get its lock");
}

}  // namespace

void prepare(bare_redis& redis, const bare_lock& lock, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) redis.append(formatted({"DEL", key}));
  for (const std::string& script : lock.scripts)
    redis.append(formatted({"SCRIPT", "LOAD", script}));
  redis.flush();
  redis.skip(keys.size() + lock.scripts.size());
}

outcome bare_round_trips(int port, seconds length, const bare_lock& lock) {
  bare_redis redis(port);
  prepare(redis, lock, {"limit"});
  const auto cycle = lock.cycle_on("limit", bare_owner);
  const double each = nanoseconds_per_cycle(length, [&] {
    for (const std::string& command : cycle) step(redis, command);
  });
  return {1e9 / each, {}};
}

outcome bare_pipeline(int port, unsigned in_flight, seconds length, const bare_lock& lock) {
  std::vector<std::string> keys;
  for (unsigned i = 0; i < in_flight; ++i) keys.push_back("limit:" + std::to_string(i));
  return bare_pipeline(port, keys, length, lock);
}

outcome bare_pipeline(int port, const std::vector<std::string>& keys, seconds length,
                      const bare_lock& lock) {
  using clock = std::chrono::steady_clock;
  bare_redis redis(port);
  std::vector<std::vector<std::string>> cycles;
  for (const std::string& key : keys) cycles.push_back(lock.cycle_on(key, bare_owner));
  prepare(redis, lock, keys);
  std::vector<std::size_t> sent(keys.size());
  for (const auto& cycle : cycles) redis.append(cycle.front());
  redis.flush();

  // Each reply brings the next command of its worker, so replies come to the workers in turn.
  std::size_t worker = 0, done = 0;
  const auto begun = clock::now();
  seconds passed{};
  for (; passed < length; passed = clock::now() - begun) {
    for (std::size_t replies = redis.skip_what_comes(); replies > 0; --replies) {
      const auto& cycle = cycles[worker];
      if (++sent[worker] == cycle.size()) {
        sent[worker] = 0;
        ++done;
      }
      redis.append(cycle[sent[worker]]);
      worker = worker + 1 == keys.size() ? 0 : worker + 1;
    }
    redis.flush();
  }
  return {static_cast<double>(done) / passed.count(), {}};
}

outcome bare_hand_over(int port, seconds length) {
  bare_redis redis(port);
  const auto even = set_and_compare.cycle_on("limit", bare_owner);
  const auto odd = set_and_compare.cycle_on("limit", "fedcba9876543210fedcba9876543210");
  prepare(redis, set_and_compare, {"limit"});
  step(redis, odd.front());
  const auto pass = [&redis](const auto& from, const auto& to) {
    redis.append(from.back());
    redis.append(to.front());
    redis.flush();
    if (redis.skip(2) != 2) throw std::runtime_error("the limit did not get its lock");
  };
  const double pair = nanoseconds_per_cycle(length, [&] {
    pass(odd, even);
    pass(even, odd);
  });
  return {2e9 / pair, {}};
}

}  // namespace bench
