// Layouts `setnx` and `setnx-exists`: the documents' oldest locks, one key, with commands that
// are sent one by one. Demonstration only (unsafe): docs/backends/redis-documentation.md shows how
// they fail.
//
//             | setnx                             | setnx-exists
//   ----------+-----------------------------------+---------------------------------------------
//   acquire   | SETNX; when it was 1, PEXPIRE     | EXISTS; when it was 0, SETNX whose answer is
//             |                                   | ignored, and PEXPIRE
//   release   | DEL, of any owner                 | the same
//   no grant  | nothing                           | DEL, of any owner
//   no answer | GET; when it is ours, PEXPIRE     | the same
//   withdraw  | GET; when it is ours, DEL         | DEL, of any owner
//   renew     | MULTI, GET and PEXPIRE, EXEC: a holder learns of its loss, and has lengthened
//             | the next one's lease by then
#pragma once
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::setnx {

enum class acquired_by : unsigned char { setnx, exists };

class codec final : public retrying_codec {
 public:
  explicit codec(acquired_by) noexcept;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  retrying_reply read(const value&, const lock_request&, retrying_reply r) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  std::uint32_t renewal_replies(std::size_t locks) const noexcept override;
  retrying_reply read_renewal(const value&, std::size_t index, retrying_reply r) const override;

 private:
  enum class part : unsigned char { exists, set, expire, get, del };
  part part_of(retrying_operation, std::uint8_t step) const noexcept;

  const bool tests_existence_;
};

}  // namespace holdfast::redis::setnx
