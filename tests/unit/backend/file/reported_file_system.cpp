#include "tests/unit/backend/file/reported_file_system.hpp"

#include <dlfcn.h>
#include <sys/vfs.h>

namespace {

thread_local long reported_type = 0;         // 0: the true one
thread_local long reported_name_bytes = -1;  // the same for -1

template <class Out>
int report(const char* call, int fd, Out* out) noexcept {
  const auto real = reinterpret_cast<int (*)(int, Out*)>(::dlsym(RTLD_NEXT, call));
  const int result = real(fd, out);
  if (result != 0) return result;
  if (reported_type != 0) out->f_type = static_cast<decltype(out->f_type)>(reported_type);
  if (reported_name_bytes >= 0)
    out->f_namelen = static_cast<decltype(out->f_namelen)>(reported_name_bytes);
  return result;
}

}  // namespace

// Which of the two the library calls depends on _FILE_OFFSET_BITS, which hiredis sets.
extern "C" int reported_fstatfs(int fd, struct statfs* out) noexcept __asm__("fstatfs");
extern "C" int reported_fstatfs64(int fd, struct statfs64* out) noexcept __asm__("fstatfs64");

extern "C" int reported_fstatfs(int fd, struct statfs* out) noexcept {
  return report("fstatfs", fd, out);
}

extern "C" int reported_fstatfs64(int fd, struct statfs64* out) noexcept {
  return report("fstatfs64", fd, out);
}

namespace holdfast::file {

reported_file_system::reported_file_system(long type, long name_bytes) {
  reported_type = type;
  reported_name_bytes = name_bytes;
}

reported_file_system::~reported_file_system() {
  reported_type = 0;
  reported_name_bytes = -1;
}

}  // namespace holdfast::file
