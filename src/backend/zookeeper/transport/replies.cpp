#include "backend/zookeeper/transport/replies.hpp"

#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

namespace {

constexpr std::size_t text_min = 4;  // the length of an empty one

node_stat stat_of(jute_reader& r) noexcept {
  return {.czxid = r.read_long(),
          .mzxid = r.read_long(),
          .ctime_ms = r.read_long(),
          .mtime_ms = r.read_long(),
          .version = r.read_int(),
          .cversion = r.read_int(),
          .aversion = r.read_int(),
          .ephemeral_owner = r.read_long(),
          .data_length = r.read_int(),
          .children = r.read_int(),
          .pzxid = r.read_long()};
}

template <class Value>
std::optional<Value> if_good(const jute_reader& r, Value v) {
  if (!r.is_good()) return {};
  return v;
}

// Reads the part after the head of an operation that succeeded.
bool read_result(jute_reader& r, std::int32_t type, multi_result& out) {
  switch (static_cast<opcode>(type)) {
    case opcode::create: out.created.push_back(r.read_text()); return true;
    case opcode::create2:
    case opcode::create_container:
      out.created.push_back(r.read_text());
      (void)stat_of(r);
      return true;
    case opcode::set_data: out.set = stat_of(r); return true;
    case opcode::remove:
    case opcode::check: return true;
    default: return false;
  }
}

// When a multi fails, each operation has a code: 0 before the first one that failed, and another
// code after it.
void read_error(jute_reader& r, std::size_t at, multi_result& out) {
  const auto code = static_cast<error>(r.read_int());
  if (code == error::ok || out.code != error::ok) return;
  out.code = code;
  out.failed_at = at;
}

}  // namespace

std::optional<connect_response> read_connect_response(std::span<const std::byte> frame) noexcept {
  jute_reader r(frame);
  connect_response out;
  const std::int32_t protocol = r.read_int();
  out.timeout_ms = r.read_int();
  out.session_id = r.read_long();
  out.password = r.read_text();
  if (!r.is_at_end()) out.is_read_only = r.read_bool();  // servers before 3.4 do not say
  if (protocol != 0 || (!out.is_expired() && out.password.size() != password_bytes)) return {};
  return if_good(r, out);
}

std::optional<reply> read_reply(std::span<const std::byte> frame) noexcept {
  jute_reader r(frame);
  reply out;
  out.head.xid = r.read_int();
  out.head.zxid = r.read_long();
  out.head.code = static_cast<error>(r.read_int());
  out.body = frame.last(r.left());
  return if_good(r, out);
}

std::optional<watch_event> read_watch_event(std::span<const std::byte> body) noexcept {
  jute_reader r(body);
  watch_event out;
  out.kind = static_cast<event_kind>(r.read_int());
  r.skip(sizeof(std::int32_t));  // the state of the session: always that it is connected
  out.path = r.read_text();
  return if_good(r, out);
}

std::optional<node_stat> read_stat(std::span<const std::byte> body) noexcept {
  jute_reader r(body);
  return if_good(r, stat_of(r));
}

std::optional<created_node> read_created(std::span<const std::byte> body) noexcept {
  jute_reader r(body);
  return if_good(r, created_node{.path = r.read_text(), .stat = stat_of(r)});
}

std::optional<node_data> read_data(std::span<const std::byte> body) noexcept {
  jute_reader r(body);
  return if_good(r, node_data{.data = r.read_text(), .stat = stat_of(r)});
}

std::optional<node_children> read_children(std::span<const std::byte> body) {
  jute_reader r(body);
  node_children out;
  const std::size_t count = r.read_count(text_min);
  out.names.reserve(count);
  for (std::size_t i = 0; i < count && r.is_good(); ++i) out.names.push_back(r.read_text());
  out.stat = stat_of(r);
  if (!r.is_good()) return {};
  return out;
}

std::optional<multi_result> read_multi(std::span<const std::byte> body) {
  jute_reader r(body);
  multi_result out;
  for (std::size_t at = 0; r.is_good(); ++at) {
    const std::int32_t type = r.read_int();
    const bool is_end = r.read_bool();
    (void)r.read_int();  // the error again, or -1 at the end
    if (!r.is_good()) break;
    if (is_end) return out;
    if (type == -1) {
      read_error(r, at, out);
    } else if (!read_result(r, type, out)) {
      break;
    }
  }
  return {};
}

server_mode read_mode(std::string_view answer) noexcept {
  constexpr std::string_view label = "\nMode: ";
  const std::size_t at = answer.find(label);
  if (at == std::string_view::npos) return server_mode::unknown;
  std::string_view word = answer.substr(at + label.size());
  const std::size_t end = word.find('\n');
  if (end == std::string_view::npos) return server_mode::unknown;  // cut off
  word = word.substr(0, end);
  if (word == "standalone") return server_mode::standalone;
  if (word == "leader") return server_mode::leader;
  if (word == "follower") return server_mode::follower;
  if (word == "observer") return server_mode::observer;
  return word == "read-only" ? server_mode::read_only : server_mode::unknown;
}

}  // namespace holdfast::zookeeper
