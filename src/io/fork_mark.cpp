#include "io/fork_mark.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

namespace holdfast::io {
namespace {

using cell = std::atomic<std::uint32_t>;
static_assert(cell::is_always_lock_free);

cell* marked_page = nullptr;

// The kernel zeroes the page in the child of a fork. An emulator may report success without doing
// so, and an old kernel cannot do it: the atfork handler zeroes the page too.
cell* make_page() noexcept {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  ::madvise(page, size, MADV_WIPEONFORK);
  marked_page = static_cast<cell*>(page);
  ::pthread_atfork(nullptr, nullptr, [] { marked_page->store(0, std::memory_order_relaxed); });
  return marked_page;
}

// Inherited by a fork, so the child's next mark differs from every mark of its ancestors.
cell marks_given{0};

std::uint32_t give_mark(cell& at) noexcept {
  std::uint32_t seen = 0;
  const std::uint32_t fresh = marks_given.fetch_add(1) + 1;
  return at.compare_exchange_strong(seen, fresh) ? fresh : seen;
}

}  // namespace

std::uint32_t fork_mark() noexcept {
  static cell* const page = make_page();
  if (page == nullptr) return 0;
  const std::uint32_t mark = page->load(std::memory_order_acquire);
  return mark != 0 ? mark : give_mark(*page);
}

}  // namespace holdfast::io
