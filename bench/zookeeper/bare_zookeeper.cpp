#include "zookeeper/bare_zookeeper.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "testkit/servers/port.hpp"

namespace bench {

namespace zk = holdfast::zookeeper;

namespace {

constexpr std::int32_t timeout_ms = 30'000;
constexpr std::size_t buffer_size = 64 << 10;

}  // namespace

void bare_zookeeper::fail(const std::string& why) {
  throw std::runtime_error("the bare session at ZooKeeper: " + why);
}

bare_zookeeper::bare_zookeeper(int port)
    : socket_(holdfast::testkit::connect_to(port)), buffer_(buffer_size, '\0') {
  if (socket_ < 0) fail(std::strerror(errno));
  const int yes = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  zk::append_connect(out_, {.timeout_ms = timeout_ms});
  flush();
  bool is_attached = false;
  while (!is_attached) {
    const auto bytes = receive();
    if (bytes.empty()) fail("the server closed the connection");
    frames_.feed(bytes, [&](std::span<const std::byte> frame) {
      const auto answer = zk::read_connect_response(frame);
      is_attached = answer && !answer->is_expired();
      return is_attached;
    });
  }
}

bare_zookeeper::~bare_zookeeper() {
  out_.clear();
  zk::append_close_session(out_, ++number_);
  (void)!::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL);
  ::shutdown(socket_, SHUT_WR);
  while (::recv(socket_, buffer_.data(), buffer_.size(), 0) > 0) {}
  ::close(socket_);
}

void bare_zookeeper::append(zk::opcode op, std::string_view body) {
  ++number_;
  zk::append_frame(out_, [&](std::string& to) {
    zk::jute_writer(to).write_int(number_).write_int(static_cast<std::int32_t>(op));
    to += body;
  });
}

void bare_zookeeper::flush() {
  for (std::string_view rest = out_; !rest.empty();) {
    const ssize_t n = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0) fail(std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  out_.clear();
}

std::span<const std::byte> bare_zookeeper::receive() {
  const ssize_t n = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  if (n <= 0) fail(n < 0 ? std::strerror(errno) : "the server closed the connection");
  return std::as_bytes(std::span(buffer_).first(static_cast<std::size_t>(n)));
}

zk::reply bare_zookeeper::reply_in(std::span<const std::byte> frame) {
  const auto r = zk::read_reply(frame);
  if (!r) fail("a reply that is none");
  if (!r->is_ok()) fail("error " + std::to_string(static_cast<int>(r->head.code)));
  return *r;
}

}  // namespace bench
