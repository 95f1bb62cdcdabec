#include "lab/naive_zookeeper.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lab/story.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::lab {

namespace {

// ZooKeeper's protocol: numbers are big-endian, and texts follow their length.
constexpr std::int32_t create_operation = 1, delete_operation = 2, exists_operation = 3,
                       read_operation = 4, close_operation = -11;
constexpr std::int32_t xid_of_events = -1;
constexpr std::int32_t no_node = -101, node_exists = -110;
constexpr std::int32_t ephemeral_flag = 1, any_version = -1;
constexpr std::int32_t all_rights = 31;
constexpr int bits_of_byte = 8;
constexpr timeval silence_limit{30, 0};

void append_int(std::string& to, std::int32_t number) {
  const auto bits = static_cast<std::uint32_t>(number);
  for (int shift = 3 * bits_of_byte; shift >= 0; shift -= bits_of_byte)
    to += static_cast<char>(bits >> shift & 0xffU);
}

void append_text(std::string& to, const std::string& text) {
  append_int(to, static_cast<std::int32_t>(text.size()));
  to += text;
}

std::int32_t int_at(const std::string& bytes, std::size_t place) {
  require(place + sizeof(std::int32_t) <= bytes.size(), "a reply of ZooKeeper is complete");
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i)
    bits = bits << bits_of_byte | static_cast<unsigned char>(bytes[place + i]);
  return static_cast<std::int32_t>(bits);
}

}  // namespace

naive_zookeeper::naive_zookeeper(int port, std::chrono::milliseconds session_timeout)
    : socket_(testkit::connect_to(port)) {
  require(socket_ >= 0, "ZooKeeper accepts a connection");
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &silence_limit, sizeof silence_limit);
  std::string opening;
  append_int(opening, 0);  // the version of the protocol
  append_int(opening, 0);  // the last transaction that the client has seen, in two halves
  append_int(opening, 0);
  append_int(opening, static_cast<std::int32_t>(session_timeout.count()));
  append_int(opening, 0);  // no session yet, in two halves
  append_int(opening, 0);
  append_text(opening, std::string(16, '\0'));  // and no password
  try {
    send_frame(opening);
    require(int_at(receive_frame(), sizeof(std::int32_t)) > 0, "ZooKeeper opens a session");
  } catch (...) {
    ::close(socket_);
    throw;
  }
}

naive_zookeeper::~naive_zookeeper() { ::close(socket_); }

bool naive_zookeeper::create_ephemeral(const std::string& path) {
  std::string body;
  append_text(body, path);
  append_text(body, "");  // its data
  append_int(body, 1);    // one rule of access
  append_int(body, all_rights);
  append_text(body, "world");
  append_text(body, "anyone");
  append_int(body, ephemeral_flag);
  const std::int32_t error = request(create_operation, body);
  require(error == 0 || error == node_exists, "ZooKeeper creates a node or has it");
  return error == 0;
}

void naive_zookeeper::remove(const std::string& path) {
  std::string body;
  append_text(body, path);
  append_int(body, any_version);
  require(request(delete_operation, body) == 0, "ZooKeeper deletes a node");
}

bool naive_zookeeper::exists(const std::string& path) {
  std::string body;
  append_text(body, path);
  body += '\0';  // without a watch
  const std::int32_t error = request(exists_operation, body);
  require(error == 0 || error == no_node, "ZooKeeper looks a node up");
  return error == 0;
}

bool naive_zookeeper::watch(const std::string& path) {
  std::string body;
  append_text(body, path);
  body += '\1';  // with a watch
  const std::int32_t error = request(read_operation, body);
  require(error == 0 || error == no_node, "ZooKeeper reads a node");
  return error == 0;
}

void naive_zookeeper::wait_for_event() {
  require(int_at(receive_frame(), 0) == xid_of_events, "ZooKeeper sends an event");
}

void naive_zookeeper::hang_up() noexcept { ::shutdown(socket_, SHUT_RDWR); }

void naive_zookeeper::close_session() {
  require(request(close_operation, "") == 0, "ZooKeeper closes the session");
}

std::int32_t naive_zookeeper::request(std::int32_t operation, const std::string& body) {
  std::string payload;
  append_int(payload, ++last_xid_);
  append_int(payload, operation);
  send_frame(payload + body);
  // A reply begins with the xid, the transaction in two halves, and the error.
  const std::string reply = receive_frame();
  require(int_at(reply, 0) == last_xid_, "ZooKeeper replies to the request");
  return int_at(reply, 3 * sizeof(std::int32_t));
}

void naive_zookeeper::send_frame(const std::string& payload) {
  std::string frame;
  append_text(frame, payload);
  const ssize_t sent = ::send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL);
  require(sent == static_cast<ssize_t>(frame.size()), "ZooKeeper takes a request");
}

std::string naive_zookeeper::receive_frame() {
  const std::int32_t length = int_at(receive(sizeof(std::int32_t)), 0);
  require(length > 0, "ZooKeeper sends a frame");
  return receive(static_cast<std::size_t>(length));
}

std::string naive_zookeeper::receive(std::size_t bytes) {
  std::string all(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::recv(socket_, all.data() + done, bytes - done, 0);
    require(n > 0, "ZooKeeper replies");
    done += static_cast<std::size_t>(n);
  }
  return all;
}

}  // namespace holdfast::lab
