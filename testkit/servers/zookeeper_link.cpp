#include "testkit/servers/zookeeper_link.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "backend/zookeeper/transport/jute.hpp"
#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/requests.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds zookeeper_reply_bound{10};
constexpr std::int32_t longest_timeout_ms = 600'000;  // more than a server grants
constexpr std::int32_t opcode_of_set_acl = 7;
constexpr std::int32_t any_acl_version = -1;

std::string received(int socket, std::size_t size) {
  std::string bytes(size, '\0');
  const auto got = ::recv(socket, bytes.data(), size, MSG_WAITALL);
  if (got < 0 || static_cast<std::size_t>(got) != size)
    throw std::runtime_error("a zookeeper server does not reply");
  return bytes;
}

}  // namespace

zookeeper_link::zookeeper_link(int port) : socket_(connect_to(port)) {
  const timeval bound{.tv_sec = zookeeper_reply_bound.count(), .tv_usec = 0};
  try {
    if (socket_ < 0) throw std::runtime_error("a zookeeper server accepts no connection");
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    std::string frame;
    zookeeper::append_connect(frame, {.timeout_ms = longest_timeout_ms});
    exchange(frame);
  } catch (const std::runtime_error&) {
    if (socket_ >= 0) ::close(socket_);
    throw;
  }
}

zookeeper_link::~zookeeper_link() { ::close(socket_); }

void zookeeper_link::create(const std::string& path) {
  std::string body;
  zookeeper::append_create(body, path, "", zookeeper::node_kind::persistent,
                           zookeeper::acl_of::anyone);
  const auto code = request(static_cast<std::int32_t>(zookeeper::opcode::create), body);
  if (code != 0) throw std::runtime_error("cannot create " + path + ": " + std::to_string(code));
}

bool zookeeper_link::set_rights(const std::string& path, std::int32_t rights) {
  std::string body;
  zookeeper::jute_writer(body)
      .write_text(path)
      .write_int(1)
      .write_int(rights)
      .write_text("world")
      .write_text("anyone")
      .write_int(any_acl_version);
  const auto code = request(opcode_of_set_acl, body);
  if (code == static_cast<std::int32_t>(zookeeper::error::no_node)) return false;
  if (code != 0) throw std::runtime_error("no rights for " + path + ": " + std::to_string(code));
  return true;
}

std::string zookeeper_link::exchange(const std::string& frame) const {
  if (::send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(frame.size()))
    throw std::runtime_error("a zookeeper server has ended the connection");
  const std::string head = received(socket_, zookeeper::frame_head);
  const auto size = zookeeper::jute_reader(std::as_bytes(std::span(head))).read_int();
  return received(socket_, static_cast<std::size_t>(size));
}

std::int32_t zookeeper_link::request(std::int32_t opcode, const std::string& body) {
  std::string frame;
  ++requests_;
  zookeeper::append_frame(frame, [&](std::string& to) {
    zookeeper::jute_writer(to).write_int(requests_).write_int(opcode);
    to += body;
  });
  const std::string reply = exchange(frame);
  zookeeper::jute_reader head(std::as_bytes(std::span(reply)));
  head.skip(sizeof(std::int32_t) + sizeof(std::int64_t));  // its number, and the transaction's
  return head.read_int();
}

}  // namespace holdfast::testkit
