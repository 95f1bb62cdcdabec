// A file that is locked briefly while something is done to it.
#pragma once
#include "backend/file/descriptors.hpp"
#include "backend/file/directory.hpp"

namespace holdfast::file {

// The destructor unlocks explicitly: a child of a fork may have a copy of the descriptor until it
// calls exec, and would keep the lock.
class flocked_file {
 public:
  explicit flocked_file(descriptor d) noexcept : fd_(std::move(d)) {}
  flocked_file(const flocked_file&) = delete;
  flocked_file& operator=(const flocked_file&) = delete;
  ~flocked_file();

  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  int get() const noexcept { return fd_.get(); }

  bool try_exclusive() noexcept;
  // Whether the directory's file of that name is this one, and it has no other name.
  bool is_named(const directory&, const char* file) const noexcept;

 private:
  descriptor fd_;
};

}  // namespace holdfast::file
