#include "tests/sim/zookeeper/compared/model_client.hpp"

#include <utility>

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::sim::zk {

using zookeeper::jute_reader;
using zookeeper::jute_writer;

void model_client::connect(std::int32_t timeout_ms, std::int64_t session,
                           std::string_view password) {
  std::string out;
  zookeeper::append_frame(out, [&](std::string& to) {
    jute_writer(to).write_int(0).write_long(0).write_int(timeout_ms).write_long(session);
    jute_writer(to).write_text(password).write_bool(false);
  });
  all_.receive(handle_, out);
}

void model_client::ask(op type, std::string body) {
  std::string out;
  zookeeper::append_frame(out, [&](std::string& to) {
    const std::int32_t number = type == op::ping ? ping_xid : ++last_number_;
    jute_writer(to).write_int(number).write_int(static_cast<std::int32_t>(type));
    to += body;
  });
  all_.receive(handle_, out);
}

std::string model_client::shown_greeting(std::span<const std::byte> frame) {
  is_greeted_ = true;
  jute_reader r(frame);
  (void)r.read_int();
  const std::int32_t timeout_ms = r.read_int();
  session_ = r.read_long();
  password_ = r.read_text();
  return session_ == 0 ? "expired" : "session " + std::to_string(timeout_ms) + " ms";
}

std::string model_client::heard() {
  std::string out;
  zookeeper::frame_reader frames;
  const std::string bytes = std::exchange(bytes_, {});
  frames.feed(std::as_bytes(std::span(bytes)), [&](std::span<const std::byte> frame) {
    if (!out.empty()) out += " | ";
    if (!is_greeted_) {
      out += shown_greeting(frame);
      return true;
    }
    jute_reader r(frame);
    const std::int32_t xid = r.read_int();
    (void)r.read_long();
    const std::int32_t code = r.read_int();
    if (xid == event_xid) {
      out += "event " + std::to_string(r.read_int());
    } else {
      out += xid == ping_xid ? "ping" : std::to_string(xid) + ": " + std::to_string(code);
    }
    return true;
  });
  return out;
}

std::string creation(std::string_view path, std::int32_t flags) {
  std::string out;
  jute_writer w(out);
  w.write_text(path).write_text("").write_int(1).write_int(31).write_text("world");
  w.write_text("anyone").write_int(flags);
  return out;
}

std::string watched(std::string_view path, bool watches) {
  std::string out;
  jute_writer(out).write_text(path).write_bool(watches);
  return out;
}

std::string removal(std::string_view path) {
  std::string out;
  jute_writer(out).write_text(path).write_int(-1);
  return out;
}

}  // namespace holdfast::sim::zk
