// Layout `redisson-rw`: RReadWriteLock of Redisson, on the wire what its Java clients write.
// Readers and writers of both exclude each other; a number from the counter of RFencedLock orders
// holdfast's grants. Owners of holdfast end in 19 digits, by which the scripts know them.
#pragma once
#include <string>

#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redisson_rw {

enum class script_name : unsigned char {
  try_lock,
  release,
  renew,
  downgrade,
  holders,
  break_lock,
};

std::span<const script> all_scripts() noexcept;  // generated at build time from scripts/*.lua

class codec final : public retrying_codec {
 public:
  explicit codec(std::string client_id) : client_id_(std::move(client_id)) {}

  const core::capabilities& can() const noexcept override;
  const retrying_recipe::rules& rules() const noexcept override;
  std::span<const script> scripts() const noexcept override;
  std::string text_of(const retrying_owner&) const override;
  std::string guarded_owner(const retrying_owner&, const held_grant&) const override;
  bool is_owner(std::string_view text) const noexcept override;
  std::string name_fault(std::string_view name) const override;
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
  const std::string client_id_;
};

}  // namespace holdfast::redis::redisson_rw
