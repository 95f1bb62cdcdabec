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

#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redisson {

enum class script_name : unsigned char { try_lock, release, renew, holders };

std::span<const script> all_scripts() noexcept;  // generated at build time from scripts/*.lua

enum class waiters : unsigned char { listen, poll };  // of RLock, of RSpinLock

class codec final : public retrying_codec {
 public:
  // The owners of one client begin with its id (names.hpp).
  codec(std::string client_id, waiters how) : client_id_(std::move(client_id)), how_(how) {}

  const core::capabilities& can() const noexcept override;
  const retrying_recipe::rules& rules() const noexcept override;
  std::span<const script> scripts() const noexcept override { return all_scripts(); }
  std::string text_of(const retrying_owner&) const override;
  bool is_owner(std::string_view text) const noexcept override;
  std::string name_fault(std::string_view) const override;
  std::string channel_of(const lock_request&) const override;
  std::span<const error_meaning> own_errors() const noexcept override;
  layout_needs needs() const noexcept override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  retrying_reply read(const value&, const lock_request&, retrying_reply r) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  void append_look(std::string& out, std::string_view key) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;
  std::vector<holder> read_look(const value&) const override;

 private:
  std::string channel_for(std::string_view key) const;

  const std::string client_id_;
  const waiters how_;
};

}  // namespace holdfast::redis::redisson
