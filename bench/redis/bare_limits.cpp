#include "redis/bare_limits.hpp"

#include <stdexcept>
#include <vector>

#include "pace.hpp"

namespace bench {
namespace {

constexpr const char* delete_own =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
constexpr const char* delete_own_hash = "fab5aabdaac7aab1eaa85bbed1724dee07d7744a";

struct steps {
  std::string clear, acquire, release;

  steps(const std::string& key, const std::string& owner)
      : clear(formatted({"DEL", key})),
        acquire(formatted({"SET", key, owner, "NX", "PX", "30000"})),
        release(formatted({"EVALSHA", delete_own_hash, "1", key, owner})) {}
};

// Keys of its own, which an earlier run may have left: holdfast's are other ones.
void prepare(bare_redis& redis, const std::vector<steps>& all) {
  for (const steps& s : all) redis.append(s.clear);
  redis.append(formatted({"SCRIPT", "LOAD", delete_own}));
  redis.flush();
  redis.skip(all.size() + 1);
}

void step(bare_redis& redis, const std::string& command) {
  redis.append(command);
  redis.flush();
  if (redis.skip(1) != 1) throw std::runtime_error("the limit did not get its lock");
}

}  // namespace

outcome bare_round_trips(int port, seconds length) {
  bare_redis redis(port);
  const steps own("limit", "0123456789abcdef0123456789abcdef");
  prepare(redis, {own});
  const double each = nanoseconds_per_cycle(length, [&] {
    step(redis, own.acquire);
    step(redis, own.release);
  });
  return {1e9 / each, {}};
}

outcome bare_pipeline(int port, unsigned in_flight, seconds length) {
  using clock = std::chrono::steady_clock;
  bare_redis redis(port);
  std::vector<steps> all;
  for (unsigned i = 0; i < in_flight; ++i)
    all.emplace_back("limit:" + std::to_string(i), "0123456789abcdef0123456789abcdef");
  prepare(redis, all);
  std::vector<bool> holds(in_flight);
  for (const steps& s : all) redis.append(s.acquire);
  redis.flush();

  // Each reply brings the next command of its worker, so replies come to the workers in turn.
  std::size_t worker = 0, done = 0;
  const auto begun = clock::now();
  seconds passed{};
  for (; passed < length; passed = clock::now() - begun) {
    for (std::size_t replies = redis.skip_what_comes(); replies > 0; --replies) {
      done += holds[worker] ? 1 : 0;
      holds[worker] = !holds[worker];
      redis.append(holds[worker] ? all[worker].release : all[worker].acquire);
      worker = worker + 1 == in_flight ? 0 : worker + 1;
    }
    redis.flush();
  }
  return {static_cast<double>(done) / passed.count(), {}};
}

outcome bare_hand_over(int port, seconds length) {
  bare_redis redis(port);
  const steps even("limit", "0123456789abcdef0123456789abcdef");
  const steps odd("limit", "fedcba9876543210fedcba9876543210");
  prepare(redis, {even, odd});
  step(redis, odd.acquire);
  const auto pass = [&redis](const steps& from, const steps& to) {
    redis.append(from.release);
    redis.append(to.acquire);
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
