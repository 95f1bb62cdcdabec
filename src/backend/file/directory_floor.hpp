// The highest number of the lock files removed from a directory.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backend/file/directory.hpp"

namespace holdfast::file {

// The directory's .floor: a record (record.hpp) whose number is at least that of every lock file
// removed as unused. A new lock file starts above it, so a name's numbers grow although its file
// was removed, even if the clock was set back meanwhile. It is raised with .floor locked
// exclusively, in one write, before the file for which it is raised is removed. It is read without
// a lock: the reader has locked a lock file that was created after the previous one was removed,
// hence after the raise.
class directory_floor {
 public:
  explicit directory_floor(directory& place) noexcept : place_(place) {}

  // 0 while nothing was removed. nullopt: with errno when it cannot be read, with errno 0 when
  // .floor holds no record.
  std::optional<std::int64_t> read() const;
  // Raises it to `number` at least. False: that failed, or another process has .floor locked.
  bool raise(std::int64_t number, std::string_view host, std::chrono::microseconds wall);

 private:
  directory& place_;
};

}  // namespace holdfast::file
