#include "tests/sim/redis/redis_masters.hpp"

#include <algorithm>

#include "tests/sim/machine/world.hpp"
#include "tests/sim/redis/model/replication.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

redis_masters::redis_masters(world& w, const model_redis::wall_clock& clock)
    : world_(w), cluster_(clock, w.schedule.masters, [this] {
        world_.later(world_.delay(),
                     [this] { world_.change_server([this] { cluster_.deliver_next(); }); });
      }) {
  // Clients look for the masters first, and connect to each of them.
  w.excused.add(w.time_to_reach() * 4 + 1s);
}

int redis_masters::connect(peer& p, const std::string& host) {
  int to = 0;
  for (int i = 0; i < count(); ++i)
    if (at(i).address().ip == host) to = i;
  return at(to).connect(p) * handles + to;
}

void redis_masters::receive(int connection, std::string_view bytes) {
  at(server_of(connection)).receive(connection / handles, bytes);
}

void redis_masters::disconnect(int connection) {
  at(server_of(connection)).disconnect(connection / handles);
}

bool redis_masters::is_connected(int connection) const {
  return at(server_of(connection)).is_connected(connection / handles);
}

bool redis_masters::has_listener(std::string_view channel) const {
  bool out = false;
  for (int i = 0; i < count(); ++i) out = out || at(i).has_listener(channel);
  return out;
}

std::vector<std::string> redis_masters::key_names() const {
  std::vector<std::string> out;
  for (int i = 0; i < count(); ++i)
    for (std::string& key : at(i).key_names()) out.push_back(std::move(key));
  return out;
}

std::string redis_masters::hosts() const {
  std::string out;
  for (int i = 0; i < count(); ++i) out += (i > 0 ? "," : "") + at(i).address().ip;
  return out;
}

int redis_masters::slot_of_lock(int lock) const { return slot_of_key(world_.lock_name(lock)); }

void redis_masters::happen(const fault& f) {
  if (f.what == trouble::slot_moved) return begin_move(f);
  cluster_.set_down(true);
  world_.later(f.lasts, [this] { cluster_.set_down(false); });
}

// The slot of the lock that the fault names. Its keys move one by one, in any order, and what is
// left moves at the end.
void redis_masters::begin_move(const fault& f) {
  const int slot = slot_of_lock(static_cast<int>(f.whom) % world_.schedule.locks);
  if (cluster_.is_moving(slot)) return;
  const moment end = world_.time.now() + f.lasts, step = f.lasts / 8;
  // Until then its requests are not executed, and are repeated after pauses that grow.
  for (int lock = 0; lock < world_.schedule.locks; ++lock)
    if (slot_of_lock(lock) == slot)
      world_.excused.add(lock, end + step + world_.schedule.op_timeout + 3s);
  const int to = (cluster_.owner_of(slot) + world_.chance.between(1, count() - 1)) % count();
  world_.change_server([&] { cluster_.begin_move(slot, to); });
  world_.later(step, [this, slot, step, end] { move_on(slot, step, end); });
}

void redis_masters::move_on(int slot, moment step, moment end) {
  if (!cluster_.is_moving(slot)) return;  // the end of all trouble has ended it
  if (world_.time.now() >= end) return world_.change_server([&] { cluster_.end_move(slot); });
  const std::vector<std::string> left = cluster_.keys_left(slot);
  if (!left.empty())
    world_.change_server([&] { cluster_.move_key(left[world_.chance.below(left.size())]); });
  world_.later(step, [this, slot, step, end] { move_on(slot, step, end); });
}

void redis_masters::restart() {
  const auto which = world_.chance.below(static_cast<std::uint64_t>(count()));
  world_.change_server([&] { at(static_cast<int>(which)).restart(kept::everything); });
}

void redis_masters::heal() {
  cluster_.set_down(false);
  world_.change_server([this] {
    for (int lock = 0; lock < world_.schedule.locks; ++lock) cluster_.end_move(slot_of_lock(lock));
  });
}

}  // namespace holdfast::sim
