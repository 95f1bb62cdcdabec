// How those that wait for permits learn that some may have come free.
#pragma once
#include "backend/file/descriptors.hpp"

namespace holdfast::file {

// inotify(7) on the lock file: whoever lets go of permits while somebody waits touches the file's
// time, and the end of a process closes the file, which the kernel tells a moment before it lets go
// of the locks. Hence a look soon after each, and one in half a second at the latest, whatever was
// told: inotify may be used up (128 watchers for a user), and is only a hint.
class release_notice {
 public:
  // Hears what comes from now on.
  void listen(descriptor_table&, int lock_file);
  void stop_listening() noexcept { fd_.reset(); }
  // Until it rings or it is time to look; earlier when a signal comes.
  void wait() noexcept;

  static void notify(int lock_file) noexcept;

 private:
  descriptor fd_;
  unsigned looks_ = 0;  // since it last rang
};

}  // namespace holdfast::file
