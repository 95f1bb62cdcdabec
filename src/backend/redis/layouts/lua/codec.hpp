// Layout `lua`: a lock is one key with its owner's text, by the documents' older form of an atomic
// acquire (SETNX and PEXPIRE in one script), with compare-and-delete and compare-and-PEXPIRE. No
// queue, no messages, no numbers: waiters poll, and leases have no tokens. For study, and to share
// locks with programs of that form.
#pragma once
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::lua {

enum class script_name : unsigned char { try_lock, resolve, release, renew, holder };

std::span<const script> all_scripts() noexcept;  // generated at build time from scripts/*.lua

class codec final : public retrying_codec {
 public:
  const core::capabilities& can() const noexcept override;
  const retrying_recipe::rules& rules() const noexcept override;
  std::span<const script> scripts() const noexcept override;
  std::string text_of(const retrying_owner&) const override;
  bool is_owner(std::string_view text) const noexcept override;
  layout_needs needs() const noexcept override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  void append_look(std::string& out, std::string_view key) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;
  std::vector<holder> read_look(const value&) const override;
};

}  // namespace holdfast::redis::lua
