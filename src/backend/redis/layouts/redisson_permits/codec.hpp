// Layout `redisson-permits`: a semaphore whose permits end, as Redisson keeps it.
// Source: RedissonPermitExpirableSemaphore of Redisson.
//
//   key             | type   | what
//   ----------------+--------+-------------------------------------------------------------------
//   R               | string | how many permits are available
//   {R}:timeout     | zset   | 16 bytes for each permit that is out -> ms since 1970 when it ends,
//                   |        | by the clock of the client that has it
//   redisson_sc:{R} |        | the channel: how many are available, when it has become more
//
// Each operation takes back the permits whose end has come. The permits of one claim are 12 random
// bytes and a number, so that its owner text, the first of them in hexadecimal digits, shows all.
#pragma once
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redisson_permits {

enum class script_name : unsigned char { try_lock, release, renew, holders, break_lock };

std::span<const script> all_scripts() noexcept;  // generated at build time from scripts/*.lua

class codec final : public retrying_codec {
 public:
  const core::capabilities& can() const noexcept override;
  const retrying_recipe::rules& rules() const noexcept override;
  std::span<const script> scripts() const noexcept override;
  std::string text_of(const retrying_owner&) const override;
  bool is_owner(std::string_view text) const noexcept override;
  std::string name_fault(std::string_view name) const override;
  std::string channel_of(const lock_request&) const override;
  std::span<const error_meaning> own_errors() const noexcept override;
  layout_needs needs() const noexcept override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  void append_look(std::string& out, std::string_view key) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;
  std::vector<holder> read_look(const value&) const override;
};

}  // namespace holdfast::redis::redisson_permits
