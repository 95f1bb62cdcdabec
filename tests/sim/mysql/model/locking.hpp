// How a statement locks the rows that it finds, in the model of MariaDB.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::sim {

struct locking {
  bool locks = false, is_shared = false;
  bool never_waits = false;              // NOWAIT
  bool skips = false;                    // SKIP LOCKED
  std::optional<std::int64_t> most_s{};  // WAIT, in place of innodb_lock_wait_timeout
};

bool reads(std::string_view statement);  // it may lock what it reads
locking locking_of(std::string_view statement);

}  // namespace holdfast::sim
