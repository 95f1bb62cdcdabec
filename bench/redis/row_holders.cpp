// redis/holders: what a permit costs the server while thousands of others are held.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contenders.hpp"
#include "redis/fixture.hpp"
#include "row.hpp"

namespace bench {
namespace {

// A semaphore all of whose permits but one are held. Threads of two clients wait for that one.
class held_semaphore {
 public:
  held_semaphore(redis_fixture& fixture, const std::string& name, unsigned permits)
      : fixture_(fixture) {
    const auto holder = holdfast::client::open(fixture.url("?ttl=10m"));
    for (unsigned i = 1; i < permits; ++i)
      held_.push_back(holder.semaphore(name, permits).acquire());
    const holdfast::client clients[] = {holdfast::client::open(fixture.url()),
                                        holdfast::client::open(fixture.url())};
    for (unsigned i = 0; i < threads; ++i)
      ways_.push_back(std::make_unique<permit>(clients[i % 2].semaphore(name, permits)));
  }

  // Processor time of the server, in us for each grant.
  outcome run(seconds length) {
    const double before = fixture_.cpu_seconds();
    const auto way_of = [this](unsigned i) -> permit& { return *ways_[i]; };
    const outcome done = run_contenders_on(way_of, threads, length);
    std::uint64_t grants = 0;
    for (const auto& way : ways_) grants += std::exchange(way->grants, 0);
    const double cost = (fixture_.cpu_seconds() - before) * 1e6 / static_cast<double>(grants);
    return {cost, {{"grants per second", done.figure}}};
  }

 private:
  static constexpr unsigned threads = 8;
  struct permit {
    explicit permit(holdfast::semaphore s) : of(std::move(s)) {}
    void lock() {
      held = of.acquire();
      ++grants;
    }
    void unlock() { held.release(); }
    holdfast::semaphore of;
    holdfast::lease held;
    std::uint64_t grants = 0;
  };
  redis_fixture& fixture_;
  std::vector<holdfast::lease> held_;
  std::vector<std::unique_ptr<permit>> ways_;
};

}  // namespace

std::vector<contest> redis_holders() {
  const auto fixture = std::make_shared<redis_fixture>();
  const auto few = std::make_shared<held_semaphore>(*fixture, "few", 64);
  const auto many = std::make_shared<held_semaphore>(*fixture, "many", 4096);
  return {{"", [fixture, few](seconds length) { return few->run(length); },
           [fixture, many](seconds length) { return many->run(length); }}};
}

}  // namespace bench
