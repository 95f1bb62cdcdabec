// redis/w1, w1-guard, w2 and w2-cpu: everybody has a lock of their own.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "crowd.hpp"
#include "pace.hpp"
#include "redis/bare_limits.hpp"
#include "redis/peers.hpp"
#include "redis/stage.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr unsigned workers = 64;

struct own_locks {
  redis_stage stage;
  holdfast::client client = holdfast::client::open(stage.url());
  std::vector<holdfast::mutex> locks;

  explicit own_locks(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      locks.push_back(client.mutex("order/" + std::to_string(i)));
  }
  outcome run_all(seconds length) {
    return run_crowd_on([this](unsigned i) -> holdfast::mutex& { return locks[i]; },
                        static_cast<unsigned>(locks.size()), length);
  }
};

template <class Cycle>
std::vector<contest> against_round_trips(Cycle cycle) {
  const auto own = std::make_shared<own_locks>(1);
  return {{"", [own](seconds length) { return bare_round_trips(own->stage.port(), length); },
           [own, cycle](seconds length) {
             const auto once = [&] { cycle(own->locks.front()); };
             return outcome{1e9 / nanoseconds_per_cycle(length, once), {}};
           },
           redis_peers(own->stage.port(), workload::own_lock)}};
}

}  // namespace

std::vector<contest> redis_confirmed() {
  return against_round_trips([](holdfast::mutex& m) { m.acquire().release(); });
}

std::vector<contest> redis_guarded() {
  return against_round_trips([](holdfast::mutex& m) { std::lock_guard guard(m); });
}

std::vector<contest> redis_own_locks() {
  const auto own = std::make_shared<own_locks>(workers);
  return {{"", [own](seconds length) { return bare_pipeline(own->stage.port(), workers, length); },
           [own](seconds length) { return own->run_all(length); },
           redis_peers(own->stage.port(), workload::own_locks)}};
}

std::vector<contest> redis_own_locks_cpu() {
  const auto own = std::make_shared<own_locks>(workers);
  return {{"", {}, [own](seconds length) {
             const outcome o = own->run_all(length);
             return outcome{o.beside.at(1).second, {{"cycles/s", o.figure}}};
           }}};
}

}  // namespace bench
