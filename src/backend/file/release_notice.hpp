// Notifies waiters for permits that some may be free.
#pragma once
#include "backend/file/descriptors.hpp"

namespace holdfast::file {

// inotify(7) on the lock file. A holder that releases permits while others wait touches the file's
// time; the end of a process closes the file, which the kernel reports a moment before it releases
// the locks. Hence waiters check soon after each notice, and every half second in any case: inotify
// may be used up (128 watchers per user), and is only a hint.
class release_notice {
 public:
  // Receives notices from now on.
  void listen(descriptor_table&, int lock_file);
  void stop_listening() noexcept { fd_.reset(); }
  // Returns at a notice, when a check is due, or earlier when a signal comes.
  void wait() noexcept;

  static void notify(int lock_file) noexcept;

 private:
  descriptor fd_;
  unsigned looks_ = 0;  // checks since the last notice
};

}  // namespace holdfast::file
