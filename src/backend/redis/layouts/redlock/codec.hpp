// The requests of a Redlock to one of its servers. A lock is what every Redlock implementation
// stores: the key with the owner's random value, set by SET NX PX. Beside the locks each server has
// one record, whose number rises with each lock that is set there.
#pragma once
#include <string_view>

#include "backend/redis/layouts/redlock/fitness.hpp"
#include "backend/redis/layouts/redlock/tally.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redlock {

class codec final : public retrying_codec {
 public:
  codec() noexcept;

  std::string name_fault(std::string_view name) const override;
  std::string channel_of(const lock_request&) const override;
  void append(command_writer&, retrying_operation, const lock_request&) const override;
  void append_break(std::string& out, std::string_view key, std::string_view seen) const override;

  // Raises the server's number to this one, where the server has granted an attempt of this owner.
  void append_raise(command_writer&, const lock_request&, std::int64_t number) const;
  void append_record_query(command_writer&, std::string_view process) const;
  void append_begin(command_writer&, std::int64_t number, duration max_ttl,
                    const server_state&) const;
};

struct release_message {
  std::string_view owner;
  bool is_withdrawal = false;  // of an attempt that has lost: the lock may have another owner
};
release_message read_message(std::string_view payload) noexcept;

// A value that is no answer to the request is a missing vote.
ballot read_attempt(const value&);
ballot read_comparison(const value&);  // of a renewal, a release, a raise
server_record read_record(const value&);

}  // namespace holdfast::redis::redlock
