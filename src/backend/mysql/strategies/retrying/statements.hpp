// The statements of a strategy whose locks are rows, each with a lease on the server's clock.
#pragma once
#include <holdfast/options.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/mysql/transport/sql_connection.hpp"
#include "base/environment.hpp"

namespace holdfast::mysql::retrying {

struct lock_request {
  std::string_view name, owner, note, host;
  std::int64_t pid = 0;
  base::duration ttl{};
  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 0, total_permits = 0;
};

// How far a list has been read, of one table of holders.
struct page_cursor {
  sql_row last;  // the last row of the page before; empty: there is none
  bool is_at_end = false;
};
using page_cursors = std::array<page_cursor, 2>;

class statements {
 public:
  // A try is several statements where the lock is busy, or was never requested before. The strategy
  // knows what the reply to each step means.
  virtual sql_statement try_lock(const lock_request&, std::uint8_t step) const = 0;
  virtual sql_statement look(std::string_view name) const = 0;  // {owner, microseconds left}
  // Each compares the owner.
  virtual sql_statement renew(const lock_request&) const = 0;
  virtual sql_statement release(std::string_view name, std::string_view owner, lock_mode) const = 0;
  // To be executed one after the other: the lock is taken from the owner that an operator has seen.
  virtual std::vector<sql_statement> break_lock(std::string_view name,
                                                std::string_view seen) const {
    return {release(name, seen, lock_mode::exclusive)};
  }
  // {name, owner} of expired rows that keep no number, the next `limit` after `last`. Each is
  // deleted by expiry(), which compares again: its owner may have renewed it meanwhile.
  virtual std::string expired_by_prefix(std::string_view prefix, const sql_row& last,
                                        std::int64_t limit) const = 0;
  virtual sql_statement expiry(std::string_view name, std::string_view owner) const = 0;
  // {name, owner, number, note, host, pid, held us, left us} of each lock that is held. Also, where
  // it is not held exclusively: {permits, size of the semaphore}, both 0 for a reader.
  // A page has the next `limit` rows of each table that is not at its end. Those that are not held
  // exclusively are of the second table.
  virtual std::string page_of_holders(std::string_view prefix, const page_cursors&,
                                      std::int64_t limit) const = 0;
  virtual std::string holders_of(std::string_view name) const = 0;

 protected:
  ~statements() = default;
};

}  // namespace holdfast::mysql::retrying
