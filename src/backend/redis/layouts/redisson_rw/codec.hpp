// Layout `redisson-rw`: RReadWriteLock of Redisson, on the wire what its Java clients write.
// Readers and writers of both exclude each other; a number from the counter of RFencedLock orders
// holdfast's grants. Owners of holdfast end in 19 digits, by which the scripts know them.
#pragma once
#include <string>

#include "backend/redis/layouts/redisson/family.hpp"

namespace holdfast::redis::redisson_rw {

class codec final : public redisson::lock_codec {
 public:
  explicit codec(std::string client_id, channel_kind = channel_kind::plain);

  std::string text_of(const retrying_owner&) const override;
  std::string guarded_owner(const retrying_owner&, const guarded_grant&) const override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  void append_holders_query(std::string& out, std::string_view key) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;
  std::vector<holder> read_holders_reply(const value&) const override;

 private:
  const std::string client_id_;
};

}  // namespace holdfast::redis::redisson_rw
