// Layout `redisson-fair`: Redisson's RFairLock. A lock is a hash {owner -> holds} that ends with
// the lease, as an RLock is. Waiters stand in a list; a sorted set has the time from which on each
// is taken for dead: once it has passed for the head, the next request of anybody removes the head.
// A release publishes "0" on the channel of the head alone. The numbers of our grants are those of
// RFencedLock; a grant by an RFairLock of Redisson has none.
//
// Source: RedissonFairLock of Redisson. Unlike there, a waiter asks again within its window, which
// therefore is short: a dead head of ours is waited for no longer than that. While the lock is free
// and the head asleep or dead, the others wait for the head's time. A waiter that was removed while
// it lived gets its place back, and one that leaves the head of the queue wakes the next.
#pragma once
#include "backend/redis/layouts/redisson/family.hpp"

namespace holdfast::redis::redisson_fair {

// A waiter that sends no request for this long loses its place at the head of the queue.
inline constexpr duration window = std::chrono::seconds{10};

class codec final : public redisson::lock_codec {
 public:
  explicit codec(channel_kind = channel_kind::plain) noexcept;
  std::string text_of(const retrying_owner&) const override;
  std::string channel_of(const lock_request&) const override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_holders_query(std::string& out, std::string_view key) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;
};

}  // namespace holdfast::redis::redisson_fair
