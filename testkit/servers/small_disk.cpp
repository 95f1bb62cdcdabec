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
  for (const std::string& folder : {path(), cover()})
    if (::mkdir(folder.c_str(), 0700) != 0)
      throw std::system_error(errno, std::generic_category(), folder);
  is_mounted_ = mount_both(kilobytes);
}

small_disk::~small_disk() {
  if (is_mounted_) unmount_both();
}

// The cover is the same file system, read-only. A mount that becomes read-only after it has been at
// path() would stay so for a program that has opened it before.
bool small_disk::mount_both(std::size_t kilobytes) const {
  const std::string options = "mode=0700,size=" + std::to_string(kilobytes) + 'k';
  if (::mount("none", path().c_str(), "tmpfs", 0, options.c_str()) != 0) return false;
  const bool has_cover =
      ::mount(path().c_str(), cover().c_str(), nullptr, MS_BIND, nullptr) == 0 &&
      ::mount("none", cover().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  if (!has_cover) unmount_both();
  return has_cover;
}

void small_disk::unmount_both() const {
  ::umount2(cover().c_str(), MNT_DETACH);
  ::umount2(path().c_str(), MNT_DETACH);
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

void small_disk::make_read_only() const {
  if (::mount(cover().c_str(), path().c_str(), nullptr, MS_BIND, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(), path());
}

void small_disk::make_writable() const { ::umount2(path().c_str(), MNT_DETACH); }

}  // namespace holdfast::testkit
