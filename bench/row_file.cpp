// file/w1: the uncontended cycle.
#include <holdfast/holdfast.hpp>

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "bare_flock.hpp"
#include "pace.hpp"
#include "row.hpp"
#include "scratch_folder.hpp"

namespace bench {
namespace {

// The minimum for a lock file with a fencing token: the lock, a check that the file still has its
// name, and the stored number.
class counted_flock {
 public:
  explicit counted_flock(const std::string& file) : flock_(file) {}
  void lock() {
    flock_.lock();
    struct stat now {};
    if (fstat(flock_.descriptor(), &now) != 0 || now.st_nlink == 0) fail("fstat");
    ++counter_;
    if (pwrite(flock_.descriptor(), &counter_, sizeof counter_, 0) != sizeof counter_)
      fail("pwrite");
  }
  void unlock() { flock_.unlock(); }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  bare_flock flock_;
  std::uint64_t counter_ = 0;
};

struct file_locks {
  scratch_folder folder;
  counted_flock bare{folder.file("bare")};
  holdfast::client client = holdfast::client::open(folder.url());
  holdfast::mutex mutex = client.mutex("bench");
};

template <class Lock>
outcome cycles_per_second(Lock& lock, seconds length) {
  return {1e9 / nanoseconds_per_cycle(length, [&lock] { std::lock_guard guard(lock); }), {}};
}

}  // namespace

std::vector<contest> file_uncontended() {
  const auto locks = std::make_shared<file_locks>();
  return {{"", [locks](seconds length) { return cycles_per_second(locks->bare, length); },
           [locks](seconds length) { return cycles_per_second(locks->mutex, length); }}};
}

}  // namespace bench
