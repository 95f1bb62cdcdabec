// Guards: what a resource asks before it lets a holder write. A lease can be lost between the last
// check of it and the moment at which a write arrives; only the resource itself can refuse that
// write, by the fencing token that comes with it.
//
//   fencing | admits                                   | catches a late write of an old holder
//   --------+------------------------------------------+------------------------------------------
//   ordered | a token above all it has seen; the same  | once a later holder has written; always
//           | token again from the same owner          | when tokens keep the order of the grants
//   exact   | the owner that was set last, no other    | once a later holder has been set; tokens
//           |                                          | play no part. Not: an old holder's late
//           |                                          | set() itself
//
// (The unordered id is what the author of Redlock answered to "How to do distributed locking",
// Kleppmann 2016, who asks for the ordered token.)
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/fwd.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

enum class fencing : unsigned char { ordered, exact };

// For a resource of this process: a file it has open, a table it keeps. Safe from any thread. What
// is admitted has to be written before the next is asked: hold a lock of the resource meanwhile.
class fencing_guard {
 public:
  explicit fencing_guard(fencing how = fencing::ordered) noexcept : how_(how) {}

  // May the holder of this token write? `owner` is lease::owner().
  [[nodiscard]] bool admit(std::int64_t token, std::string_view owner);
  [[nodiscard]] bool admit(const lease& by) { return admit(by.token(), by.owner()); }
  // For exact: from here on this owner writes, and no other.
  void set(std::string_view owner);
  std::int64_t last() const;  // the highest token that was admitted

 private:
  const fencing how_;
  mutable std::mutex mutex_;
  std::int64_t last_ = 0;
  std::string owner_;
};

// For a value in Redis: one call that writes it only if the token stands, in one step at the
// server. The guard remembers in a hash of its own beside the key: holdfast:{tag}:<key>:g. Needs a
// client of a redis: URL, which may be another server than the lock's. Safe from any thread.
class redis_guard {
 public:
  // Throws lock_error: bad_name, unsupported, closed (the client is empty).
  redis_guard(client where, std::string_view key, fencing how = fencing::ordered);

  // True when it was written, false when the guard refused it. Waits for the answer, at most the
  // client's op-timeout. Errors: unavailable, refused, mismatch (the key holds something else),
  // closed. After `unavailable` nothing is known of the write; it may be repeated.
  [[nodiscard]] bool write(std::int64_t token, std::string_view owner, std::string_view value);
  [[nodiscard]] bool write(std::int64_t token, std::string_view owner, std::string_view value,
                           std::error_code&);
  [[nodiscard]] bool write(const lease& by, std::string_view value) {
    return write(by.token(), by.owner(), value);
  }
  [[nodiscard]] bool write(const lease& by, std::string_view value, std::error_code& ec) {
    return write(by.token(), by.owner(), value, ec);
  }
  // For exact: from here on this owner writes, and no other. Waits and fails as write().
  void set(std::string_view owner);
  void set(std::string_view owner, std::error_code&);

  // The same check for scripts of your own: Lua text that defines
  //   holdfast_admits(guard_key, token, owner)   ordered; true when the write may be done
  //   holdfast_expects(guard_key, owner)         exact; likewise
  // where token is text_of(lease.token()). Empty when this build has no redis backend.
  static std::string_view lua() noexcept;
  // A token as scripts compare it: 19 digits. Numbers of Lua cannot hold one.
  static std::string text_of(std::int64_t token);

 private:
  bool ask(std::string_view what, std::int64_t token, std::string_view owner,
           std::string_view value);

  client where_;
  std::string key_;
  fencing how_;
};

}  // namespace v0
}  // namespace holdfast
