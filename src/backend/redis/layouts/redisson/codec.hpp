// Layouts `redisson` and `redisson-spin`: Redisson's RLock and RSpinLock, which exclude each other
// and RFencedLock. A lock is a hash {owner -> holds} that ends with the lease. Who releases an
// RLock publishes "0" on the lock's channel, where waiters listen; an RSpinLock has no messages,
// and waiters poll. The numbers of our grants are those of RFencedLock: one counter for each lock,
// which stays. A grant by an RLock or RSpinLock of Redisson has none.
//
// Source: RedissonLock, RedissonFencedLock and RedissonSpinLock of Redisson. Other than theirs, an
// acquire that arrives twice counts one hold, and a release leaves no latch behind.
#pragma once
#include <string>

#include "backend/redis/layouts/redisson/family.hpp"

namespace holdfast::redis::redisson {

enum class waiters : unsigned char { listen, poll };  // of RLock, of RSpinLock

class codec final : public lock_codec {
 public:
  // The owners of one client begin with its id (names.hpp).
  codec(std::string client_id, waiters, channel_kind = channel_kind::plain);

  std::string text_of(const retrying_owner&) const override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;

 private:
  const std::string client_id_;
};

}  // namespace holdfast::redis::redisson
