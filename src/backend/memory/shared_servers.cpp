#include "backend/memory/shared_servers.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "base/fork.hpp"

namespace holdfast::memory {

namespace {

struct directory {
  explicit directory(unsigned g) noexcept : generation(g) {}
  const unsigned generation;
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<server>, std::less<>> named;
};

// Never freed: clients may outlive main(), and a parent's must not be touched.
directory& here() {
  static std::atomic<directory*> current{nullptr};
  const unsigned generation = base::fork_generation();
  directory* d = current.load(std::memory_order_acquire);
  while (!d || d->generation != generation) {
    auto* const made = new directory(generation);
    if (current.compare_exchange_strong(d, made, std::memory_order_acq_rel)) return *made;
    delete made;
  }
  return *d;
}

}  // namespace

std::shared_ptr<server> shared_server(std::string_view name) {
  directory& d = here();
  const std::lock_guard guard(d.mutex);
  std::erase_if(d.named, [](const auto& known) { return known.second.expired(); });
  auto& kept = d.named[std::string(name)];
  auto found = kept.lock();
  if (!found) kept = found = std::make_shared<server>();
  return found;
}

}  // namespace holdfast::memory
