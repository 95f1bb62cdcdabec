// Finds the recordings of this machine.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "history/recording.hpp"

namespace holdfast::history {
namespace {

constexpr std::string_view shared_memory = "/dev/shm", folder_prefix = "holdfast-";
constexpr std::size_t longest_file = 1u << 29;

std::string read_boot() {
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  char text[40];
  const ssize_t size = fd < 0 ? 0 : ::read(fd, text, sizeof text);
  if (fd >= 0) ::close(fd);
  const std::string_view read(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return std::string(read.substr(0, read.find('\n')));
}

// False with errno.
bool read_file(const std::string& path, std::string& to) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat st;
  if (fd < 0) return false;
  bool is_read = ::fstat(fd, &st) == 0;
  if (is_read && (!S_ISREG(st.st_mode) || static_cast<std::size_t>(st.st_size) > longest_file)) {
    errno = EFBIG;
    is_read = false;
  }
  to.resize(is_read ? static_cast<std::size_t>(st.st_size) : 0);
  std::size_t size = 0;
  while (is_read && size < to.size()) {
    const ssize_t got = ::pread(fd, to.data() + size, to.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    is_read = got >= 0;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(fd);
  errno = error;
  to.resize(size);
  return is_read;
}

void read_one(const std::string& path, const moment& until, const std::string& boot,
              recordings& to) {
  std::string bytes, why;
  if (!read_file(path, bytes)) {
    if (errno != ENOENT)  // else it was removed in the meantime
      to.unreadable.push_back("cannot read " + path + ": " +
                              std::generic_category().message(errno));
    return;
  }
  client_recording one = parse_recording(bytes, until, why);
  if (!why.empty()) {
    to.unreadable.push_back("cannot read " + path + ": " + why);
  } else if (!one.boot.empty() && !boot.empty() && one.boot != boot) {
    ++to.of_earlier_boots;
  } else {
    one.file = path;
    to.clients.push_back(std::move(one));
  }
}

}  // namespace

std::vector<std::string> recording_folders(std::string_view folder) {
  if (folder.starts_with('/')) return {std::string(folder)};
  std::vector<std::string> out;
  std::error_code ignored;
  if (::geteuid() != 0) {
    out.push_back(std::string(shared_memory) + '/' + std::string(folder_prefix) +
                  std::to_string(::geteuid()));
  } else {
    for (const auto& entry : std::filesystem::directory_iterator(shared_memory, ignored)) {
      const std::string name = entry.path().filename();
      const std::string_view user = name.starts_with(folder_prefix)
                                        ? std::string_view(name).substr(folder_prefix.size())
                                        : "";
      if (!user.empty() && user.find_first_not_of("0123456789") == user.npos)
        out.push_back(entry.path());
    }
  }
  std::ranges::sort(out);
  return out;
}

recordings read_recordings(std::span<const std::string> folders, const moment& until) {
  recordings out;
  const std::string boot = read_boot();
  for (const std::string& folder : folders) {
    std::error_code error;
    std::vector<std::string> files;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
      if (at->path().extension() == ".recording") files.push_back(at->path());
    if (error && error != std::errc::no_such_file_or_directory)
      out.unreadable.push_back("cannot read " + folder + ": " + error.message());
    std::ranges::sort(files);
    for (const std::string& file : files) read_one(file, until, boot, out);
  }
  return out;
}

}  // namespace holdfast::history
