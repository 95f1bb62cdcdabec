#include "zookeeper/bare_chain.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "row.hpp"
#include "zookeeper/bare_zookeeper.hpp"

namespace bench {

namespace zk = holdfast::zookeeper;

namespace {

constexpr unsigned links = 2'000, per_write = 500;

std::string node(unsigned i) { return "/chain/" + std::to_string(i); }

// A request about each of the nodes `from`, `from` + `step` ..., many in one write.
template <class Body>
void ask_of_each(bare_zookeeper& by, zk::opcode what, unsigned from, unsigned step, Body body) {
  unsigned asked = 0;
  for (unsigned i = from; i < links; i += step) {
    std::string text;
    body(text, node(i));
    by.append(what, text);
    if (++asked < per_write && i + step < links) continue;
    by.flush();
    by.await(std::exchange(asked, 0), [](const zk::reply&) {});
  }
}

void remove(bare_zookeeper& by, unsigned i) {
  std::string body;
  zk::append_delete(body, node(i), zk::any_version);
  by.append(zk::opcode::remove, body);
  by.flush();
}

// Deletes its nodes, each when the one before it has ended.
void follow(bare_zookeeper& by, unsigned own, unsigned step) {
  if (own == 0) remove(by, 0);
  for (unsigned next = own == 0 ? step : own; next < links;)
    by.read_once([&](const zk::reply& r) {
      const auto e = r.head.xid == -1 ? zk::read_watch_event(r.body) : std::nullopt;
      if (!e || e->path != node(next - 1)) return;
      remove(by, next);
      next += step;
    });
}

}  // namespace

double bare_chain(int port, unsigned sessions) {
  bare_zookeeper nodes(port);
  std::string parent;
  zk::append_create(parent, "/chain", "", zk::node_kind::container, zk::acl_of::anyone);
  nodes.append(zk::opcode::create_container, parent);
  nodes.flush();
  nodes.await(1, [](const zk::reply&) {});
  ask_of_each(nodes, zk::opcode::create2, 0, 1, [](std::string& to, const std::string& path) {
    zk::append_create(to, path, "", zk::node_kind::ephemeral, zk::acl_of::anyone);
  });
  std::vector<std::unique_ptr<bare_zookeeper>> all;
  for (unsigned i = 0; i < sessions; ++i) {
    all.push_back(std::make_unique<bare_zookeeper>(port));
    ask_of_each(*all.back(), zk::opcode::exists, (i + sessions - 1) % sessions, sessions,
                [](std::string& to, const std::string& path) {
                  zk::append_watched_path(to, path, true);
                });
  }
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < sessions; ++i)
    threads.emplace_back([&, i] { follow(*all[i], i, sessions); });
  for (std::thread& t : threads) t.join();
  const seconds taken = std::chrono::steady_clock::now() - begun;
  return links / taken.count();
}

}  // namespace bench
