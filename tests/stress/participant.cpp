#include "participant.hpp"

#include <utility>

namespace stress {

using holdfast::lease;
using holdfast::history::result;

std::string lock_name(std::size_t lock) { return "stress/" + std::to_string(lock); }

bool guarded_resource::write(std::size_t lock, std::int64_t token) noexcept {
  auto last = last_[lock].load();
  while (token >= last)
    if (last_[lock].compare_exchange_weak(last, token)) return true;
  return false;
}

participant::participant(std::string process, holdfast::history::history_writer& history,
                         guarded_resource& resource, habits h, std::uint64_t seed)
    : holdfast::testkit::participant(std::move(process), history, seed),
      resource_(resource),
      habits_(h) {}

void participant::write_under(std::size_t lock, const lease& held) {
  auto r = begin(lock_name(lock), operation::write, held);
  end(std::move(r), resource_.write(lock, held.token()) ? result::ok : result::refused);
}

std::chrono::milliseconds participant::wait_limit() {
  return std::chrono::milliseconds(up_to(static_cast<std::uint64_t>(habits_.longest_wait.count())));
}

}  // namespace stress
