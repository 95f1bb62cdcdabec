// The file beside a lock file by which a holder learns that others wait.
#pragma once
#include <string>

#include "backend/file/descriptors.hpp"
#include "backend/file/directory.hpp"

namespace holdfast::file {

// A waiter for the exclusive lock has NAME.waiters locked shared; the holder, and a reader that
// arrives, finds out by trying to lock it exclusively. One claim either waits or holds, so one
// descriptor serves both.
class waiters_file {
 public:
  enum class outcome : unsigned char { done, interrupted, failed };

  waiters_file(directory& place, std::string file) : place_(place), file_(std::move(file)) {}

  outcome announce();  // may block for the moment in which a holder checks
  bool announce_at_once();
  void withdraw() noexcept;
  bool others_wait();    // true when it is unknown
  outcome await_none();  // blocks until, for a moment, nobody waits
  void close() noexcept { fd_.reset(); }
  std::string path() const { return place_.path_of(file_); }

 private:
  bool open();
  bool deleted() const noexcept;

  directory& place_;
  std::string file_;
  descriptor fd_;
};

}  // namespace holdfast::file
