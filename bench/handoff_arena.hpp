// The memory shared by the processes of a hand-off contest.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace bench {

// Written only by the holder of the lock that is measured, but for `started` and `stop`; by a
// reader only its own count of turns.
struct handoff_arena {
  static constexpr unsigned most_workers = 64;

  std::atomic<int> last_owner{-1};
  std::atomic<std::uint64_t> handoffs{0};
  std::array<std::atomic<std::uint64_t>, most_workers> turns{};  // cycles of each thread
  std::atomic<unsigned> started{0};                              // processes that have had the lock
  std::atomic<bool> stop{false};

  void visit(int process, unsigned worker) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    if (last_owner.load(relaxed) != process) {
      last_owner.store(process, relaxed);
      handoffs.store(handoffs.load(relaxed) + 1, relaxed);
    }
    read(worker);
  }
  void read(unsigned worker) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    turns[worker].store(turns[worker].load(relaxed) + 1, relaxed);
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A mapping of the memory behind a descriptor; unmapped at the end.
class mapped_arena {
 public:
  explicit mapped_arena(int descriptor);  // throws std::system_error
  ~mapped_arena();
  mapped_arena(const mapped_arena&) = delete;
  mapped_arena& operator=(const mapped_arena&) = delete;
  handoff_arena* operator->() const noexcept { return arena_; }

 private:
  handoff_arena* arena_;
};

}  // namespace bench
