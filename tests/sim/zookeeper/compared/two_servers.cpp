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

namespace holdfast::sim::zk {

using zookeeper::jute_reader;
using zookeeper::jute_writer;

namespace {

constexpr std::chrono::milliseconds real_tick{2000};
constexpr std::int32_t timeout_ms = 40'000;
// A follower may keep a reply until something else happens (ZOOKEEPER-4537).
constexpr std::int32_t nudge_xid = 0x7fffffff;
constexpr timeval nudge_after{0, 250'000};
constexpr int nudges_max = 240;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The frame at the front, without its length; null data: it is not whole.
std::string_view frame_at(std::string_view bytes) {
  if (bytes.size() < zookeeper::frame_head) return {};
  const auto length = static_cast<std::size_t>(jute_reader(bytes_of(bytes)).read_int());
  if (bytes.size() - zookeeper::frame_head < length) return {};
  return bytes.substr(zookeeper::frame_head, length);
}

std::string next_frame(std::string& bytes) {
  const std::string out(frame_at(bytes));
  bytes.erase(0, zookeeper::frame_head + out.size());
  return out;
}

std::string first_difference(const std::vector<std::string>& real,
                             const std::vector<std::string>& model) {
  for (std::size_t i = 0; i < std::max(real.size(), model.size()); ++i) {
    const std::string a = i < real.size() ? real[i] : "(nothing)";
    const std::string b = i < model.size() ? model[i] : "(nothing)";
    if (a != b) return "\n  real:  " + a + "\n  model: " + b + '\n';
  }
  return {};
}

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

std::string two_servers::client::compared(std::size_t replies, bool in_any_order) {
  auto real = real_frames(replies), model = model_frames();
  if (in_any_order) {
    std::ranges::sort(real);
    std::ranges::sort(model);
  }
  const std::string difference = first_difference(real, model);
  return difference.empty() ? "" : name_ + ": " + difference;
}

std::string two_servers::client::connects() { return connects_with(0, "", 0, ""); }

std::string two_servers::client::connects_as(const client& other) {
  return connects_with(other.real_session_, other.real_password_, other.model_session_,
                       other.model_password_);
}

std::string two_servers::client::connects_with(std::int64_t real, std::string_view real_password,
                                               std::int64_t model,
                                               std::string_view model_password) {
  const auto greeting = [&](std::int64_t session, std::string_view password) {
    std::string out;
    zookeeper::append_frame(out, [&](std::string& to) {
      jute_writer(to).write_int(0).write_long(0).write_int(timeout_ms).write_long(session);
      jute_writer(to).write_text(password).write_bool(false);
    });
    return out;
  };
  send_to_real(greeting(real, real_password));
  send_to_model(greeting(model, model_password));
  while (frame_at(real_bytes_).data() == nullptr)
    if (!read_more()) break;
  const auto read = [](std::string& bytes, std::int64_t& session, std::string& password) {
    const std::string frame = next_frame(bytes);
    jute_reader r(bytes_of(frame));
    std::string out = std::to_string(r.read_int()) + ' ' + std::to_string(r.read_int());
    session = r.read_long();
    password = r.read_text();
    return out + ' ' + std::to_string(session != 0) + ' ' + std::to_string(password.size()) + ' ' +
           std::to_string(r.left());
  };
  const std::string theirs = read(real_bytes_, real_session_, real_password_);
  const std::string ours = read(model_bytes_, model_session_, model_password_);
  if (real_session_ != 0) {
    servers_.real_names_.sessions[real_session_] = name_;
    servers_.model_names_.sessions[model_session_] = name_;
  }
  return theirs == ours ? "" : name_ + " connects\n  real:  " + theirs + "\n  model: " + ours;
}

std::string two_servers::client::differs(std::vector<request> all) { return differs(all, all); }

std::string two_servers::client::differs(std::vector<request> to_real,
                                         std::vector<request> to_model) {
  number(to_real);
  for (std::size_t i = 0; i < to_model.size(); ++i) to_model[i].xid = to_real[i].xid;
  send_to_real(encoded(to_real));
  send_to_model(encoded(to_model));
  return compared(to_real.size(), false);
}

std::string two_servers::client::is_in_step(bool in_any_order) {
  wait_for_all_written();
  std::vector<request> one(1);
  one.front().type = op::sync;
  jute_writer(one.front().body).write_text("/");
  number(one);
  send(encoded(one));
  return compared(1, in_any_order);
}

std::string two_servers::client::catches_up(bool in_any_order) {
  std::vector<request> one(1);
  one.front().type = op::ping;
  number(one);
  send(encoded(one));
  return compared(1, in_any_order);
}

std::string two_servers::client::ends_with(std::vector<request> all, bool in_any_order) {
  number(all);
  return ends_with(encoded(all), in_any_order);
}

std::string two_servers::client::ends_with(std::string_view bytes, bool in_any_order) {
  send(bytes);
  while (read_more()) {}
  if (!is_closed_) return name_ + ": the real server did not close\n";
  std::vector<std::string> real;
  while (frame_at(real_bytes_).data() != nullptr) {
    const std::string frame = next_frame(real_bytes_);
    if (xid_of(bytes_of(frame)) == nudge_xid) continue;
    real.push_back(
        shown_reply(bytes_of(frame), asked_[xid_of(bytes_of(frame))], servers_.real_names_));
  }
  if (!is_kicked_) return name_ + ": the model did not close\n";
  std::vector<std::string> model = model_frames();
  if (in_any_order) {
    std::ranges::sort(real);
    std::ranges::sort(model);
  }
  const std::string difference = first_difference(real, model);
  return difference.empty() ? "" : name_ + ": " + difference;
}

std::string two_servers::client::answers_word(std::string_view word) {
  send(word);
  while (read_more()) {}
  constexpr std::string_view label = "\nMode: ";
  const auto mode = [&](const std::string& text) {
    const std::size_t at = text.find(label);
    return at == text.npos ? text : text.substr(at, text.find('\n', at + 1) - at);
  };
  return mode(real_bytes_) == mode(model_bytes_) && is_kicked_ ? "" : real_bytes_ + model_bytes_;
}

}  // namespace holdfast::sim::zk
