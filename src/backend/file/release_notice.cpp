#include "backend/file/release_notice.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace holdfast::file {
namespace {

// Pauses until the next check; the first ones follow a notice.
constexpr int pauses_ms[] = {1, 10, 500};
constexpr unsigned last_pause = std::size(pauses_ms) - 1;

}  // namespace

descriptor notice_pool::take() {
  {
    const std::lock_guard guard(mutex_);
    if (!idle_.empty()) {
      descriptor out = std::move(idle_.back());
      idle_.pop_back();
      return out;
    }
  }
  return files_.open([] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); });
}

void notice_pool::give_back(descriptor unused) noexcept {
  const std::lock_guard guard(mutex_);
  if (idle_.size() < idle_max) idle_.push_back(std::move(unused));
}

void release_notice::listen(int lock_file) {
  if (fd_) return;
  looks_ = last_pause;
  fd_ = pool_.take();
  if (!fd_) return;
  drain();  // notices of another waiter
  const std::string path = "/proc/self/fd/" + std::to_string(lock_file);
  watch_ = ::inotify_add_watch(fd_.get(), path.c_str(), IN_ATTRIB | IN_CLOSE_WRITE);
  if (watch_ < 0) stop_listening();
}

void release_notice::stop_listening() noexcept {
  if (!fd_) return;
  if (watch_ >= 0) ::inotify_rm_watch(fd_.get(), watch_);
  pool_.give_back(std::move(fd_));
  watch_ = -1;
}

void release_notice::wait() noexcept {
  const int pause = pauses_ms[looks_];
  looks_ = std::min(looks_ + 1, last_pause);
  struct pollfd p = {fd_.get(), POLLIN, 0};  // poll() ignores a negative descriptor
  if (::poll(&p, 1, pause) <= 0) return;
  drain();
  looks_ = 0;
}

void release_notice::drain() noexcept {
  alignas(struct inotify_event) char events[4096];
  while (::read(fd_.get(), events, sizeof events) > 0) {}
}

void release_notice::notify(int lock_file) noexcept { ::futimens(lock_file, nullptr); }

}  // namespace holdfast::file
