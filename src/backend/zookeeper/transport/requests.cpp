#include "backend/zookeeper/transport/requests.hpp"

#include <algorithm>

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::zookeeper {

namespace {

constexpr std::size_t set_watches_bytes_max = 128u << 10;  // of the paths in one frame
constexpr std::int32_t all_rights = 31;                    // read, write, create, delete, admin

void append_header(jute_writer& w, std::int32_t number, opcode op) {
  w.write_int(number).write_int(static_cast<std::int32_t>(op));
}

void append_acl(jute_writer& w, acl_of whose) {
  const bool is_anyone = whose == acl_of::anyone;
  w.write_int(1).write_int(all_rights);
  w.write_text(is_anyone ? "world" : "auth").write_text(is_anyone ? "anyone" : "");
}

void append_paths(jute_writer& w, std::span<const std::string_view> paths) {
  w.write_int(static_cast<std::int32_t>(paths.size()));
  for (const std::string_view path : paths) w.write_text(path);
}

// As many of the first paths as there is room for; at least one.
std::span<const std::string_view> take_some(std::span<const std::string_view>& from,
                                            std::size_t& space) {
  std::size_t count = 0;
  while (count < from.size() && space > 0) {
    space -= std::min(space, from[count].size() + frame_head);
    ++count;
  }
  const auto taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

}  // namespace

void append_connect(std::string& out, const connect_request& r) {
  append_frame(out, [&](std::string& to) {
    jute_writer w(to);
    w.write_int(0).write_long(r.last_zxid_seen).write_int(r.timeout_ms).write_long(r.session_id);
    w.write_text(r.password.empty() ? std::string(password_bytes, '\0') : std::string(r.password));
    w.write_bool(r.accepts_read_only);
  });
}

void append_ping(std::string& out) {
  append_frame(out, [](std::string& to) {
    jute_writer w(to);
    append_header(w, xid::ping, opcode::ping);
  });
}

void append_auth(std::string& out, std::string_view scheme, std::string_view credentials) {
  append_frame(out, [&](std::string& to) {
    jute_writer w(to);
    append_header(w, xid::auth, opcode::auth);
    w.write_int(0).write_text(scheme).write_text(credentials);
  });
}

void append_close_session(std::string& out, std::int32_t number) {
  append_frame(out, [&](std::string& to) {
    jute_writer w(to);
    append_header(w, number, opcode::close_session);
  });
}

void append_create(std::string& out, std::string_view path, std::string_view data, node_kind kind,
                   acl_of whose) {
  jute_writer w(out);
  w.write_text(path).write_text(data);
  append_acl(w, whose);
  w.write_int(static_cast<std::int32_t>(kind));
}

void append_delete(std::string& out, std::string_view path, std::int32_t version) {
  jute_writer(out).write_text(path).write_int(version);
}

void append_watched_path(std::string& out, std::string_view path, bool watches) {
  jute_writer(out).write_text(path).write_bool(watches);
}

void append_set_data(std::string& out, std::string_view path, std::string_view data,
                     std::int32_t version) {
  jute_writer(out).write_text(path).write_text(data).write_int(version);
}

void append_path(std::string& out, std::string_view path) { jute_writer(out).write_text(path); }

void multi_writer::head(std::int32_t op, bool is_end) {
  jute_writer(out_).write_int(op).write_bool(is_end).write_int(-1);
}

multi_writer& multi_writer::create(std::string_view path, std::string_view data, node_kind kind,
                                   acl_of whose) {
  const opcode op = kind == node_kind::container ? opcode::create_container : opcode::create;
  head(static_cast<std::int32_t>(op), false);
  append_create(out_, path, data, kind, whose);
  return *this;
}

multi_writer& multi_writer::remove(std::string_view path, std::int32_t version) {
  head(static_cast<std::int32_t>(opcode::remove), false);
  append_delete(out_, path, version);
  return *this;
}

multi_writer& multi_writer::set_data(std::string_view path, std::string_view data,
                                     std::int32_t version) {
  head(static_cast<std::int32_t>(opcode::set_data), false);
  append_set_data(out_, path, data, version);
  return *this;
}

multi_writer& multi_writer::check(std::string_view path, std::int32_t version) {
  head(static_cast<std::int32_t>(opcode::check), false);
  jute_writer(out_).write_text(path).write_int(version);
  return *this;
}

void multi_writer::end() { head(-1, true); }

unsigned append_set_watches(std::string& out, std::int64_t relative_zxid,
                            const watched_paths& all) {
  unsigned frames = 0;
  std::span<const std::string_view> data(all.data), exist(all.exist), child(all.child);
  while (!data.empty() || !exist.empty() || !child.empty()) {
    ++frames;
    append_frame(out, [&](std::string& to) {
      std::size_t space = set_watches_bytes_max;
      jute_writer w(to);
      append_header(w, xid::set_watches, opcode::set_watches);
      w.write_long(relative_zxid);
      append_paths(w, take_some(data, space));
      append_paths(w, take_some(exist, space));
      append_paths(w, take_some(child, space));
    });
  }
  return frames;
}

}  // namespace holdfast::zookeeper
