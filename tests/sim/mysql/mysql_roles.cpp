#include "tests/sim/mysql/mysql_roles.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

// Tokens of connections begin with the second of the server's start: docs/backends/mysql.md
// requires a promoted server to have started after the former primary.
mysql_roles::mysql_roles(world& w, const played_strategy& s, const mysql_server::wall_clock& wall)
    : world_(w), strategy_(s), first_(w, s, wall, 0), second_(w, s, wall, 1) {
  second_.model().start_after(first_.model());
  second_.model().set_replica(true);
  for (const int server : {0, 1}) {
    at(server).on_written = [this, server] { replicate(server); };
    if (w.schedule.seed % 2 == 0) model(server).restrict_users();
  }
}

int mysql_roles::connect(peer& p, const std::string& host) {
  const int to = host == host_of(1) ? 1 : 0;
  return at(to).connect(p) * 2 + to;
}

void mysql_roles::receive(int connection, std::string_view bytes) {
  at(server_of(connection)).receive(connection / 2, bytes);
}

void mysql_roles::disconnect(int connection) {
  at(server_of(connection)).disconnect(connection / 2);
}

bool mysql_roles::is_connected(int connection) const {
  return at(server_of(connection)).is_connected(connection / 2);
}

void mysql_roles::replicate(int from) {
  if (from != leading_ || !has_replica_) return;
  stream_.push_back(model(from).data());
  world_.later(world_.delay(), [this, number = stream_number_] {
    if (number == stream_number_ && !stands_) deliver_next();
  });
}

void mysql_roles::deliver_next() {
  if (stream_.empty()) return;
  model(1 - leading_).load(std::move(stream_.front()));
  stream_.pop_front();
}

void mysql_roles::happen(const fault& f) {
  if (std::exchange(is_busy_, true)) return;
  stands_ = f.lost > 0ns;
  const auto unless_healed = [this](auto what) {
    return [this, what] {
      if (!world_.is_healed()) what();
    };
  };
  const moment promoted = f.lost + f.name_follows;
  world_.later(f.lost, unless_healed([this, f] { step_down(f); }));
  world_.later(promoted, unless_healed([this, f] { take_over(f); }));
  world_.later(promoted + f.lasts, unless_healed([this] { become_replica(); }));
}

void mysql_roles::step_down(const fault& f) {
  const bool is_killed = f.cuts == fault::share::all;
  excuse_clients(world_.time.now() + f.name_follows, 0ns);
  if (is_killed) down_ = leading_;
  world_.change_server([&] {
    if (is_killed) model(leading_).restart();
    if (strategy_.is_of_connections()) world_.watch->lost_writes(world_.schedule.ttl);
    model(leading_).set_replica(true);
  });
  at(leading_).go_on();
}

// The replica executes what it has got first.
void mysql_roles::take_over(const fault& f) {
  while (!stands_ && !stream_.empty()) deliver_next();
  const bool is_lossy = !stream_.empty();
  stream_.clear();
  ++stream_number_;
  has_replica_ = stands_ = false;
  const int former = leading_, to = 1 - former;
  model(to).start_after(model(former));
  world_.change_server([] {});  // what is lost is seen by comparison
  world_.change_server([&] {
    leading_ = to;
    model(to).set_replica(false);
    if (strategy_.is_of_connections()) {
      world_.watch->lost_writes(world_.schedule.ttl);
    } else if (is_lossy) {
      world_.watch->lost_writes(world_.lease_max());
      world_.watch->excuse_leases();
    }
  });
  // One that sends nothing which a read-only server refuses stays until its connections end.
  const bool is_killed = f.cuts == fault::share::all;
  excuse_clients(world_.time.now(), is_killed ? 0ns : f.lasts);
}

void mysql_roles::become_replica() {
  const int former = 1 - leading_;
  world_.change_server([&] {
    model(former).restart();
    model(former).start_after(model(leading_));
    model(former).set_replica(true);
    model(former).load(model(leading_).data());
  });
  down_ = -1;
  has_replica_ = true;
  is_busy_ = false;
}

// Each until the primary answers it, from then on, and all its connections are to that one; those
// to the former primary end after `stays` at the latest.
void mysql_roles::excuse_clients(moment from, moment stays) {
  const moment limit = from + stays + world_.schedule.op_timeout * 3 + 6s;
  for (const machine* const m : world_.living()) world_.excused.add(*m, from, limit, true);
}

// No two starts of the servers are in one second: their numbers would repeat.
void mysql_roles::restart() {
  model(leading_).restart();
  model(leading_).start_after(model(1 - leading_));
}

void mysql_roles::heal() {
  stream_.clear();
  ++stream_number_;
  stands_ = false;
  world_.change_server([this] { model(leading_).set_replica(false); });
  if (!has_replica_) return become_replica();
  model(1 - leading_).load(model(leading_).data());
  down_ = -1;
  is_busy_ = false;
}

}  // namespace holdfast::sim
