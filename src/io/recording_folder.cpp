#include "io/recording_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/recording_format.hpp"

namespace holdfast::io {
namespace {

// When there are so many recordings, the oldest of ended processes are removed until the second
// number is left. A recording has 0.4 MB.
constexpr std::size_t recordings_most = 64, recordings_left = 48;
constexpr std::string_view ending = ".recording";

base::failure failed(const char* action, const std::string& path, int error) {
  return {errc::unavailable, std::string("cannot ") + action + ' ' + path + ": " +
                                 std::generic_category().message(error)};
}

std::string_view setting() noexcept {
  const char* const text = ::secure_getenv("HOLDFAST_RECORDER");
  return text ? text : "";
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// The directory must be this user's alone: another one could plant files there, or read which locks
// this user has.
int open_trusted(const std::string& path, base::failure& why) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    why = failed("create", path, errno);
    return -1;
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || ::fstat(fd, &st) != 0) {
    why = failed("open", path, errno);
  } else if (st.st_uid != ::geteuid()) {
    why = {errc::refused, path + " belongs to another user"};
  } else if ((st.st_mode & 077) != 0) {
    why = {errc::refused, path + " is open to other users: chmod 700 it"};
  } else {
    return fd;
  }
  if (fd >= 0) ::close(fd);
  return -1;
}

// PID of "PID-NUMBER.recording"; 0: another file.
pid_t owner_of(std::string_view name) {
  pid_t pid = 0;
  if (!name.ends_with(ending)) return 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc{} && *end == '-' ? pid : 0;
}

bool has_ended(pid_t pid) noexcept { return ::kill(pid, 0) != 0 && errno == ESRCH; }

// The time of the last event in a recording; of another file the earliest time. A mapping does not
// set the time of its file.
std::int64_t last_event_of(int folder, const std::string& name) {
  constexpr std::int64_t earliest = INT64_MIN;
  const int fd = ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return earliest;
  base::recording_header header;
  base::recorded_event last;
  std::int64_t found = earliest;
  if (::pread(fd, &header, sizeof header, 0) == sizeof header &&
      header.magic == base::recording_magic && header.version == base::recording_version &&
      header.events > 0) {
    found = header.opened;
    const std::uint64_t at = header.header_bytes + header.name_bytes +
                             (header.appended - 1) % header.events * sizeof last;
    if (header.appended > 0 &&
        ::pread(fd, &last, sizeof last, static_cast<off_t>(at)) == sizeof last)
      found = std::max(found, last.time);
  }
  ::close(fd);
  return found;
}

// A process that is limited to shorter files would be ended by SIGXFSZ.
bool may_write(std::size_t bytes) noexcept {
  rlimit limit;
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

struct directory_closer {
  void operator()(DIR* d) const noexcept { ::closedir(d); }
};

}  // namespace

std::optional<recording_folder> recording_folder::of_this_user(base::failure& why) {
  std::string path(setting());
  if (is_one_of(path, {"off", "0", "no", "false"})) return {};
  if (is_one_of(path, {"", "on", "1", "yes", "true"}))
    path = "/dev/shm/holdfast-" + std::to_string(::geteuid());
  if (!path.starts_with('/')) {
    why = {errc::bad_option, "HOLDFAST_RECORDER is neither off nor an absolute path"};
    return {};
  }
  const int fd = open_trusted(path, why);
  if (fd < 0) return {};
  return recording_folder(std::move(path), fd);
}

recording_folder::~recording_folder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

recording_folder::recording_folder(recording_folder&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

int recording_folder::create(std::size_t bytes, base::failure& why) const {
  static std::atomic<unsigned> numbers{0};
  if (!may_write(bytes)) {
    why = {errc::refused, "the limit of file sizes (ulimit -f) is too low"};
    return -1;
  }
  remove_oldest();
  int fd = -1;
  std::string name;
  for (int attempts = 0; fd < 0 && attempts < 16; ++attempts) {  // one of another PID namespace
    name = std::to_string(::getpid()) + '-' + std::to_string(++numbers) + std::string(ending);
    fd = ::openat(descriptor_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0600);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) {
    why = failed("create a file in", path_, errno);
    return -1;
  }
  // Without its blocks a write to the mapping of a full file system would raise SIGBUS.
  if (const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes)); error != 0) {
    why = failed("create a file in", path_, error);
    ::close(fd);
    ::unlinkat(descriptor_, name.c_str(), 0);
    return -1;
  }
  return fd;
}

// Several at a time, since a look into each file takes longer than what else opening a client does.
void recording_folder::remove_oldest() const {
  const int again = ::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return;
  const std::unique_ptr<DIR, directory_closer> all(::fdopendir(again));
  if (!all) {
    ::close(again);
    return;
  }
  std::vector<std::pair<pid_t, std::string>> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on a listing of our own
  while (const dirent* const entry = ::readdir(all.get()))
    if (const pid_t pid = owner_of(entry->d_name)) names.emplace_back(pid, entry->d_name);
  if (names.size() < recordings_most) return;
  std::vector<std::pair<std::int64_t, std::string>> dead;
  for (auto& [pid, name] : names)
    if (has_ended(pid)) dead.emplace_back(last_event_of(descriptor_, name), std::move(name));
  std::sort(dead.begin(), dead.end());
  const std::size_t surplus = std::min(dead.size(), names.size() - recordings_left);
  for (std::size_t i = 0; i < surplus; ++i) ::unlinkat(descriptor_, dead[i].second.c_str(), 0);
}

}  // namespace holdfast::io
