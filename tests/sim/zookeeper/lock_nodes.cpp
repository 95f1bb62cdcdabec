#include "tests/sim/zookeeper/lock_nodes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::sim {

namespace {

constexpr std::string_view reader_markers[] = {"__READ__", "__rlock__"};

std::vector<std::string> in_order(const zk::tree& t, const std::string& folder) {
  const zk::node* const parent = t.find(folder);
  if (!parent) return {};
  std::vector<std::string> out(parent->children.begin(), parent->children.end());
  std::ranges::stable_sort(out, {}, zk::sequence_of);
  return out;
}

std::string before(const std::string& name, std::string_view marker) {
  return name.substr(0, name.rfind(marker));
}

}  // namespace

// A writer has it alone, and every reader has it that no writer stands before.
lock_nodes read_sequential(const zk::tree& t, const std::string& lock, int) {
  lock_nodes out;
  bool has_writer = false;
  for (const std::string& name : in_order(t, lock)) {
    contender c{.id = name, .path = lock + '/' + name};
    c.number = t.find(c.path)->stat.czxid;
    c.reads = std::ranges::any_of(reader_markers,
                                  [&](auto m) { return name.find(m) != std::string::npos; });
    const bool holds = c.reads ? !has_writer : out.holders.empty() && !has_writer;
    has_writer = has_writer || !c.reads;
    (holds ? out.holders : out.waiters).push_back(std::move(c));
  }
  return out;
}

// A claim has its permits once all its leases are among the first `total`; until then it waits by
// its node in the line.
lock_nodes read_semaphore(const zk::tree& t, const std::string& lock, int total) {
  lock_nodes out;
  std::map<std::string, int> leases;  // by claim
  int rank = 0;
  const std::string folder = lock + "/leases";
  for (const std::string& name : in_order(t, folder)) {
    const std::string id = before(name, "-lease-");
    ++rank;
    ++leases[id];
    auto at = std::ranges::find(out.holders, id, &contender::id);
    if (at == out.holders.end()) at = out.holders.insert(at, contender{.id = id});
    at->path = folder + '/' + name;
    at->number = t.find(at->path)->stat.czxid;
    at->permits = leases[id];
    if (rank > total) out.holders.erase(at);
  }
  for (const std::string& name : in_order(t, lock + "/locks")) {
    contender c{.id = before(name, "-lock-"), .path = lock + "/locks/" + name};
    if (std::ranges::find(out.holders, c.id, &contender::id) != out.holders.end()) continue;
    if (const auto made = leases.find(c.id); made != leases.end()) c.permits = made->second;
    out.waiters.push_back(std::move(c));
  }
  return out;
}

// The data begins with an id, which a space ends.
lock_nodes read_single(const zk::tree& t, const std::string& lock, int) {
  lock_nodes out;
  const zk::node* const n = t.find(lock);
  if (!n) return out;
  out.holders.push_back(
      {.id = n->data.substr(0, n->data.find(' ')), .path = lock, .number = n->stat.czxid});
  return out;
}

}  // namespace holdfast::sim
