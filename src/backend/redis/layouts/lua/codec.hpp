// Layout `lua`: a lock is one key with its owner's text, by the documents' older form of an atomic
// acquire (SETNX and PEXPIRE in one script), with compare-and-delete and compare-and-PEXPIRE. No
// queue, no messages, no numbers: waiters poll, and leases have no tokens. For study, and to share
// locks with programs of that form.
#pragma once
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::lua {

class codec final : public retrying_codec {
 public:
  codec() noexcept;
  void append(command_writer&, retrying_operation, const lock_request&) const override;
};

}  // namespace holdfast::redis::lua
