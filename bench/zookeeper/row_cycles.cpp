// zookeeper/w1, w1-guard, w1-cpu and w2: everybody has a lock of their own. zookeeper/held: what a
// held lock takes of the client's memory.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "contenders.hpp"
#include "pace.hpp"
#include "process_meter.hpp"
#include "row.hpp"
#include "zookeeper/bare_cycles.hpp"
#include "zookeeper/fixture.hpp"
#include "zookeeper/peers.hpp"
#include "zookeeper/real_curator.hpp"

namespace bench {
namespace {

constexpr unsigned zookeeper_workers = 64;
constexpr int cycles_of_batch = 64;

struct own_nodes {
  zookeeper_fixture fixture;
  holdfast::client client = holdfast::client::open(fixture.url());
  std::vector<holdfast::mutex> locks;

  own_nodes(unsigned count, storage s) : fixture(s) {
    for (unsigned i = 0; i < count; ++i)
      locks.push_back(client.mutex("order-" + std::to_string(i)));
  }
};

outcome confirmed_cycles(holdfast::mutex& m, seconds length) {
  const double before = process_cpu_seconds();
  double done = 0;
  const double each = nanoseconds_per_cycle<cycles_of_batch>(length, [&] {
    m.acquire().release();
    ++done;
  });
  return {1e9 / each, {{"CPU us per cycle", (process_cpu_seconds() - before) * 1e6 / done}}};
}

outcome guarded_cycles(holdfast::mutex& m, seconds length) {
  return {1e9 / nanoseconds_per_cycle<cycles_of_batch>(length, [&] { std::lock_guard guard(m); }),
          {}};
}

std::vector<contest> against_bare_cycles(outcome (*run)(holdfast::mutex&, seconds), storage s) {
  const auto own = std::make_shared<own_nodes>(1, s);
  return {{"", [own](seconds length) { return bare_cycles(own->fixture.port(), length); },
           [own, run](seconds length) { return run(own->locks.front(), length); },
           zookeeper_peers(own->fixture.port(), workload::own_lock)}};
}

std::vector<contest> against_bare_pipeline(storage s) {
  const auto own = std::make_shared<own_nodes>(zookeeper_workers, s);
  return {{"",
           [own](seconds length) {
             return bare_cycles_in_flight(own->fixture.port(), zookeeper_workers, length);
           },
           [own](seconds length) {
             const auto lock_of = [own](unsigned i) -> holdfast::mutex& { return own->locks[i]; };
             return run_contenders_on(lock_of, zookeeper_workers, length);
           },
           zookeeper_peers(own->fixture.port(), workload::own_locks)}};
}

}  // namespace

std::vector<contest> zookeeper_confirmed() {
  return against_bare_cycles(confirmed_cycles, storage::memory);
}
std::vector<contest> zookeeper_confirmed_on_disk() {
  return against_bare_cycles(confirmed_cycles, storage::disk);
}
std::vector<contest> zookeeper_guarded() {
  return against_bare_cycles(guarded_cycles, storage::memory);
}
std::vector<contest> zookeeper_own_locks() { return against_bare_pipeline(storage::memory); }
std::vector<contest> zookeeper_own_locks_on_disk() { return against_bare_pipeline(storage::disk); }

std::vector<contest> zookeeper_cpu() {
  const auto own = std::make_shared<own_nodes>(1, storage::memory);
  const auto theirs =
      std::make_shared<curator_contenders_of>(own->fixture.port(), 1, 1, "/curator's");
  const auto cpu_of = [](const outcome& o) {
    return outcome{o.beside.back().second, {{"cycles/s", o.figure}}};
  };
  return {{"", [theirs, cpu_of](seconds length) { return cpu_of(theirs->run(length)); },
           [own, cpu_of](seconds length) {
             return cpu_of(confirmed_cycles(own->locks.front(), length));
           }}};
}

// Each in a local lock of its own, as those of a program that locks its orders.
std::vector<contest> zookeeper_held() {
  const auto own = std::make_shared<own_nodes>(0, storage::memory);
  return {{"", {}, [own](seconds) {
             constexpr int count = 4'000;
             std::vector<holdfast::lease> held;
             held.reserve(count);
             own->client.mutex("first").acquire().release();
             const auto before = heap_in_use();
             for (int i = 0; i < count; ++i)
               held.push_back(own->client.mutex("held-" + std::to_string(i)).acquire());
             const auto after = heap_in_use();
             return outcome{static_cast<double>(after - before) / count, {}};
           }}};
}

}  // namespace bench
