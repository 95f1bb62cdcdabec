// The troubles of a MariaDB server.
#include "backend/mysql/transport/error_text.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/mysql/mysql_store.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

// The error of each statement that writes, while the trouble lasts; 0: none.
unsigned refusal_of(trouble t) noexcept {
  switch (t) {
    case trouble::long_script: return mysql::error::lock_wait_timeout;
    case trouble::too_few_replicas: return mysql::error::deadlock;
    case trouble::memory_full: return mysql::error::query_interrupted;
    default: return 0;
  }
}

}  // namespace

void mysql_store::happen(const fault& f) {
  switch (f.what) {
    case trouble::restart: return restart();
    case trouble::writes_lost:
    case trouble::restart_saved: return lose_writes(f.lasts);
    case trouble::clock_forward: return leap(f.lasts);
    case trouble::clock_set: return leap(std::chrono::hours(world_.chance.between(1, 48)));
    case trouble::readonly:
      server().set_read_only(true);
      return world_.later(f.lasts, [this] { server().set_read_only(false); });
    case trouble::promoted: return roles_ ? roles_->happen(f) : void();
    default: break;
  }
  const unsigned error = refusal_of(f.what);
  if (error == 0) return;
  server().refuse_writes(error);
  world_.later(f.lasts, [this] { server().refuse_writes(0); });
}

bool mysql_store::only_refuses(trouble t) const {
  return t == trouble::readonly || refusal_of(t) != 0;
}

// A lock of a connection ends with it, and its client may not know that yet.
void mysql_store::restart() {
  if (strategy_.is_of_connections()) world_.watch->unsafe(world_.lease_max());
  world_.change_server([&] { roles_ ? roles_->restart() : server().restart(); });
}

// As with innodb_flush_log_at_trx_commit=2, on a machine that is killed.
void mysql_store::lose_writes(moment lasts) {
  server().save();
  world_.later(lasts / 2, [this, down = lasts / 2] {
    world_.refuse_connections(true);
    world_.watch->unsafe(world_.lease_max());
    world_.watch->excuse_leases();
    world_.change_server([&] {
      server().restart_from_saved();
      world_.watch->excuse_old_queues();
    });
    world_.later(down, [this] { world_.refuse_connections(false); });
  });
}

// Leases of rows end early. That of a transaction would have ended before anyone saw it.
void mysql_store::leap(moment by) {
  if (server().has_transaction()) return world_.later(1ms, [this, by] { leap(by); });
  world_.watch->unsafe(world_.lease_max());
  world_.watch->excuse_leases();
  world_.change_server([&] { clock_offset_ += by; });
}

void mysql_store::heal() {
  server().set_read_only(false);
  server().refuse_writes(0);
  if (!roles_) return;
  roles_->heal();
  if (world_.schedule.faults.empty() && world_.schedule.deadlock_share == 0) return;
  const moment now = world_.time.now(), limit = now + recovery_max();
  for (const machine* const m : world_.living()) world_.excused.add(*m, now, limit, true);
}

}  // namespace holdfast::sim
