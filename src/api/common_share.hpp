// One shared lease that threads of a process hold in common.
#pragma once
#include <atomic>
#include <cstdint>

namespace holdfast::inline v0::detail {

class turn;

// The share of one shared_mutex object. A reader that was granted a share lends it to the readers
// that come while it is held: they join and leave by one atomic operation each, without the local
// lock. The last reader to leave releases it.
//
//   word           | state              | next
//   ---------------+--------------------+---------------------------------------------------
//   0              | none               | claimed (lend)
//   2              | claimed            | 3 (lent), 0 (released)
//   2n + 1, n >= 1 | n readers hold it  | n + 1 (join), n - 1 (leave), claimed (last leave)
class common_share {
 public:
  bool join() noexcept;       // false: there is none, or it admits no more readers
  bool lend(turn&) noexcept;  // false: the caller keeps it. True: the caller has joined
  void leave() noexcept;
  turn* lent() const noexcept { return lent_; }  // for a reader that has joined
  bool in_use() const noexcept { return word_.load(std::memory_order_relaxed) != none; }

 private:
  static constexpr std::uint32_t none = 0, one = 2, open = 1;
  std::atomic<std::uint32_t> word_{none};
  turn* lent_ = nullptr;  // read by readers that joined, written by the one that claimed it
};

}  // namespace holdfast::inline v0::detail
