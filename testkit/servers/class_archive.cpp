#include "testkit/servers/class_archive.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <exception>
#include <filesystem>

namespace holdfast::testkit {

std::string class_archive(const std::string& name,
                          const std::function<void(const std::string& file)>& write) {
  const std::filesystem::path folder = HOLDFAST_PEERS;
  const std::string unfinished = folder / (name + ".unfinished");
  std::string archive = folder / (name + ".jsa");
  if (std::filesystem::exists(archive)) return archive;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const int lock = ::open((archive + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock < 0) return {};
  const bool is_ours = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  if (is_ours && !std::filesystem::exists(archive)) {
    try {
      write(unfinished);
      std::filesystem::rename(unfinished, archive, ignored);
    } catch (const std::exception&) {}  // whoever needs the program itself will see why
  }
  ::close(lock);
  return std::filesystem::exists(archive) ? archive : std::string();
}

}  // namespace holdfast::testkit
