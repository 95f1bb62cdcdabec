#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fail.hpp"
#include "base/url_parts.hpp"

namespace holdfast::base {
namespace {

constexpr std::size_t password_bytes_max = 4096;

struct descriptor {
  int number;
  explicit descriptor(int n) : number(n) {}
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
};

[[noreturn]] void refuse(const std::string& path, const char* why) {
  fail(errc::bad_url, "open", "password-file " + shown_option_value(path) + ' ' + why);
}

}  // namespace

void read_password_file(const std::string& path, std::string& password) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.number < 0) refuse(path, "cannot be opened; check its name and your rights");
  struct stat status {};
  if (::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode))
    refuse(path, "is not a regular file");
  if (status.st_mode & 077) refuse(path, "can be read by others; chmod 600 it");
  password.assign(password_bytes_max + 1, '\0');
  const ssize_t got = ::read(file.number, password.data(), password.size());
  if (got < 0) refuse(path, "cannot be read");
  if (static_cast<std::size_t>(got) > password_bytes_max) refuse(path, "is longer than 4096 bytes");
  password.resize(static_cast<std::size_t>(got));
  if (!password.empty() && password.back() == '\n') password.pop_back();
  if (password.empty()) refuse(path, "is empty");
}

void read_password_variable(const std::string& name, std::string& password) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (!value || !*value)
    fail(errc::bad_url, "open",
         "password-env names " + shown_option_value(name) + ", which is not set; export it");
  password = value;
}

}  // namespace holdfast::base
