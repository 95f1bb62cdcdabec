#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "zookeeper_session.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <span>
#include <stdexcept>

#include "backend/zookeeper/transport/jute.hpp"
#include "testkit/servers/port.hpp"

namespace contract {

namespace zk = holdfast::zookeeper;

namespace {

constexpr int reply_bound_ms = 30'000;
constexpr std::int32_t timeout_ms = 10'000;

// As SessionTrackerImpl and ZooKeeperServer make it: java.util.Random, seeded by the id.
std::string password_of(std::int64_t id) {
  constexpr std::uint64_t secret = 0xb3415c00, multiplier = 0x5deece66d, mask = (1ull << 48) - 1;
  std::uint64_t seed = (static_cast<std::uint64_t>(id) ^ secret ^ multiplier) & mask;
  std::string out;
  while (out.size() < zk::password_bytes) {
    seed = (seed * multiplier + 0xb) & mask;
    for (int shift = 16; shift < 48; shift += 8) out += static_cast<char>(seed >> shift);
  }
  return out;
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void send_all(int socket, const std::string& bytes) {
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != std::ssize(bytes))
    throw std::runtime_error("zookeeper takes no bytes");
}

// Exactly so many; fewer at the end of the connection.
std::string receive_bytes(int socket, std::size_t many) {
  std::string out(many, '\0');
  std::size_t got = 0;
  for (pollfd p{socket, POLLIN, 0}; got < many && ::poll(&p, 1, reply_bound_ms) == 1;) {
    const ssize_t n = ::recv(socket, out.data() + got, many - got, 0);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

}  // namespace

zookeeper_session::zookeeper_session(int port) : socket_(holdfast::testkit::connect_to(port)) {
  std::string bytes;
  zk::append_connect(bytes, {.timeout_ms = timeout_ms});
  send_all(socket_, bytes);
  (void)receive();
}

zookeeper_session::~zookeeper_session() {
  std::string bytes;
  zk::append_close_session(bytes, ++last_xid_);
  (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ::close(socket_);
}

// In one write: the client attaches it again as soon as it loses its connection by this.
void zookeeper_session::end(int port, std::int64_t id) {
  const std::string password = password_of(id);
  std::string bytes;
  zk::append_connect(bytes, {.timeout_ms = timeout_ms, .session_id = id, .password = password});
  zk::append_close_session(bytes, 1);
  const int socket = holdfast::testkit::connect_to(port);
  send_all(socket, bytes);
  while (!receive_bytes(socket, 1).empty()) continue;
  ::close(socket);
}

std::string zookeeper_session::receive() {
  const std::string length = receive_bytes(socket_, zk::frame_head);
  const auto many = static_cast<std::size_t>(zk::jute_reader(as_bytes(length)).read_int());
  std::string frame = receive_bytes(socket_, many);
  if (length.size() < zk::frame_head || frame.size() < many)
    throw std::runtime_error("zookeeper has ended the connection");
  return frame;
}

std::optional<std::string> zookeeper_session::call(zk::opcode op,
                                                   const std::function<void(std::string&)>& body) {
  std::string bytes;
  zk::append_frame(bytes, [&](std::string& to) {
    zk::jute_writer(to).write_int(++last_xid_).write_int(static_cast<std::int32_t>(op));
    body(to);
  });
  send_all(socket_, bytes);
  const std::string frame = receive();
  const auto answer = zk::read_reply(as_bytes(frame));
  if (answer && answer->is(zk::error::no_node)) return std::nullopt;
  if (!answer || !answer->is_ok())
    throw std::runtime_error("zookeeper answers with error " +
                             std::to_string(answer ? static_cast<int>(answer->head.code) : 0));
  return std::string(reinterpret_cast<const char*>(answer->body.data()), answer->body.size());
}

void zookeeper_session::create(const std::string& path) {
  (void)call(zk::opcode::create2, [&](std::string& to) {
    zk::append_create(to, path, {}, zk::node_kind::persistent, zk::acl_of::anyone);
  });
}

std::int64_t zookeeper_session::owner_of(const std::string& path) {
  const auto seen =
      call(zk::opcode::exists, [&](std::string& to) { zk::append_watched_path(to, path, false); });
  return seen ? zk::read_stat(as_bytes(*seen)).value().ephemeral_owner : 0;
}

std::int64_t zookeeper_session::owner_below(const std::string& path, std::string_view name) {
  const auto listed = call(zk::opcode::get_children2,
                           [&](std::string& to) { zk::append_watched_path(to, path, false); });
  if (!listed) return 0;
  const auto children = zk::read_children(as_bytes(*listed));
  for (const std::string_view child : children.value().names) {
    const std::string at = path + '/' + std::string(child);
    const std::int64_t owner = child.starts_with(name) ? owner_of(at) : owner_below(at, name);
    if (owner != 0) return owner;
  }
  return 0;
}

}  // namespace contract
#endif
