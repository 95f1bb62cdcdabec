#include "tests/sim/zookeeper/model/tree.hpp"

#include <algorithm>

#include "tests/sim/zookeeper/model/watch_table.hpp"

namespace holdfast::sim::zk {

std::string_view parent_of(std::string_view path) noexcept {
  const std::size_t at = path.rfind('/');
  if (at == std::string_view::npos) return {};
  return at == 0 ? std::string_view("/") : path.substr(0, at);
}

std::string_view name_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

std::string_view sequence_of(std::string_view name) noexcept {
  constexpr std::size_t digits = 10;
  return name.substr(name.size() - std::min(name.size(), digits));
}

node_stat node::shown() const {
  node_stat s = stat;
  s.data_length = static_cast<std::int32_t>(data.size());
  s.children = static_cast<std::int32_t>(children.size());
  // Clients see the count of all changes: a creation, and a deletion of each that is gone.
  s.cversion = static_cast<std::int32_t>(2u * static_cast<std::uint32_t>(stat.cversion) -
                                         static_cast<std::uint32_t>(s.children));
  return s;
}

tree::tree() {
  for (const char* path : {"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"}) {
    nodes_[path].acl = {{31, {"world", "anyone"}}};
    if (std::string_view(path) != "/")
      nodes_.find(parent_of(path))->second.children.emplace(name_of(path));
  }
}

const node* tree::find(std::string_view path) const {
  const auto found = nodes_.find(path.empty() ? std::string_view("/") : path);
  return found == nodes_.end() ? nullptr : &found->second;
}

node* tree::find(std::string_view path) {
  return const_cast<node*>(static_cast<const tree&>(*this).find(path));
}

std::vector<std::string> tree::ephemerals_of(std::int64_t session) const {
  std::vector<std::string> out;
  for (const auto& [path, n] : nodes_)
    if (session != 0 && n.stat.ephemeral_owner == session) out.push_back(path);
  return out;
}

void tree::create(const transaction& t, std::int64_t zxid, watch_table* watches) {
  node n;
  n.data = t.data;
  n.acl = t.acl;
  n.is_container = t.type == op::create_container;
  n.stat.czxid = n.stat.mzxid = n.stat.pzxid = zxid;
  n.stat.ctime_ms = n.stat.mtime_ms = t.time_ms;
  if (t.is_ephemeral) n.stat.ephemeral_owner = t.session;
  nodes_.insert_or_assign(t.path, std::move(n));
  node& parent = *find(parent_of(t.path));
  parent.children.emplace(name_of(t.path));
  if (t.cversion > parent.stat.cversion) {  // a count at its end moves neither
    parent.stat.cversion = t.cversion;
    parent.stat.pzxid = zxid;
  }
  if (watches) watches->on_created(t.path);
}

void tree::remove(const std::string& path, std::int64_t zxid, watch_table* watches) {
  nodes_.erase(path);
  node& parent = *find(parent_of(path));
  parent.children.erase(parent.children.find(name_of(path)));
  parent.stat.pzxid = std::max(parent.stat.pzxid, zxid);
  if (watches) watches->on_deleted(path);
}

outcome tree::apply_one(const transaction& t, std::int64_t zxid, watch_table* watches) {
  outcome out;
  out.type = t.type;
  out.code = t.code;
  out.path = t.path;
  if (t.code != error::ok) return out;
  switch (t.type) {
    case op::create:
    case op::create2:
    case op::create_container:
      create(t, zxid, watches);
      out.stat = find(t.path)->shown();
      break;
    case op::remove:
    case op::delete_container: remove(t.path, zxid, watches); break;
    case op::set_data: {
      node& n = *find(t.path);
      n.data = t.data;
      n.stat.version = t.version;
      n.stat.mzxid = zxid;
      n.stat.mtime_ms = t.time_ms;
      out.stat = n.shown();
      if (watches) watches->on_set(t.path);
      break;
    }
    case op::create_session: sessions_[t.session] = t.timeout_ms; break;
    case op::close_session:
      for (const std::string& path : ephemerals_of(t.session)) remove(path, zxid, watches);
      sessions_.erase(t.session);
      break;
    default: break;
  }
  return out;
}

outcome tree::apply(const transaction& t, watch_table* watches) {
  last_zxid_ = t.zxid;
  outcome out = apply_one(t, t.zxid, watches);
  for (const transaction& part : t.parts) out.parts.push_back(apply_one(part, t.zxid, watches));
  return out;
}

}  // namespace holdfast::sim::zk
