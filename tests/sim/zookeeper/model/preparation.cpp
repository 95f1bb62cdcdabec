#include "tests/sim/zookeeper/model/preparation.hpp"

#include <algorithm>
#include <cstdio>

#include "backend/zookeeper/transport/jute.hpp"
#include "tests/sim/zookeeper/model/paths.hpp"

namespace holdfast::sim::zk {

namespace {

using zookeeper::jute_reader;

constexpr std::int32_t any_version = -1;
constexpr std::size_t access_min = 12;  // bytes of the shortest one

enum flag : std::int32_t { persistent, ephemeral, sequential, both, container };

struct preparing {
  tree& state;
  const write_request& who;
  std::int64_t zxid, time_ms;
};

// The list that a node gets; empty: it cannot.
std::vector<access> resolved(const std::vector<access>& asked, const std::vector<identity>& mine) {
  std::vector<access> out;
  for (const access& a : asked) {
    if (a.whose == identity{"world", "anyone"}) {
      out.push_back(a);
    } else if (a.whose.scheme == "auth") {
      if (mine.empty()) return {};
      for (const identity& i : mine) out.push_back({a.rights, i});
    } else {
      return {};
    }
  }
  return out;
}

std::vector<access> read_acl(jute_reader& r) {
  std::vector<access> out;
  for (std::size_t n = r.read_count(access_min); n > 0 && r.is_good(); --n) {
    access a;
    a.rights = r.read_int();
    a.whose.scheme = r.read_text();
    a.whose.id = r.read_text();
    out.push_back(std::move(a));
  }
  return out;
}

std::string ten_digits(std::int32_t n) {
  char text[16];
  std::snprintf(text, sizeof text, "%010d", n);
  return text;
}

error check_parent(const preparing& p, std::string_view path, std::int32_t right) {
  const node* const parent = p.state.find(parent_of(path));
  if (!parent) return error::no_node;
  return may(parent->acl, right, p.who.identities) ? error::ok : error::no_auth;
}

error prepare_create(const preparing& p, jute_reader& r, transaction& t) {
  t.path = r.read_text();
  t.data = r.read_text();
  const std::vector<access> asked = read_acl(r);
  const std::int32_t flags = r.read_int();
  if (!r.is_good()) return error::marshalling;
  if (flags < persistent || flags > container) return error::bad_arguments;
  t.is_ephemeral = flags == ephemeral || flags == both;
  if (t.path.find('/') == std::string::npos) return error::bad_arguments;
  t.acl = resolved(asked, p.who.identities);
  if (t.acl.empty()) return error::invalid_acl;
  if (const error e = check_parent(p, t.path, right::create); e != error::ok) return e;
  const node& parent = *p.state.find(parent_of(t.path));
  if (flags == sequential || flags == both) t.path += ten_digits(parent.stat.cversion);
  if (!is_valid(t.path)) return error::bad_arguments;
  if (p.state.find(t.path)) return error::node_exists;
  if (parent.stat.ephemeral_owner != 0) return error::no_children_for_ephemerals;
  t.cversion = static_cast<std::int32_t>(static_cast<std::uint32_t>(parent.stat.cversion) + 1u);
  return error::ok;
}

error prepare_remove(const preparing& p, jute_reader& r, transaction& t) {
  t.path = r.read_text();
  const std::int32_t version = r.read_int();
  if (!r.is_good()) return error::marshalling;
  if (!may_be_removed(t.path)) return error::bad_arguments;
  const node* const n = p.state.find(t.path);
  if (!n || !p.state.find(parent_of(t.path))) return error::no_node;
  if (const error e = check_parent(p, t.path, right::remove); e != error::ok) return e;
  if (version != any_version && version != n->stat.version) return error::bad_version;
  return n->children.empty() ? error::ok : error::not_empty;
}

error prepare_version(const preparing& p, jute_reader& r, transaction& t) {
  t.path = r.read_text();
  const bool sets = t.type == op::set_data;
  if (sets) t.data = r.read_text();
  const std::int32_t version = r.read_int();
  if (!r.is_good()) return error::marshalling;
  if (!is_valid(t.path)) return error::bad_arguments;
  const node* const n = p.state.find(t.path);
  if (!n) return error::no_node;
  if (!may(n->acl, sets ? right::write : right::read, p.who.identities)) return error::no_auth;
  if (version != any_version && version != n->stat.version) return error::bad_version;
  t.version = n->stat.version + 1;
  return error::ok;
}

error prepare_reaping(const preparing& p, transaction& t) {
  t.path = p.who.body;
  const node* const n = p.state.find(t.path);
  if (!n) return error::no_node;
  if (!n->is_container) return error::bad_arguments;
  return n->children.empty() ? error::ok : error::not_empty;
}

error prepare_one(const preparing& p, jute_reader& r, transaction& t) {
  switch (t.type) {
    case op::create:
    case op::create2:
    case op::create_container: return prepare_create(p, r, t);
    case op::remove: return prepare_remove(p, r, t);
    case op::set_data:
    case op::check: return prepare_version(p, r, t);
    case op::delete_container: return prepare_reaping(p, t);
    default: return error::ok;  // of sessions
  }
}

transaction begun(const preparing& p, op type) {
  transaction t;
  t.zxid = p.zxid;
  t.time_ms = p.time_ms;
  t.type = type;
  t.session = p.who.session;
  t.timeout_ms = p.who.timeout_ms;
  return t;
}

bool may_be_part(op type) {
  return type == op::create || type == op::create2 || type == op::create_container ||
         type == op::remove || type == op::set_data || type == op::check;
}

// The code of each operation that failed with another: nothing before it, -2 behind it.
void fail_all(std::vector<transaction>& parts, std::size_t culprit) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == culprit) continue;
    parts[i].type = op::none;
    parts[i].code = i < culprit ? error::ok : error::runtime_inconsistency;
  }
  parts[culprit].type = op::none;
}

// Reads on behind the culprit: all operations are answered.
error prepare_multi(const preparing& p, jute_reader& r, transaction& t) {
  const tree before = p.state;
  std::size_t culprit = std::string::npos;
  for (;;) {
    const auto type = static_cast<op>(r.read_int());
    const bool is_end = r.read_bool();
    (void)r.read_int();
    if (!r.is_good()) break;
    if (is_end) {
      if (culprit == std::string::npos) return error::ok;
      fail_all(t.parts, culprit);
      p.state = before;
      return error::ok;
    }
    if (!may_be_part(type)) break;
    transaction part = begun(p, type);
    const error code = prepare_one(p, r, part);
    if (code == error::marshalling) break;
    if (culprit == std::string::npos && code != error::ok) culprit = t.parts.size();
    part.code = code;
    if (culprit == std::string::npos) p.state.apply(part, nullptr);
    t.parts.push_back(std::move(part));
  }
  p.state = before;
  t.parts.clear();
  return error::marshalling;
}

}  // namespace

bool may(const std::vector<access>& acl, std::int32_t right, const std::vector<identity>& mine) {
  return std::ranges::any_of(acl, [&](const access& a) {
    if ((a.rights & right) == 0) return false;
    return a.whose == identity{"world", "anyone"} || std::ranges::find(mine, a.whose) != mine.end();
  });
}

transaction prepare(tree& outstanding, const write_request& who, std::int64_t zxid,
                    std::int64_t time_ms) {
  const preparing p{outstanding, who, zxid, time_ms};
  transaction t = begun(p, who.type);
  t.from = who.from;
  jute_reader r(std::as_bytes(std::span(who.body)));
  if (who.type == op::multi) {
    t.code = prepare_multi(p, r, t);
    return t;
  }
  t.code = prepare_one(p, r, t);
  outstanding.apply(t, nullptr);
  return t;
}

}  // namespace holdfast::sim::zk
