#include "testkit/servers/mariadb_template.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::minutes install_bound{2};

// Small files: they are copied by each server.
constexpr const char* small_files = "innodb-log-file-size=4M\n"
                                    "innodb-data-file-path=ibdata1:2M:autoextend\n"
                                    "innodb-autoextend-increment=1\n"
                                    "aria-log-file-size=8M\n";

std::string this_user() {
  return std::to_string(::geteuid());  // mariadbd and mariadb-install-db take a number as well
}

// The version is a part of the name: a server refuses files of a later one.
std::string mariadb_version() {
  const scratch_folder folder;
  run_program({{"mariadbd", "--no-defaults", "--version"}, {}, folder.file("out")});
  std::istringstream words(folder.read("out"));
  for (std::string word; words >> word;)
    if (word == "Ver" && words >> word)
      return word.substr(0, word.find_first_not_of("0123456789."));
  throw std::runtime_error("mariadbd reports no version: " + folder.read("out"));
}

void install_mariadb(const std::string& into) {
  const scratch_folder folder;
  folder.write("my.cnf", std::string("[mariadbd]\nuser=") + this_user() + '\n' + small_files);
  program installer(
      {{"mariadb-install-db", "--defaults-file=" + folder.file("my.cnf"), "--datadir=" + into,
        "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"},
       {},
       folder.file("out")});
  if (installer.wait(install_bound) != 0)
    throw std::runtime_error("mariadb-install-db failed: " + folder.read("out"));
}

class folder_lock {
 public:
  explicit folder_lock(const std::string& path)
      : file_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (file_ < 0 || ::flock(file_, LOCK_EX) != 0)
      throw std::system_error(errno, std::generic_category(), path);
  }
  ~folder_lock() { ::close(file_); }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

 private:
  int file_;
};

}  // namespace

const char* const mariadb_template_config = small_files;

std::string mariadb_template() {
  namespace fs = std::filesystem;
  const fs::path folder = HOLDFAST_PEERS;
  const fs::path made = folder / ("mariadb-" + mariadb_version() + "-user-" + this_user());
  if (fs::exists(made)) return made;
  fs::create_directories(folder);
  const folder_lock lock(made.string() + ".lock");
  if (fs::exists(made)) return made;
  const fs::path unfinished = made.string() + ".unfinished";
  fs::remove_all(unfinished);
  install_mariadb(unfinished);
  fs::rename(unfinished, made);
  return made;
}

}  // namespace holdfast::testkit
