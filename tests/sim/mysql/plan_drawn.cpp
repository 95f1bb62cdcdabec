// Draws a plan for a MariaDB server from a seed.
#include <algorithm>
#include <utility>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

bool is_of_mariadb(trouble t) noexcept {
  switch (t) {
    case trouble::pause:
    case trouble::crash:
    case trouble::cut:
    case trouble::stall:
    case trouble::black_hole:
    case trouble::refuse:
    case trouble::server_pause:
    case trouble::restart:
    case trouble::restart_saved:
    case trouble::clock_forward:
    case trouble::clock_set:
    case trouble::memory_full:
    case trouble::readonly:
    case trouble::broken:
    case trouble::down:
    case trouble::long_script:
    case trouble::too_few_replicas:
    case trouble::process_replaced:
    case trouble::process_added:
    case trouble::machine_stopped:
    case trouble::slow_connects:
    case trouble::half_greetings:
    case trouble::writes_lost: return true;
    default: return false;
  }
}

// A connection is opened in six round trips, and a statement follows.
void draw_trips(plan& p) {
  const auto trip =
      std::chrono::ceil<std::chrono::milliseconds>(p.delay_max * (p.slow_share > 0 ? 10 : 1));
  p.delay_min = std::min(p.delay_min, p.delay_max / 2);  // waiters that go in step may starve
  p.op_timeout = std::max(p.op_timeout, trip * 40);
  p.ttl = std::max(p.ttl, trip * 24);
}

// The idle timeout of its connections takes the place of the ttl, in whole seconds.
void draw_connections(plan& p, dice& d) {
  p.ttl = std::max(std::chrono::ceil<std::chrono::seconds>(p.ttl), std::chrono::seconds(1)) +
          std::chrono::seconds(d.between(0, 1));
  p.parts_wait = false;  // for as long as a lock may last: no client would come to rest
  p.inspections = 0;     // the server shows a connection, not the request that has the lock
}

// An operator may break a row's lock; a replica has no named locks.
bool is_of_rows(trouble t) noexcept { return t == trouble::broken || t == trouble::readonly; }

bool is_outage(trouble t) noexcept {
  return t == trouble::restart_saved || t == trouble::down || t == trouble::writes_lost;
}

// A server that is away for a while is away once in a schedule. It is restarted any number of
// times: ids of connections begin again with each start.
void keep_one_outage(plan& p) {
  bool has_one = false;
  std::erase_if(p.faults,
                [&](const fault& f) { return is_outage(f.what) && std::exchange(has_one, true); });
}

bool has_locks_of(const played_strategy& s, kind k) noexcept {
  const lock_mode mode = k == kind::mutex    ? lock_mode::exclusive
                         : k == kind::shared ? lock_mode::shared
                                             : lock_mode::permit;
  return (s.can.modes & seam::bit_of(mode)) != 0;
}

// Statements for several locks of a client wait for its only connection, which a transaction would
// have for many round trips.
void draw_sharing(plan& p, dice& d) {
  p.locks_are = kind::mutex;
  p.permits = 0;
  p.several = false;
  p.users = d.between(2, 5);
  p.locks = d.between(2, 4);
}

// With dice of its own: what is drawn for every store stays as it is.
plan on_mariadb(plan p, const played_strategy& s) {
  dice d(p.seed ^ 0x6d617269616462);
  p.layout = s.name;
  p.kill_forbidden = false;
  draw_trips(p);
  if (!has_locks_of(s, p.locks_are)) {
    p.locks_are = kind::mutex;
    p.permits = 0;
  }
  if (s.is_of_connections()) draw_connections(p, d);
  if (s.connections == 1) draw_sharing(p, d);
  if (s.leaves_expired && d.chance(0.3)) p.prunings = d.between(1, 4);
  std::erase_if(p.faults, [&](const fault& f) {
    // Readers are broken together, by the number that they share. The creation of a row is repeated
    // without a pause where it timed out, which takes a second at a server and none in the model.
    const bool breaks_readers = f.what == trouble::broken && p.locks_are == kind::shared;
    return !is_of_mariadb(f.what) || breaks_readers ||
           (s.is_of_connections() && is_of_rows(f.what)) ||
           (s.create_row && f.what == trouble::long_script);
  });
  keep_one_outage(p);
  // A statement of which a part is late holds up the releases of other members behind it.
  if (p.locks_are != kind::mutex) p.parts_wait = false;
  return p;
}

}  // namespace

plan draw(std::uint64_t seed, flavour how, const played_strategy& s) {
  return on_mariadb(draw(seed, how), s);
}

plan draw(std::uint64_t seed, const played_strategy& s) { return on_mariadb(draw(seed), s); }

}  // namespace holdfast::sim
