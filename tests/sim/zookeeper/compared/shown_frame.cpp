#include "tests/sim/zookeeper/compared/shown_frame.hpp"

#include <algorithm>

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::sim::zk {

using zookeeper::jute_reader;

namespace {

// A server without an ensemble has no epoch in it.
std::string shown_zxid(std::int64_t zxid, server_names& names) {
  constexpr int epoch_shift = 32;
  const std::int64_t epoch = zxid >> epoch_shift;
  if (epoch <= 0) return std::to_string(zxid);
  auto at = std::ranges::find(names.epochs, epoch);
  if (at == names.epochs.end()) at = names.epochs.insert(at, epoch);
  return std::to_string(at - names.epochs.begin()) + ':' +
         std::to_string(zxid - (epoch << epoch_shift));
}

std::string shown_stat(jute_reader& r, server_names& names) {
  std::string out = " czxid " + shown_zxid(r.read_long(), names);
  out += " mzxid " + shown_zxid(r.read_long(), names);
  for (const char* what : {" ctime ", " mtime "})
    out += what + std::string(r.read_long() ? "" : "0");
  for (const char* what : {" version ", " cversion ", " aversion "})
    out += what + std::to_string(r.read_int());
  const std::int64_t owner = r.read_long();
  const auto name = names.sessions.find(owner);
  out += " owner " + (name == names.sessions.end() ? std::to_string(owner) : name->second);
  out += " length " + std::to_string(r.read_int()) + " children " + std::to_string(r.read_int());
  return out + " pzxid " + shown_zxid(r.read_long(), names);
}

std::string shown_children(jute_reader& r) {
  std::vector<std::string> all;
  for (std::size_t n = r.read_count(zookeeper::frame_head); n > 0; --n)
    all.emplace_back(r.read_text());
  std::ranges::sort(all);
  std::string out;
  for (const std::string& name : all) out += ' ' + name;
  return out;
}

std::string shown_body(jute_reader& r, op type, server_names& names);

std::string shown_multi(jute_reader& r, server_names& names) {
  std::string out;
  for (;;) {
    const std::int32_t type = r.read_int();
    const bool is_end = r.read_bool();
    out += " {" + std::to_string(type) + ' ' + std::to_string(is_end) + ' ' +
           std::to_string(r.read_int());
    if (is_end || !r.is_good()) return out + '}';
    if (type == -1) {
      out += " code " + std::to_string(r.read_int());
    } else {
      out += shown_body(r, static_cast<op>(type), names);
    }
    out += '}';
  }
}

std::string shown_body(jute_reader& r, op type, server_names& names) {
  switch (type) {
    case op::create:
    case op::sync: return " " + std::string(r.read_text());
    case op::create2:
    case op::create_container:
    case op::get_data: {
      const std::string text(r.read_text());
      return ' ' + text + shown_stat(r, names);
    }
    case op::exists:
    case op::set_data: return shown_stat(r, names);
    case op::get_children: return shown_children(r);
    case op::get_children2: {
      const std::string children = shown_children(r);
      return children + shown_stat(r, names);
    }
    case op::multi: return shown_multi(r, names);
    default: return {};
  }
}

}  // namespace

std::int32_t xid_of(std::span<const std::byte> frame) { return jute_reader(frame).read_int(); }

bool is_event(std::span<const std::byte> frame) { return xid_of(frame) == event_xid; }

std::string shown_reply(std::span<const std::byte> frame, op type, server_names& names) {
  jute_reader r(frame);
  const std::int32_t xid = r.read_int();
  std::string out = std::to_string(xid) + " zxid " + shown_zxid(r.read_long(), names);
  const std::int32_t code = r.read_int();
  out += " error " + std::to_string(code);
  if (xid == event_xid) {
    out += " event " + std::to_string(r.read_int()) + " state " + std::to_string(r.read_int());
    out += ' ' + std::string(r.read_text());
  } else if (code == 0) {
    out += shown_body(r, type, names);
  }
  if (!r.is_good()) out += " (too short)";
  if (!r.is_at_end()) out += " and " + std::to_string(r.left()) + " bytes more";
  return out;
}

}  // namespace holdfast::sim::zk
