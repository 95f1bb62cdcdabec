// redis/w1, w1-guard, w2, w2-async and w2-cpu: everybody has a lock of their own. redis/rw-read,
// linger and multi: what is saved where fewer of them need the server.
#include <holdfast/holdfast.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "contenders.hpp"
#include "pace.hpp"
#include "reading.hpp"
#include "redis/bare_limits.hpp"
#include "redis/coroutines.hpp"
#include "redis/fixture.hpp"
#include "redis/peers.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr unsigned redis_workers = 64;

struct own_locks {
  redis_fixture fixture;
  holdfast::client client = open();
  std::vector<holdfast::mutex> locks;

  explicit own_locks(unsigned count, const std::string& prefix = "order/") {
    for (unsigned i = 0; i < count; ++i) locks.push_back(client.mutex(prefix + std::to_string(i)));
  }
  holdfast::client open(const std::string& query = {}) {
    return holdfast::client::open(fixture.url(query));
  }
  outcome run_all(seconds length) {
    return run_contenders_on([this](unsigned i) -> holdfast::mutex& { return locks[i]; },
                             static_cast<unsigned>(locks.size()), length);
  }
};

template <class Cycle>
std::vector<contest> against_round_trips(Cycle cycle) {
  const auto own = std::make_shared<own_locks>(1);
  return {{"", [own](seconds length) { return bare_round_trips(own->fixture.port(), length); },
           [own, cycle](seconds length) {
             const auto once = [&] { cycle(own->locks.front()); };
             return outcome{1e9 / nanoseconds_per_cycle(length, once), {}};
           },
           redis_peers(own->fixture.port(), workload::own_lock)}};
}

}  // namespace

std::vector<contest> redis_confirmed() {
  return against_round_trips([](holdfast::mutex& m) { m.acquire().release(); });
}

std::vector<contest> redis_guarded() {
  return against_round_trips([](holdfast::mutex& m) { std::lock_guard guard(m); });
}

std::vector<contest> redis_lingering() {
  const auto own = std::make_shared<own_locks>(1);
  const auto kept = std::make_shared<holdfast::mutex>(own->open("?linger=50ms").mutex("kept"));
  const auto guarded = [](holdfast::mutex& m, seconds length) {
    return outcome{1e9 / nanoseconds_per_cycle(length, [&m] { std::lock_guard guard(m); }), {}};
  };
  return {{"", [own, guarded](seconds length) { return guarded(own->locks.front(), length); },
           [own, kept, guarded](seconds length) { return guarded(*kept, length); }}};
}

// The grant has to stand from one reader to the next: where all of them leave before the next one
// comes, it is kept for its linger.
std::vector<contest> redis_readers() {
  const auto own = std::make_shared<own_locks>(redis_workers);
  const auto read = std::make_shared<holdfast::shared_mutex>(
      own->open("?linger=50ms").shared_mutex("read by all"));
  const auto ours = [own, read](seconds length) {
    reading<holdfast::shared_mutex> share{*read};
    const auto before = own->fixture.commands();
    outcome o = run_contenders(share, redis_workers, length);
    const auto asked = static_cast<double>(own->fixture.commands() - before);
    o.beside.emplace_back("commands per 1000 readers", asked * 1000 / (o.figure * length.count()));
    return o;
  };
  return {{"", [own](seconds length) { return own->run_all(length); }, ours}};
}

std::vector<contest> redis_several() {
  constexpr unsigned members = 4;
  const auto own = std::make_shared<own_locks>(members, "{one local_lock}/");
  const auto rounds_of = [](auto once, seconds length) {
    return outcome{1e9 / nanoseconds_per_cycle(length, once), {}};
  };
  const auto one_by_one = [own, rounds_of](seconds length) {
    const auto once = [&] {
      std::array<holdfast::lease, members> held;
      for (unsigned i = 0; i < members; ++i) held[i] = own->locks[i].acquire();
      for (holdfast::lease& l : held) l.release();
    };
    return rounds_of(once, length);
  };
  const auto at_once = [own, rounds_of](seconds length) {
    auto& l = own->locks;
    const holdfast::multi_mutex all(l[0], l[1], l[2], l[3]);
    return rounds_of([&] { all.acquire().release(); }, length);
  };
  return {{"", one_by_one, at_once}};
}

std::vector<contest> redis_own_locks() {
  const auto own = std::make_shared<own_locks>(redis_workers);
  return {
      {"",
       [own](seconds length) { return bare_pipeline(own->fixture.port(), redis_workers, length); },
       [own](seconds length) { return own->run_all(length); },
       redis_peers(own->fixture.port(), workload::own_locks)}};
}

std::vector<contest> redis_own_locks_async() {
  const auto own = std::make_shared<own_locks>(redis_workers);
  return {
      {"",
       [own](seconds length) { return bare_pipeline(own->fixture.port(), redis_workers, length); },
       [own](seconds length) { return run_coroutines(own->locks, length); }}};
}

std::vector<contest> redis_own_locks_cpu() {
  const auto own = std::make_shared<own_locks>(redis_workers);
  return {{"", {}, [own](seconds length) {
             const outcome o = own->run_all(length);
             return outcome{o.beside.at(1).second, {{"cycles/s", o.figure}}};
           }}};
}

}  // namespace bench
