// redis/w3, redis/contenders and redis/w3-server: the threads of one process on one lock.
#include <holdfast/holdfast.hpp>

#include <array>
#include <memory>
#include <string>

#include "contenders.hpp"
#include "fifo_lock.hpp"
#include "redis/bare_limits.hpp"
#include "redis/fixture.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr unsigned contending[] = {16, 64};

// As many clients as it takes: threads of one client hand the lock to each other.
template <std::size_t clients>
struct one_lock {
  redis_fixture fixture;
  std::array<std::unique_ptr<holdfast::mutex>, clients> ways;

  explicit one_lock(const std::string& query) {
    for (auto& way : ways) {
      const auto client = holdfast::client::open(fixture.url(query));
      way = std::make_unique<holdfast::mutex>(client.mutex("bench"));
    }
  }
  outcome run(unsigned threads, seconds length) {
    const auto way_of = [this](unsigned i) -> holdfast::mutex& { return *ways[i % clients]; };
    return run_contenders_on(way_of, threads, length);
  }
};

}  // namespace

std::vector<contest> redis_contenders() {
  const auto lock = std::make_shared<one_lock<1>>("");
  std::vector<contest> contests;
  for (const unsigned threads : contending) {
    const auto limit = [threads](seconds length) {
      fifo_lock fifo;
      return run_contenders(fifo, threads, length);
    };
    contests.push_back({std::to_string(threads) + " threads", limit,
                        [=](seconds length) { return lock->run(threads, length); }});
  }
  return contests;
}

std::vector<contest> redis_many_contenders() {
  const auto lock = std::make_shared<one_lock<1>>("");
  return {{"", [lock](seconds length) { return lock->run(few_contenders, length); },
           [lock](seconds length) { return lock->run(many_contenders, length); }}};
}

std::vector<contest> redis_most_contenders() {
  const auto lock = std::make_shared<one_lock<1>>("");
  return {{"", [lock](seconds length) { return lock->run(few_contenders, length); },
           [lock](seconds length) { return lock->run(most_contenders, length); }}};
}

std::vector<contest> redis_contenders_by_server() {
  const auto lock = std::make_shared<one_lock<2>>("?turns=1");
  std::vector<contest> contests;
  for (const unsigned threads : contending) {
    const auto limit = [lock](seconds length) {
      return bare_hand_over(lock->fixture.port(), length);
    };
    contests.push_back({std::to_string(threads) + " threads of two clients", limit,
                        [=](seconds length) { return lock->run(threads, length); }});
  }
  return contests;
}

}  // namespace bench
