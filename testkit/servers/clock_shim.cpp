#include "testkit/servers/clock_shim.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace holdfast::testkit {

clock_shim::clock_shim(const std::string& file) : file_(file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  void* at = MAP_FAILED;
  if (descriptor >= 0 && ::ftruncate(descriptor, sizeof *offset_ms_) == 0)
    at = ::mmap(nullptr, sizeof *offset_ms_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (at == MAP_FAILED) throw std::system_error(why, std::generic_category(), file);
  offset_ms_ = static_cast<long long*>(at);
}

clock_shim::~clock_shim() { ::munmap(offset_ms_, sizeof *offset_ms_); }

void clock_shim::set_offset(std::chrono::milliseconds offset) noexcept {
  std::atomic_ref(*offset_ms_).store(offset.count());
}

std::vector<std::pair<std::string, std::string>> clock_shim::environment() const {
  return {{"LD_PRELOAD", HOLDFAST_CLOCK_SHIM}, {"HOLDFAST_CLOCK_SHIM_FILE", file_}};
}

}  // namespace holdfast::testkit
