#include "testkit/servers/port.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <system_error>

namespace holdfast::testkit {
namespace {

// From there on it gives ports to those who ask for any.
int first_of_kernel() {
  constexpr int usual = 32'768;
  int first = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first > 0 ? first : usual;
}

bool is_free(int port) {
  try {
    ::close(listen_on(port));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// The ports that this process was given, also for those of other programs: each is a byte of one
// file that it has locked. A child of fork() has a description of the file, locks and dice of its
// own.
class given_ports {
 public:
  int draw(int first, int last) {
    if (process_ != ::getpid()) begin();
    return std::uniform_int_distribution(first, last)(dice_);
  }
  bool take(int port) {
    struct flock byte {};
    byte.l_type = F_WRLCK;
    byte.l_whence = SEEK_SET;
    byte.l_start = port;
    byte.l_len = 1;
    return ::fcntl(file_, F_OFD_SETLK, &byte) == 0 && own_.insert(port).second;
  }

 private:
  void begin() {
    const auto path = std::filesystem::temp_directory_path() /
                      ("holdfast-testkit-ports-" + std::to_string(::getuid()));
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
    process_ = ::getpid();
    own_.clear();
    dice_.seed(std::random_device{}());
  }

  int file_ = -1;
  pid_t process_ = 0;
  std::set<int> own_;
  std::mt19937 dice_;
};

// Returns a free port. With an offset, the port that is so much higher is free as well, and this
// process has both.
int first_of_free_ports(int offset) {
  constexpr int first = 10'000, tries = 1'000;
  static const int end = first_of_kernel();
  static std::mutex mutex;
  static given_ports given;
  const std::lock_guard guard(mutex);
  const int last = end - 1 - offset;
  for (int i = 0; i < tries && first < last; ++i) {
    const int port = given.draw(first, last);
    // Taken before it is tried: another process may have closed a port that it opens again.
    if (!given.take(port) || !is_free(port)) continue;
    const int above = port + offset;
    if (offset == 0 || (given.take(above) && is_free(above))) return port;
  }
  throw std::system_error(EADDRINUSE, std::generic_category(), "a free port of 127.0.0.1");
}

}  // namespace

int listen_on(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0 &&
      ::listen(socket, 512) == 0)
    return socket;
  const int why = errno;
  ::close(socket);
  throw std::system_error(why, std::generic_category(), "a port of 127.0.0.1");
}

int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0)
    return socket;
  ::close(socket);
  return -1;
}

int port_of(int socket) {
  sockaddr_in where{};
  socklen_t length = sizeof where;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&where), &length) != 0)
    throw std::system_error(errno, std::generic_category(), "getsockname");
  return ntohs(where.sin_port);
}

int free_port() { return first_of_free_ports(0); }

int free_port_with_bus() { return first_of_free_ports(bus_offset); }

}  // namespace holdfast::testkit
