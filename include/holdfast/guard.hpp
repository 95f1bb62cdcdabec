// Guards: a resource calls its guard before it accepts a write of a holder. A lease can be lost
// between the last check and the arrival of a write; only the resource can refuse that write, using
// the fencing token that comes with it.
//
// A holder that reads, computes and writes back presents its token with the read as well. If only
// writes were checked, the late write of an earlier holder could arrive between this holder's read
// and its write, and both writes would be accepted.
//
//   fencing | admits                                   | refuses a late write of an old holder
//   --------+------------------------------------------+------------------------------------------
//   ordered | a token above all it has seen; the same  | once a later holder was admitted, to
//           | token again from the same owner          | read or to write
//   exact   | the owner that was set last, no other    | once a later holder has been set; tokens
//           |                                          | play no part. Not: an old holder's late
//           |                                          | set() itself
//
// Sources: the ordered token is proposed by Martin Kleppmann, "How to do distributed locking",
// 2016, https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html; the unordered
// id is Salvatore Sanfilippo's answer, "Is Redlock safe?", 2016, http://antirez.com/news/101.
#pragma once
#include <holdfast/client.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

enum class fencing : unsigned char { ordered, exact };

// Guards a resource of this process: an open file, a table in memory. It keeps the highest token in
// memory only: after a restart it admits an old token. A resource that outlives the process stores
// the token with its data.
//
// Safe to call from any thread. A read or write that was admitted must be finished before the next
// admit(): hold a lock of the resource (a std::mutex) for both. Neither copyable nor movable.
class fencing_guard {
 public:
  explicit fencing_guard(fencing comparison = fencing::ordered) noexcept
      : comparison_(comparison) {}

  // Returns whether the holder of this token may write, or read in order to write. From then on
  // every smaller token is refused.
  //
  // token  lease::token(); 0 or less is never admitted by fencing::ordered
  // owner  lease::owner()
  // Does not block.
  [[nodiscard]] bool admit(std::int64_t token, std::string_view owner);
  [[nodiscard]] bool admit(const lease& by) { return admit(by.token(), by.owner()); }
  // For fencing::exact: from now on this owner is admitted, and no other.
  void set(std::string_view owner);
  // The highest token that was admitted; 0: none.
  std::int64_t last() const;

 private:
  const fencing comparison_;
  mutable std::mutex mutex_;
  std::int64_t last_ = 0;
  std::string owner_;
};

// Guards a value in Redis: the server checks the token and writes the value in one step.
//
// For a value that does not depend on the one before. A program that reads the value, computes and
// writes back reads it with a script of its own that calls holdfast_admits() first (see lua()).
//
// The guard keeps its state in a hash next to the key, holdfast:{tag}:<key>:g. Safe to call from
// any thread. Copies guard the same value; a moved-from guard fails with errc::closed. The
// destructor closes the client when no other copy of it exists.
class redis_guard {
 public:
  // where       a client of a redis: URL; the lock may be at another server
  // key         the key of the value: not empty, and not starting with "holdfast:"
  // comparison  default: fencing::ordered
  // errc::bad_name     the key is not such a key
  // errc::unsupported  this build has no redis backend
  // errc::closed       the client is empty
  // Does not block.
  redis_guard(client where, std::string_view key, fencing comparison = fencing::ordered);

  // Writes the value if the guard admits the holder; it replaces whatever the key holds.
  //
  // token, owner  lease::token() and lease::owner()
  // Returns true when the value was written, false when the guard refused it.
  // errc::unavailable  the server cannot be reached, did not reply in time or cannot serve now. The
  //                    value may have been written; the call may be repeated.
  // errc::refused      the server denied it, or the guard's key holds something that is not a hash
  // errc::unsupported  the client is not of a redis: URL, or of a layout other than `string`
  // errc::closed       the client was closed
  // errc::forked       the client was opened before fork(), and this is the child
  // Blocks until the server has replied, at most the client's op-timeout (default 5 s).
  [[nodiscard]] bool write(std::int64_t token, std::string_view owner, std::string_view value);
  [[nodiscard]] bool write(std::int64_t token, std::string_view owner, std::string_view value,
                           std::error_code&);
  [[nodiscard]] bool write(const lease& by, std::string_view value) {
    return write(by.token(), by.owner(), value);
  }
  [[nodiscard]] bool write(const lease& by, std::string_view value, std::error_code& ec) {
    return write(by.token(), by.owner(), value, ec);
  }
  // For fencing::exact: from now on this owner may write, and no other. Errors and blocking as for
  // write().
  void set(std::string_view owner);
  void set(std::string_view owner, std::error_code&);

  // The same check for the program's own scripts: Lua source to put before them. It defines
  //   holdfast_admits(guard_key, token, owner)   ordered: true when the holder may write
  //   holdfast_expects(guard_key, owner)         exact: the same
  // where token is text_of(lease.token()). "" when this build has no redis backend.
  static std::string_view lua() noexcept;
  // A token as scripts compare it: 19 digits, because the numbers of Lua cannot hold a token.
  static std::string text_of(std::int64_t token);

 private:
  bool ask(std::string_view operation, std::int64_t token, std::string_view owner,
           std::string_view value);

  client where_;
  std::string key_;
  fencing comparison_;
};

// Guards the data of a node in ZooKeeper: the ensemble writes it only in one step with the check
// that the lock's own node still stands. Nothing of a holder whose session has ended is written,
// however late its request arrives; tokens play no part. Every writer must write through a guard,
// under the same lock.
//
// With a semaphore (layout curator-semaphore) the check is that all permits of the lease still
// stand. Holders of the other permits may write in between, so such a write is exclusive only where
// the total is 1; else give it the version that the data must have.
//
// Safe to call from any thread.
class zookeeper_guard {
 public:
  static constexpr std::int32_t any_version = -1;

  // path  of the node, complete ("/data/job"): the path in the lease's URL is not put before it. It
  //       must exist. Kept as it is; a path that the server refuses is errc::refused by write()
  // Does not block.
  explicit zookeeper_guard(std::string_view path) : path_(path) {}

  // Writes the value under a lease of a client of a zookeeper: URL; the lease must not be released
  // meanwhile.
  //
  // value    replaces the data of the node; at most 1,000,000 bytes
  // version  that the data must have: what the last write has returned; by default any
  // Returns the new version of the data.
  // errc::lost         the lease was lost: nothing was written
  // errc::not_held     the lease is empty
  // errc::refused      the node does not exist, its ACL or a quota refuses this user, its path is
  //                    malformed, or the value is too long; nothing was written
  // errc::mismatch     the data have another version; nothing was written
  // errc::unavailable  no server answered in time, or the connection was lost. The value may have
  //                    been written; the call may be repeated.
  // errc::unsupported  the lease is of another backend, or of layout node, where all holders' nodes
  //                    have the same name
  // errc::closed       the client was closed
  // errc::forked       the lease was made before fork(), and this is the child
  // Blocks until a server has replied, at most the client's op-timeout (default 5 s).
  std::int32_t write(const lease& by, std::string_view value,
                     std::int32_t version = any_version) const;
  std::int32_t write(const lease& by, std::string_view value, std::int32_t version,
                     std::error_code&) const;

 private:
  std::string path_;
};

}  // namespace v0
}  // namespace holdfast
