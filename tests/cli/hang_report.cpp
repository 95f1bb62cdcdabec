#include "tests/cli/hang_report.hpp"

#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "tests/cli/process.hpp"

namespace holdfast::cli_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code gone;
  for (fs::directory_iterator i(directory, gone), end; !gone && i != end; i.increment(gone))
    out.push_back(i->path());
  return out;
}

// Files of /proc end with a line end or with none.
std::string line_of(const fs::path& file) {
  std::string text = file_text(file.string());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void add(std::ostream& to, const fs::path& process) {
  to << process.string() << ":\n";
  std::string all_children;
  for (const fs::path& thread : entries_of(process / "task")) {
    to << "  thread " << thread.filename().string() << ' ' << line_of(thread / "comm") << " in "
       << line_of(thread / "wchan") << ", system call " << line_of(thread / "syscall") << '\n';
    all_children += line_of(thread / "children") + ' ';
  }
  for (const fs::path& descriptor : entries_of(process / "fd")) {
    std::error_code gone;
    to << "  descriptor " << descriptor.filename().string() << ' '
       << fs::read_symlink(descriptor, gone).string() << '\n';
  }
  std::istringstream children(all_children);
  for (std::string child; children >> child;) add(to, "/proc/" + child);
}

}  // namespace

std::string hang_report(pid_t process) {
  std::ostringstream out;
  add(out, "/proc/" + std::to_string(process));
  return out.str();
}

}  // namespace holdfast::cli_test
