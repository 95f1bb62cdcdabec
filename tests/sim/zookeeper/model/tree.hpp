// The nodes and the sessions that one server knows.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/zookeeper/model/operation.hpp"

namespace holdfast::sim::zk {

class watch_table;

struct node {
  std::string data;
  std::vector<access> acl;
  node_stat stat;  // without the counts; cversion: of children ever created
  bool is_container = false;
  std::set<std::string, std::less<>> children;

  node_stat shown() const;  // as a client sees it
};

class tree {
 public:
  tree();  // with the nodes of the servers' own

  const node* find(std::string_view path) const;  // "" is the root as well
  node* find(std::string_view path);
  const std::map<std::string, node, std::less<>>& nodes() const noexcept { return nodes_; }
  // Creation timeouts.
  const std::map<std::int64_t, std::int32_t>& sessions() const noexcept { return sessions_; }
  std::vector<std::string> ephemerals_of(std::int64_t session) const;
  std::int64_t last_zxid() const noexcept { return last_zxid_; }
  // A new leader's answers have its epoch before anything is written.
  void begin_epoch(std::int64_t zxid) noexcept { last_zxid_ = zxid; }

  // `watches` null: nobody is told.
  outcome apply(const transaction&, watch_table* watches);

 private:
  outcome apply_one(const transaction&, std::int64_t zxid, watch_table*);
  void create(const transaction&, std::int64_t zxid, watch_table*);
  void remove(const std::string& path, std::int64_t zxid, watch_table*);

  std::map<std::string, node, std::less<>> nodes_;
  std::map<std::int64_t, std::int32_t> sessions_;
  std::int64_t last_zxid_ = 0;
};

std::string_view parent_of(std::string_view path) noexcept;  // "/" of "/a"; "" without a '/'
std::string_view name_of(std::string_view path) noexcept;
std::string_view sequence_of(std::string_view name) noexcept;  // the server's ten digits

}  // namespace holdfast::sim::zk
