#include "cli/process_state.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "cli/file_descriptor.hpp"

namespace holdfast::cli {

process_state state_of(std::int64_t pid, std::uint64_t start, std::uint64_t pid_namespace) {
  struct stat mine;
  if (::stat("/proc/self/ns/pid", &mine) != 0 || mine.st_ino != pid_namespace)
    return process_state::unknown;
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno == ENOENT ? process_state::ended : process_state::unknown;
  char text[512];
  const ssize_t size = ::read(file.get(), text, sizeof text);
  if (size <= 0) return process_state::ended;
  const std::string_view all(text, static_cast<std::size_t>(size));
  std::size_t at = all.rfind(')');
  if (at == all.npos || at + 2 >= all.size()) return process_state::unknown;
  const char letter = all[at + 2];
  for (int field = 2; field < 22 && at != all.npos; ++field) at = all.find(' ', at + 1);
  std::uint64_t found = 0;
  if (at != all.npos) std::from_chars(all.data() + at + 1, all.data() + all.size(), found);
  if (found != start || letter == 'Z' || letter == 'X') return process_state::ended;
  return letter == 'T' || letter == 't' ? process_state::stopped : process_state::running;
}

}  // namespace holdfast::cli
