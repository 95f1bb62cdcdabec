#include "tests/sim/redis/compared/raw_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <stdexcept>

namespace holdfast::sim {

raw_socket::raw_socket(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const timeval silence{30, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  ::close(socket_);
  throw std::runtime_error("nobody listens at " + path);
}

raw_socket::~raw_socket() { ::close(socket_); }

void raw_socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

std::string raw_socket::read_until(std::string_view end) {
  std::string got;
  char part[16384];
  while (!std::string_view(got).ends_with(end)) {
    const ssize_t size = ::read(socket_, part, sizeof part);
    if (size <= 0) break;
    got.append(part, static_cast<std::size_t>(size));
  }
  return got;
}

}  // namespace holdfast::sim
