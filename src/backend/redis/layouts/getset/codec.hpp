// Layout `getset`: the documents' lock whose value is a Unix time stamp. For study: it is not safe,
// and docs/backends/redis-documentation.md shows how it fails.
//
// The key is the name and ".lock", its value the ms since 1970 at which the holder acquired or
// renewed it, by the holder's clock; it has no ttl. A stamp older than ?stale-after= is a dead
// holder's. Where a lease is to live for another time than that, its stamp is as much later or
// earlier.
//
//   acquire   | SETNX; when it was 0, GET; when that stamp is dead, GETSET, and the lock is ours
//             | when GETSET answers the stamp that was read, or none
//   release   | GET; when it is our stamp, DEL
//   no answer | GET: is it our stamp?
//   renew     | a script of ours, as the documents have none: compares the stamp and writes a newer
//             | one. A holder that calls extend() before the critical step re-reads its stamp so
#pragma once
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::getset {

class codec final : public retrying_codec {
 public:
  explicit codec(duration stale_after) noexcept;

  std::string text_of(const retrying_owner&) const override;
  bool is_owner(std::string_view text) const noexcept override;
  std::chrono::microseconds stamp_at(std::chrono::microseconds wall, duration ttl) const override;

  void append(command_writer&, retrying_operation, const lock_request&) const override;
  retrying_reply read(const value&, const lock_request&, retrying_reply r) const override;
  void append_renewals(command_writer&, std::span<const lock_request>) const override;
  std::vector<holder> read_holders_reply(const value&) const override;

 private:
  retrying_reply read_try(const value&, const lock_request&, retrying_reply) const;
  // Until a stamp is dead; max() where it is none.
  duration rest_of(std::string_view stamp, std::chrono::microseconds wall) const noexcept;

  const std::chrono::milliseconds stale_after_;
};

}  // namespace holdfast::redis::getset
