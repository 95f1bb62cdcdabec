#include "testkit/servers/small_disk.hpp"

#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace holdfast::testkit {

small_disk::small_disk(std::size_t kilobytes) {
  if (::mkdir(path().c_str(), 0700) != 0)
    throw std::system_error(errno, std::generic_category(), path());
  const std::string options = "mode=0700,size=" + std::to_string(kilobytes) + 'k';
  is_mounted_ = ::mount("none", path().c_str(), "tmpfs", 0, options.c_str()) == 0;
}

small_disk::~small_disk() {
  if (is_mounted_) ::umount2(path().c_str(), MNT_DETACH);
}

// Large blocks first, which fail while there is still room for small ones.
void small_disk::fill() const {
  for (std::size_t size = std::size_t{1} << 20; size > 0; size /= 256) {
    const std::string block(size, '#');
    std::ofstream out(filler(), std::ios::binary | std::ios::app);
    while (out.write(block.data(), static_cast<std::streamsize>(size)).flush()) {}
  }
}

void small_disk::make_room() const { std::filesystem::remove(filler()); }

}  // namespace holdfast::testkit
