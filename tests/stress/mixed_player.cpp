#include "mixed_player.hpp"

#include <utility>

namespace stress {

using holdfast::lease;
using holdfast::history::result;
using holdfast::testkit::deadline_of;

namespace {

constexpr std::size_t mixed_locks = 2;
const std::string pool_name = "stress/permits";

}  // namespace

mixed_player::mixed_player(const holdfast::client& client, std::string process,
                           holdfast::history::history_writer& history, guarded_resource& resource,
                           habits h, std::uint64_t seed)
    : participant(std::move(process), history, resource, h, seed),
      pool_(client, pool_name, permits_in_all) {
  for (std::size_t lock = 0; lock < mixed_locks; ++lock)
    locks_.push_back(client.shared_mutex(lock_name(lock)));
}

void mixed_player::play() {
  const auto chance = up_to(9);
  if (chance < 4) return read();
  if (chance < 7) return write();
  if (chance < 9) return take_permits();
  take_two();
}

void mixed_player::read() {
  const auto lock = up_to(mixed_locks - 1);
  auto r = begin(lock_name(lock), operation::acquire);
  r.shared = true;
  std::error_code ec;
  auto held = waits_long() ? locks_[lock].acquire_shared({}, {}, ec)
                           : locks_[lock].try_acquire_shared_for(wait_limit(), {}, {}, ec);
  if (!granted(r, held, ec)) return;
  work();
  check(lock_name(lock), held);
  leave(lock_name(lock), std::move(held));
}

void mixed_player::write() {
  const auto lock = up_to(mixed_locks - 1);
  const auto name = lock_name(lock);
  const auto r = begin(name, operation::acquire);
  std::error_code ec;
  auto held = waits_long() ? locks_[lock].acquire({}, {}, ec)
                           : locks_[lock].try_acquire_for(wait_limit(), {}, {}, ec);
  if (!granted(r, held, ec)) return;
  for (auto pieces = up_to(2); pieces > 0; --pieces) {
    work();
    check(name, held);
    write_under(lock, held);
  }
  if (up_to(2) == 0) {
    auto down = begin(name, operation::downgrade, held);
    bool done = true;
    try {
      held = locks_[lock].downgrade(std::move(held));
    } catch (const holdfast::lock_error&) {
      done = false;
    }
    down.deadline = deadline_of(held);
    end(std::move(down), done ? result::ok : result::lost);
    work();
    check(name, held);
  }
  leave(name, std::move(held));
}

void mixed_player::take_permits() {
  auto r = begin(pool_name, operation::acquire);
  r.permits = 1 + static_cast<std::uint32_t>(up_to(1));
  r.of = permits_in_all;
  std::error_code ec;
  const holdfast::acquire_options wanted{.permits = r.permits};
  auto held = waits_long() ? pool_.acquire(wanted, {}, ec)
                           : pool_.try_acquire_for(wait_limit(), wanted, {}, ec);
  if (!granted(r, held, ec)) return;
  work();
  check(pool_name, held);
  leave(pool_name, std::move(held));
}

void mixed_player::take_two() {
  std::vector<record> begun;
  for (std::size_t lock = 0; lock < mixed_locks; ++lock)
    begun.push_back(begin(lock_name(lock), operation::acquire));
  std::error_code ec;
  const holdfast::multi_mutex both(locks_[1], locks_[0]);
  auto set =
      waits_long() ? both.acquire({}, {}, ec) : both.try_acquire_for(wait_limit(), {}, {}, ec);
  const lease none;
  const auto member = [&](std::size_t lock) -> const lease& {
    return set ? set.members()[mixed_locks - 1 - lock] : none;
  };
  bool all = true;
  for (std::size_t lock = 0; lock < mixed_locks; ++lock)
    all = granted(begun[lock], member(lock), ec) && all;
  if (!all) return;
  work();
  for (std::size_t lock = 0; lock < mixed_locks; ++lock) {
    check(lock_name(lock), member(lock));
    write_under(lock, member(lock));
  }
  for (std::size_t lock = 0; lock < mixed_locks; ++lock)
    begun[lock] = begin(lock_name(lock), operation::release, member(lock));
  set.release(ec);
  for (auto& r : begun) end(std::move(r), result::unknown);
}

}  // namespace stress
