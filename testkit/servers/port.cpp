#include "testkit/servers/port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::testkit {

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
  const int socket = listen_on(0);
  const int port = port_of(socket);
  ::close(socket);
  return port;
}

}  // namespace holdfast::testkit
