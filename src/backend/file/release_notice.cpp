#include "backend/file/release_notice.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace holdfast::file {
namespace {

// Pauses until the next check; the first ones follow a notice.
constexpr int pauses_ms[] = {1, 10, 500};
constexpr unsigned last_pause = std::size(pauses_ms) - 1;

}  // namespace

void release_notice::listen(descriptor_table& files, int lock_file) {
  if (fd_) return;
  fd_ = files.open([] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); });
  const std::string path = "/proc/self/fd/" + std::to_string(lock_file);
  if (fd_ && ::inotify_add_watch(fd_.get(), path.c_str(), IN_ATTRIB | IN_CLOSE_WRITE) < 0)
    fd_.reset();
  looks_ = last_pause;
}

void release_notice::wait() noexcept {
  const int pause = pauses_ms[looks_];
  looks_ = std::min(looks_ + 1, last_pause);
  struct pollfd p = {fd_.get(), POLLIN, 0};  // poll() ignores a negative descriptor
  if (::poll(&p, 1, pause) <= 0) return;
  alignas(struct inotify_event) char told[4096];
  while (::read(fd_.get(), told, sizeof told) > 0) {}
  looks_ = 0;
}

void release_notice::notify(int lock_file) noexcept { ::futimens(lock_file, nullptr); }

}  // namespace holdfast::file
