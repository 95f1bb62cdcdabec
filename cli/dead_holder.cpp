#include "cli/dead_holder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "cli/duration_text.hpp"
#include "cli/file_descriptor.hpp"

namespace holdfast::cli {
namespace {

bool is_this_host(const std::string& name) {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 && name == host.data();
}

// Ended, but not yet waited for by its parent.
bool is_zombie(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  const auto got = file ? ::read(file.get(), text.data(), text.size()) : 0;
  const std::string_view all(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto name_end = all.rfind(") ");
  return name_end != all.npos && all.substr(name_end + 2).starts_with('Z');
}

}  // namespace

std::optional<bool> is_dead(const holder& h) {
  if (h.pid <= 0 || h.host.empty() || !is_this_host(h.host)) return {};
  const auto pid = static_cast<pid_t>(h.pid);
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  return is_zombie(pid);
}

std::string why_still_held(const holder& h) {
  if (h.expires_in == std::chrono::milliseconds::max())
    return "a process that it started keeps the lock (`holdfast break` names the file)";
  return "its lease expires in " + spoken(h.expires_in);
}

}  // namespace holdfast::cli
