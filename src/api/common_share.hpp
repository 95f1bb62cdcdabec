// One share that the threads of a process have in common.
#pragma once
#include <atomic>
#include <cstdint>

namespace holdfast::inline v0::detail {

class turn;

// Of one shared_mutex object. A reader who was granted a share lends it to those who come while it
// is held: they join and leave by one atomic step each, without the slot. It is given back when all
// have left.
//
//   word           | state         | next
//   ---------------+---------------+--------------------------------------------------------
//   0              | none          | claimed (lend)
//   2              | claimed       | 3 (lent), 0 (given back)
//   2n + 1, n >= 1 | n are inside  | n + 1 (join), n - 1 (leave), claimed (the last one leaves)
class common_share {
 public:
  bool join() noexcept;       // false: there is none, or it lets nobody in any more
  bool lend(turn&) noexcept;  // false: it stays the caller's. Else the caller is inside
  void leave() noexcept;
  bool in_use() const noexcept { return word_.load(std::memory_order_relaxed) != none; }

 private:
  static constexpr std::uint32_t none = 0, one = 2, open = 1;
  std::atomic<std::uint32_t> word_{none};
  turn* lent_ = nullptr;  // read by those inside, written by who has claimed it
};

}  // namespace holdfast::inline v0::detail
