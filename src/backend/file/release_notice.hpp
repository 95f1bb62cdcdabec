// Notifies waiters for permits that some may be free.
#pragma once
#include <mutex>
#include <vector>

#include "backend/file/descriptors.hpp"

namespace holdfast::file {

// The inotify(7) instances of one backend that no waiter uses. A few stay open, because closing one
// takes milliseconds, and far longer on a busy machine. Safe from any thread.
class notice_pool {
 public:
  explicit notice_pool(descriptor_table& files) : files_(files) { idle_.reserve(idle_max); }
  descriptor take();  // empty: none could be opened
  void give_back(descriptor) noexcept;

 private:
  static constexpr std::size_t idle_max = 4;

  descriptor_table& files_;
  std::mutex mutex_;
  std::vector<descriptor> idle_;
};

// inotify(7) on the lock file. A holder that releases permits while others wait touches the file's
// time; the end of a process closes the file, which the kernel reports a moment before it releases
// the locks. Hence waiters check soon after each notice, and every half second in any case: inotify
// may be used up (128 watchers per user), and is only a hint.
class release_notice {
 public:
  explicit release_notice(notice_pool& pool) noexcept : pool_(pool) {}

  // Receives notices from now on.
  void listen(int lock_file);
  void stop_listening() noexcept;
  // Returns at a notice, when a check is due, or earlier when a signal comes.
  void wait() noexcept;

  static void notify(int lock_file) noexcept;

 private:
  void drain() noexcept;

  notice_pool& pool_;
  descriptor fd_;
  int watch_ = -1;
  unsigned looks_ = 0;  // checks since the last notice
};

}  // namespace holdfast::file
