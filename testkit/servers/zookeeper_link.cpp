#include "testkit/servers/zookeeper_link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <stdexcept>

#include "backend/zookeeper/transport/jute.hpp"
#include "backend/zookeeper/transport/replies.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {

namespace zk = zookeeper;

namespace {

constexpr int zookeeper_reply_bound_ms = 30'000;
constexpr std::int32_t link_timeout_ms = 10'000;
constexpr zk::opcode set_acl{7};  // the library does not send it
constexpr std::int32_t any_acl_version = -1;

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

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void send_all(int socket, const std::string& bytes) {
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != std::ssize(bytes))
    throw std::runtime_error("a zookeeper server takes no bytes");
}

// Exactly so many; fewer at the end of the connection.
std::string receive_bytes(int socket, std::size_t many) {
  std::string out(many, '\0');
  std::size_t got = 0;
  for (pollfd p{socket, POLLIN, 0}; got < many && ::poll(&p, 1, zookeeper_reply_bound_ms) == 1;) {
    const ssize_t n = ::recv(socket, out.data() + got, many - got, 0);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

}  // namespace

zookeeper_link::zookeeper_link(int port) : socket_(connect_to(port)) {
  std::string bytes;
  zk::append_connect(bytes, {.timeout_ms = link_timeout_ms});
  try {
    send_all(socket_, bytes);
    (void)receive();
  } catch (const std::runtime_error&) {
    if (socket_ >= 0) ::close(socket_);
    throw;
  }
}

zookeeper_link::~zookeeper_link() {
  std::string bytes;
  zk::append_close_session(bytes, ++last_xid_);
  (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ::close(socket_);
}

// In one write: the client attaches it again as soon as it loses its connection by this.
void zookeeper_link::end(int port, std::int64_t id) {
  const std::string password = password_of(id);
  std::string bytes;
  zk::append_connect(bytes,
                     {.timeout_ms = link_timeout_ms, .session_id = id, .password = password});
  zk::append_close_session(bytes, 1);
  const int socket = connect_to(port);
  send_all(socket, bytes);
  while (!receive_bytes(socket, 1).empty()) continue;
  ::close(socket);
}

std::string zookeeper_link::receive() {
  const std::string length = receive_bytes(socket_, zk::frame_head);
  const auto many = static_cast<std::size_t>(zk::jute_reader(bytes_of(length)).read_int());
  std::string frame = receive_bytes(socket_, many);
  if (length.size() < zk::frame_head || frame.size() < many)
    throw std::runtime_error("a zookeeper server has ended the connection");
  return frame;
}

std::optional<std::string> zookeeper_link::call(zk::opcode op,
                                                const std::function<void(std::string&)>& body) {
  std::string bytes;
  zk::append_frame(bytes, [&](std::string& to) {
    zk::jute_writer(to).write_int(++last_xid_).write_int(static_cast<std::int32_t>(op));
    body(to);
  });
  send_all(socket_, bytes);
  const std::string frame = receive();
  const auto answer = zk::read_reply(bytes_of(frame));
  if (answer && answer->is(zk::error::no_node)) return std::nullopt;
  if (!answer || !answer->is_ok())
    throw std::runtime_error("a zookeeper server answers with error " +
                             std::to_string(answer ? static_cast<int>(answer->head.code) : 0));
  return std::string(reinterpret_cast<const char*>(answer->body.data()), answer->body.size());
}

void zookeeper_link::create(const std::string& path) {
  (void)call(zk::opcode::create2, [&](std::string& to) {
    zk::append_create(to, path, {}, zk::node_kind::persistent, zk::acl_of::anyone);
  });
}

bool zookeeper_link::set_rights(const std::string& path, std::int32_t rights) {
  const auto done = call(set_acl, [&](std::string& to) {
    zk::jute_writer(to)
        .write_text(path)
        .write_int(1)
        .write_int(rights)
        .write_text("world")
        .write_text("anyone")
        .write_int(any_acl_version);
  });
  return done.has_value();
}

std::int64_t zookeeper_link::owner_of(const std::string& path) {
  const auto seen =
      call(zk::opcode::exists, [&](std::string& to) { zk::append_watched_path(to, path, false); });
  return seen ? zk::read_stat(bytes_of(*seen)).value().ephemeral_owner : 0;
}

std::int64_t zookeeper_link::owner_below(const std::string& path, std::string_view name) {
  const auto listed = call(zk::opcode::get_children2,
                           [&](std::string& to) { zk::append_watched_path(to, path, false); });
  if (!listed) return 0;
  const auto children = zk::read_children(bytes_of(*listed));
  for (const std::string_view child : children.value().names) {
    const std::string at = path + '/' + std::string(child);
    const std::int64_t owner = child.starts_with(name) ? owner_of(at) : owner_below(at, name);
    if (owner != 0) return owner;
  }
  return 0;
}

}  // namespace holdfast::testkit
