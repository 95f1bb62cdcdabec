// The replies and events of a server.
#include "tests/sim/zookeeper/model/ensemble.hpp"
#include "tests/sim/zookeeper/model/paths.hpp"
#include "tests/sim/zookeeper/model/replica.hpp"

namespace holdfast::sim::zk {

using zookeeper::event_kind;
using zookeeper::jute_reader;
using zookeeper::jute_writer;

namespace {

std::string text_of(std::string_view path) {
  std::string out;
  jute_writer(out).write_text(path);
  return out;
}

void append_stat(std::string& out, const node_stat& s) {
  jute_writer w(out);
  w.write_long(s.czxid).write_long(s.mzxid).write_long(s.ctime_ms).write_long(s.mtime_ms);
  w.write_int(s.version).write_int(s.cversion).write_int(s.aversion);
  w.write_long(s.ephemeral_owner).write_int(s.data_length).write_int(s.children);
  w.write_long(s.pzxid);
}

void append_head(std::string& out, op type, bool is_end, error code) {
  constexpr std::int32_t none = -1;
  jute_writer w(out);
  w.write_int(type == op::none ? none : static_cast<std::int32_t>(type)).write_bool(is_end);
  w.write_int(is_end ? none : static_cast<std::int32_t>(code));
}

// As an answer of its own; inside a multi a node's description is kept back for create2.
void append_result(std::string& out, const outcome& o, bool is_part) {
  switch (o.type) {
    case op::create: out += text_of(o.path); break;
    case op::create2:
    case op::create_container:
      out += text_of(o.path);
      if (!is_part || o.type == op::create_container) append_stat(out, o.stat);
      break;
    case op::set_data: append_stat(out, o.stat); break;
    case op::none: jute_writer(out).write_int(static_cast<std::int32_t>(o.code)); break;
    default: break;
  }
}

// The type that a multi's answer says: each is one less than what was asked for.
op shown_type(op asked) {
  if (asked == op::create_container) return op::create2;
  return asked == op::create2 ? op::create : asked;
}

std::string multi_text(const outcome& all) {
  std::string out;
  for (const outcome& o : all.parts) {
    append_head(out, shown_type(o.type), false, o.code);
    append_result(out, o, true);
  }
  append_head(out, op::none, true, error::ok);
  return out;
}

std::vector<std::string> read_paths(jute_reader& r) {
  std::vector<std::string> out;
  for (std::size_t n = r.read_count(zookeeper::frame_head); n > 0 && r.is_good(); --n)
    out.emplace_back(r.read_text());
  return out;
}

}  // namespace

void replica::write(connection& c, std::int32_t xid, std::int64_t zxid, error code,
                    std::string_view body) {
  zookeeper::append_frame(c.out, [&](std::string& to) {
    jute_writer(to).write_int(xid).write_long(zxid).write_int(static_cast<std::int32_t>(code));
    if (code == error::ok) to += body;
  });
  all_.note_output(c.number);
}

void replica::tell(int number, event_kind kind, const std::string& path) {
  connection* const c = find(number);
  if (!c || c->is != connection::fixture::attached) return;
  constexpr std::int32_t connected = 3;
  std::string body;
  jute_writer(body).write_int(static_cast<std::int32_t>(kind)).write_int(connected);
  write(*c, event_xid, -1, error::ok, body + text_of(path));
}

void replica::authenticate(connection& c, const request& q) {
  jute_reader r(std::as_bytes(std::span(q.body)));
  (void)r.read_int();
  identity i;
  i.scheme = r.read_text();
  i.id = r.read_text();
  if (!r.is_good()) return close(c);
  if (i.scheme != "digest") {
    write(c, q.xid, 0, error::auth_failed);
    return close(c);
  }
  c.identities.push_back(std::move(i));
  write(c, q.xid, 0, error::ok);
}

void replica::answer_read(connection& c, const request& q) {
  const std::int64_t zxid = state.last_zxid();
  switch (q.type) {
    case op::ping: return write(c, ping_xid, zxid, error::ok);
    case op::set_watches: return set_watches(c, q);
    case op::remove_watches: return write(c, q.xid, zxid, remove_watch(c, q));
    case op::sync: {
      jute_reader r(std::as_bytes(std::span(q.body)));
      const std::string path = text_of(r.read_text());
      return write(c, q.xid, zxid, r.is_good() ? error::ok : error::marshalling, path);
    }
    default: return answer_node(c, q);
  }
}

// A watch on a node that is not there is armed by exists only.
void replica::answer_node(connection& c, const request& q) {
  jute_reader r(std::as_bytes(std::span(q.body)));
  const std::string path(r.read_text());
  const bool watches = r.read_bool();
  const auto answer = [&](error e, std::string_view body = {}) {
    write(c, q.xid, state.last_zxid(), e, body);
  };
  if (!r.is_good()) return answer(error::marshalling);
  const node* const n = state.find(path);
  if (watches && q.type == op::exists) watches_.watch_data(path, c.number);
  if (!n) return answer(error::no_node);
  std::string body;
  if (q.type == op::exists) {
    append_stat(body, n->shown());
    return answer(error::ok, body);
  }
  if (!may(n->acl, right::read, c.identities)) return answer(error::no_auth);
  if (q.type == op::get_data) {
    if (watches) watches_.watch_data(path, c.number);
    body = text_of(n->data);
  } else {
    if (watches) watches_.watch_children(path, c.number);
    jute_writer(body).write_int(static_cast<std::int32_t>(n->children.size()));
    for (const std::string& name : n->children) body += text_of(name);
  }
  if (q.type != op::get_children) append_stat(body, n->shown());
  answer(error::ok, body);
}

// Changes since then are reported before the answer.
void replica::set_watches(connection& c, const request& q) {
  jute_reader r(std::as_bytes(std::span(q.body)));
  const std::int64_t since = r.read_long();
  const auto data = read_paths(r), exist = read_paths(r), child = read_paths(r);
  if (!r.is_good()) return write(c, q.xid, state.last_zxid(), error::marshalling);
  for (const std::string& path : data) {
    const node* const n = state.find(path);
    if (!n || n->stat.mzxid > since) {
      tell(c.number, n ? event_kind::data : event_kind::deleted, path);
    } else {
      watches_.watch_data(path, c.number);
    }
  }
  for (const std::string& path : exist) {
    if (state.find(path)) {
      tell(c.number, event_kind::created, path);
    } else {
      watches_.watch_data(path, c.number);
    }
  }
  for (const std::string& path : child) {
    const node* const n = state.find(path);
    if (!n || n->stat.pzxid > since) {
      tell(c.number, n ? event_kind::children : event_kind::deleted, path);
    } else {
      watches_.watch_children(path, c.number);
    }
  }
  write(c, q.xid, state.last_zxid(), error::ok);
}

error replica::remove_watch(connection& c, const request& q) {
  jute_reader r(std::as_bytes(std::span(q.body)));
  const std::string path(r.read_text());
  const int kind = r.read_int();
  if (!r.is_good()) return error::marshalling;
  return watches_.remove(path, kind, c.number) ? error::ok : error::no_watcher;
}

void replica::answer_write(connection& c, const transaction& t, const outcome& o) {
  if (c.is != connection::fixture::attached || c.pending.empty()) return;
  const request q = c.pending.front();
  c.pending.pop_front();
  if (t.code == error::session_moved) return close(c);
  std::string body;
  if (t.type == op::multi) {
    body = multi_text(o);
  } else {
    append_result(body, o, false);
  }
  write(c, q.xid, t.zxid, t.code, body);
  if (t.type == op::close_session) close(c);
}

}  // namespace holdfast::sim::zk
