// The statements of one kind of lock that a connection holds.
//
// Each but create() is executed by the connection that is to hold the lock, outside of automatic
// commits. A reply is read in the same way for every kind (replies.cpp):
//
//   statement        | reply
//   -----------------+--------------------------------------------------------------------------
//   try_lock         | {1, number, read-only}: granted | {0}, error 1205 or 3572: busy
//                    | {NULL}: interrupted
//                    | no row: what is locked does not exist
//   wait             | {1}: granted at some time | the others of try_lock
//   confirm          | {1, number, read-only}: this connection holds it | {0}, {NULL}: it does not
//   create           | error 1205: another connection holds it
//   release          | {1}, no row: released | {0}, {NULL}: it was not held
//
// The number is a UUID_SHORT() that was drawn while the lock was held. A read-only server, which is
// a replica, grants locks to connections as well.
#pragma once
#include <holdfast/options.hpp>

#include <string>
#include <string_view>

#include "backend/mysql/transport/statement.hpp"

namespace holdfast::mysql::pinned {

class lock_statements {
 public:
  // The key by which the other statements name the lock.
  virtual std::string key_of(std::string_view name) const = 0;
  virtual sql_statement try_lock(std::string_view key, lock_mode) const = 0;
  virtual sql_statement wait(std::string_view key, lock_mode) const = 0;
  virtual sql_statement confirm(std::string_view key, lock_mode) const = 0;
  virtual sql_statement create(std::string_view key) const = 0;  // only after "does not exist"
  virtual sql_statement release(std::string_view key) const = 0;
  // Ends what a try without a grant has left on its connection; empty: nothing.
  virtual sql_statement end_of_try() const { return {}; }

 protected:
  ~lock_statements() = default;
};

}  // namespace holdfast::mysql::pinned
