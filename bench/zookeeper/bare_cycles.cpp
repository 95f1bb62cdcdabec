#include "zookeeper/bare_cycles.hpp"

#include <stdexcept>
#include <vector>

#include "pace.hpp"
#include "zookeeper/bare_zookeeper.hpp"

namespace bench {

namespace zk = holdfast::zookeeper;

namespace {

// The cycles under one parent.
class bare_lock_node {
 public:
  explicit bare_lock_node(const std::string& parent) {
    zk::append_create(parent_, parent, "", zk::node_kind::container, zk::acl_of::anyone);
    zk::append_create(create_, parent + "/_c_01234567-89ab-cdef-0123-456789abcdef-lock-", "",
                      zk::node_kind::ephemeral_sequential, zk::acl_of::anyone);
    zk::append_watched_path(exists_, parent, false);
  }
  void append_parent(bare_zookeeper& to) const { to.append(zk::opcode::create_container, parent_); }
  void append_acquire(bare_zookeeper& to) const {
    to.append(zk::opcode::create2, create_);
    to.append(zk::opcode::exists, exists_);
  }
  // Reads the reply to the create.
  void note(const zk::reply& r) {
    const auto made = zk::read_created(r.body);
    if (!made) throw std::runtime_error("the limit did not get its node");
    delete_.clear();
    zk::append_delete(delete_, made->path, zk::any_version);
    czxid_ = made->stat.czxid;
  }
  // Checks the reply to the exists: the node must be the only one.
  void check(const zk::reply& r) const {
    const auto parent = zk::read_stat(r.body);
    if (!parent || parent->children != 1 || parent->pzxid != czxid_)
      throw std::runtime_error("the limit did not get its lock");
  }
  void append_release(bare_zookeeper& to) const { to.append(zk::opcode::remove, delete_); }

 private:
  std::string parent_, create_, exists_, delete_;
  std::int64_t czxid_ = 0;
};

// An earlier run may have left the parents.
void create_parents(int port, const std::vector<bare_lock_node>& all) {
  for (const bare_lock_node& one : all) {
    bare_zookeeper by(port);
    one.append_parent(by);
    by.flush();
    try {
      by.await(1, [](const zk::reply&) {});
    } catch (const std::runtime_error&) {}
  }
}

}  // namespace

outcome bare_cycles(int port, seconds length) {
  std::vector<bare_lock_node> nodes{bare_lock_node("/limit")};
  create_parents(port, nodes);
  bare_zookeeper session(port);
  bare_lock_node& node = nodes.front();
  const double each = nanoseconds_per_cycle<64>(length, [&] {
    node.append_acquire(session);
    session.flush();
    bool is_created = false;
    session.await(2, [&](const zk::reply& r) {
      std::exchange(is_created, true) ? node.check(r) : node.note(r);
    });
    node.append_release(session);
    session.flush();
    session.await(1, [](const zk::reply&) {});
  });
  return {1e9 / each, {}};
}

// Replies come in the order of the requests, so the queue of what is awaited says whose they are.
outcome bare_cycles_in_flight(int port, unsigned in_flight, seconds length) {
  using clock = std::chrono::steady_clock;
  enum class step : unsigned char { create, exists, remove };
  struct awaited {
    bare_lock_node* node;
    step of;
  };
  std::vector<bare_lock_node> nodes;
  for (unsigned i = 0; i < in_flight; ++i) nodes.emplace_back("/limit-" + std::to_string(i));
  create_parents(port, nodes);
  bare_zookeeper session(port);
  std::vector<awaited> ring(4 * std::size_t{in_flight});
  std::size_t first = 0, last = 0, done = 0;
  const auto expect = [&](bare_lock_node& n, step s) { ring[last++ % ring.size()] = {&n, s}; };
  const auto acquire = [&](bare_lock_node& n) {
    n.append_acquire(session);
    expect(n, step::create);
    expect(n, step::exists);
  };
  for (bare_lock_node& n : nodes) acquire(n);
  session.flush();
  const auto begun = clock::now();
  seconds passed{};
  for (; passed < length; passed = clock::now() - begun) {
    (void)session.read_once([&](const zk::reply& r) {
      const awaited a = ring[first++ % ring.size()];
      if (a.of == step::create) return a.node->note(r);
      if (a.of == step::exists) {
        a.node->check(r);
        a.node->append_release(session);
        return expect(*a.node, step::remove);
      }
      ++done;
      acquire(*a.node);
    });
    session.flush();
  }
  return {static_cast<double>(done) / passed.count(), {}};
}

}  // namespace bench
