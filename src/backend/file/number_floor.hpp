// What the numbers of a directory's removed lock files had come to.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backend/file/directory.hpp"

namespace holdfast::file {

// The directory's .floor: a record (record.hpp) whose number is at least that of every lock file
// that was removed as unused. A new lock file starts above it, so a name's numbers grow although
// its file was gone, also when the clock was set back meanwhile. Raised with .floor locked
// exclusively, in one write, before the file that it is raised for is removed. Read without a lock:
// a reader has a file of its own locked that was made after the one before it was removed, hence
// after the raise.
class number_floor {
 public:
  explicit number_floor(directory& place) noexcept : place_(place) {}

  // 0 while nothing was removed. Nothing: with errno when it cannot be read, with errno 0 when
  // .floor holds no record.
  std::optional<std::int64_t> read() const;
  // To `number` at least. False: it could not be, or another process has .floor locked.
  bool raise(std::int64_t number, std::string_view host, std::chrono::microseconds wall);

 private:
  directory& place_;
};

}  // namespace holdfast::file
