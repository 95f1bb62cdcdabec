#include "player.hpp"

#include <utility>

namespace stress {

using holdfast::lease;

player::player(const holdfast::client& client, std::string process,
               holdfast::history::history_writer& history, guarded_resource& resource, habits h,
               std::uint64_t seed)
    : participant(std::move(process), history, resource, h, seed) {
  for (std::size_t lock = 0; lock < lock_count; ++lock)
    locks_.push_back(client.mutex(lock_name(lock)));
}

void player::play() {
  const auto lock = up_to(lock_count - 1);
  auto held = take(lock);
  if (!held) return;
  for (auto pieces = up_to(3); pieces > 0; --pieces) {
    work();
    check(lock_name(lock), held);
    write_under(lock, held);
  }
  leave(lock_name(lock), std::move(held));
}

lease player::take(std::size_t lock) {
  auto r = begin(lock_name(lock), operation::acquire);
  std::error_code ec;
  lease held;
  const auto chance = up_to(9);
  if (chance == 0) {
    held = locks_[lock].try_acquire({}, ec);
  } else if (chance < 4) {
    held = locks_[lock].try_acquire_for(wait_limit(), {}, {}, ec);
  } else {
    held = locks_[lock].acquire({}, {}, ec);
  }
  granted(std::move(r), held, ec);
  return held;
}

}  // namespace stress
