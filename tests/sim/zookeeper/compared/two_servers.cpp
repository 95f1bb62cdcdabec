// The connections to both servers, and what comes over them.
#include "tests/sim/zookeeper/compared/two_servers.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "testkit/servers/port.hpp"
#include "tests/sim/zookeeper/compared/whole_frames.hpp"

namespace holdfast::sim::zk {

using zookeeper::jute_reader;
using zookeeper::jute_writer;

namespace {

constexpr std::chrono::milliseconds real_tick{2000};
constexpr timeval nudge_after{0, 250'000};
constexpr int nudges_max = 240;

}  // namespace

two_servers::two_servers()
    : two_servers({.servers = 1, .tick = real_tick},
                  std::make_unique<testkit::zookeeper_server>(
                      testkit::zookeeper_options{.tick = real_tick})) {}

two_servers::two_servers(const ensemble_options& o,
                         std::unique_ptr<testkit::zookeeper_server> alone)
    : model_(host_, o), real_(std::move(alone)) {}

two_servers::client::client(two_servers& s, std::string name, int place)
    : servers_(s),
      name_(std::move(name)),
      socket_(testkit::connect_to(s.real_port(place))),
      handle_(s.model_.connect(*this, s.model_server(place))) {
  const int at_once = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &nudge_after, sizeof nudge_after);
}

two_servers::client::~client() { leaves(); }

void two_servers::client::leaves() {
  if (socket_ < 0) return;
  ::close(std::exchange(socket_, -1));
  servers_.model_.disconnect(handle_);
  servers_.settle();
}

void two_servers::client::send_to_real(std::string_view bytes) {
  (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void two_servers::client::send_to_model(std::string_view bytes) {
  servers_.model_.receive(handle_, bytes);
  servers_.settle();
}

void two_servers::client::send(std::string_view bytes) {
  send_to_real(bytes);
  send_to_model(bytes);
}

bool two_servers::client::read_more() {
  std::array<char, 16384> part;
  for (int nudges = 0; nudges <= nudges_max; ++nudges) {
    const ssize_t size = ::recv(socket_, part.data(), part.size(), 0);
    if (size > 0) real_bytes_.append(part.data(), static_cast<std::size_t>(size));
    is_closed_ = size == 0 || (size < 0 && errno == ECONNRESET);
    if (size > 0 || is_closed_) return size > 0;
    if (real_session_ == 0) continue;
    send_nudge();
  }
  return false;
}

bool two_servers::client::take_nudge(std::int64_t& zxid) {
  for (std::size_t at = 0; frame_at(std::string_view(real_bytes_).substr(at)).data() != nullptr;) {
    const std::string_view frame = frame_at(std::string_view(real_bytes_).substr(at));
    const std::size_t whole = zookeeper::frame_head + frame.size();
    jute_reader r(bytes_of(frame));
    if (r.read_int() != nudge_xid) {
      at += whole;
      continue;
    }
    zxid = r.read_long();
    real_bytes_.erase(at, whole);
    return true;
  }
  return false;
}

// A sync does not wait for it at the leader: there it is a read.
void two_servers::client::wait_for_all_written() {
  constexpr int asked_max = 100'000;
  std::int64_t zxid = 0;
  for (int n = 0; n < asked_max && zxid < servers_.real_last_zxid_; ++n) {
    send_nudge();
    while (!take_nudge(zxid))
      if (!read_more()) return;
  }
}

void two_servers::client::send_nudge() {
  request q;
  q.xid = nudge_xid;
  q.type = op::exists;
  jute_writer(q.body).write_text("/").write_bool(false);
  send_to_real(encoded({q}));
}

void two_servers::client::number(std::vector<request>& all) {
  for (request& q : all) {
    q.xid = q.type == op::ping ? ping_xid : q.type == op::auth ? auth_xid : ++last_number_;
    asked_[q.xid] = q.type;
  }
}

std::string two_servers::client::encoded(const std::vector<request>& all) {
  std::string out;
  for (const request& q : all)
    zookeeper::append_frame(out, [&](std::string& to) {
      jute_writer(to).write_int(q.xid).write_int(static_cast<std::int32_t>(q.type));
      to += q.body;
    });
  return out;
}

std::vector<std::string> two_servers::client::real_frames(std::size_t replies) {
  std::vector<std::string> out;
  while (replies > 0) {
    while (frame_at(real_bytes_).data() == nullptr)
      if (!read_more()) return out;
    const std::string frame = next_frame(real_bytes_);
    if (xid_of(bytes_of(frame)) == nudge_xid) continue;
    if (!is_event(bytes_of(frame))) --replies;
    jute_reader r(bytes_of(frame));
    const std::int32_t xid = r.read_int();
    last_zxid_ = std::max(last_zxid_, r.read_long());
    // The first of an epoch is no transaction: only the leader ever shows it.
    const bool is_written = static_cast<std::uint32_t>(last_zxid_) != 0;
    if (is_written) servers_.real_last_zxid_ = std::max(servers_.real_last_zxid_, last_zxid_);
    out.push_back(shown_reply(bytes_of(frame), asked_[xid], servers_.real_names_));
  }
  return out;
}

std::vector<std::string> two_servers::client::model_frames() {
  std::vector<std::string> out;
  while (frame_at(model_bytes_).data() != nullptr) {
    const std::string frame = next_frame(model_bytes_);
    jute_reader r(bytes_of(frame));
    const std::int32_t xid = r.read_int();
    model_last_zxid_ = std::max(model_last_zxid_, r.read_long());
    out.push_back(shown_reply(bytes_of(frame), asked_[xid], servers_.model_names_));
  }
  return out;
}

}  // namespace holdfast::sim::zk
