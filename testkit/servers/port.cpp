#include "testkit/servers/port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
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

int free_port() {
  constexpr int first = 10'000, tries = 1'000;
  static const int last = first_of_kernel() - 1;
  static std::mutex mutex;
  static std::mt19937 numbers(std::random_device{}());
  static std::set<int> given;
  const std::lock_guard guard(mutex);
  for (int i = 0; i < tries && first < last; ++i) {
    const int port = std::uniform_int_distribution(first, last)(numbers);
    if (given.contains(port) || !is_free(port)) continue;
    given.insert(port);
    return port;
  }
  throw std::system_error(EADDRINUSE, std::generic_category(), "a free port of 127.0.0.1");
}

}  // namespace holdfast::testkit
