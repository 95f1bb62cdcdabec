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
#include "backend/redis/layouts/redisson/family.hpp"

namespace holdfast::redis::redisson_permits {

class codec final : public redisson::family_codec {
 public:
  explicit codec(channel_kind = channel_kind::plain) noexcept;
  std::string text_of(const retrying_owner&) const override;
  bool is_owner(std::string_view text) const noexcept override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  void append_holders_query(std::string& out, std::string_view key) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;
  std::vector<holder> read_holders_reply(const value&) const override;
};

}  // namespace holdfast::redis::redisson_permits
