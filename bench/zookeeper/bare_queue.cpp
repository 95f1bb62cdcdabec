#include "zookeeper/bare_queue.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "zookeeper/bare_zookeeper.hpp"

namespace bench {

namespace zk = holdfast::zookeeper;

namespace {

// AddWatch, and its mode that stays armed and tells of each child by its path. Of ZooKeeper 3.6.
constexpr auto add_watch = static_cast<zk::opcode>(106);
constexpr std::int32_t persistent_recursive = 1;

struct totals {
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> turns{0};
};

class queued_session {
 public:
  queued_session(int port, const std::string& queue, totals& t)
      : session_(port), node_prefix_(queue + "/n-"), totals_(t) {
    std::string watch;
    zk::append_path(watch, queue);
    zk::jute_writer(watch).write_int(persistent_recursive);
    session_.append(add_watch, watch);
    session_.flush();
    session_.await(1, [](const zk::reply&) {});
  }
  // From an empty queue, with every session watching.
  void run() {
    take_place();
    while (!is_done_)
      session_.read_once([&](const zk::reply& r) {
        on(r);
        if (!own_.empty() && !line_.empty() && *line_.begin() == own_) take_turn();
      });
  }

 private:
  void take_place() {
    std::string body;
    zk::multi_writer all(body);
    if (!own_.empty()) all.remove(own_, zk::any_version);
    all.create(node_prefix_, {}, zk::node_kind::ephemeral_sequential, zk::acl_of::anyone).end();
    own_.clear();
    send(zk::opcode::multi, body);
  }
  void take_turn() {
    if (!totals_.is_over) {
      ++totals_.turns;
      return take_place();
    }
    std::string body;
    zk::append_delete(body, own_, zk::any_version);
    send(zk::opcode::remove, body);
    is_done_ = true;
  }
  void send(zk::opcode what, const std::string& body) {
    session_.append(what, body);
    session_.flush();
  }
  void on(const zk::reply& r) {
    if (r.head.xid != -1) {
      const auto done = zk::read_multi(r.body);
      if (done && !done->created.empty()) own_ = done->created.front();
      return;
    }
    const auto e = zk::read_watch_event(r.body);
    if (!e || !e->path.starts_with(node_prefix_)) return;
    if (e->kind == zk::event_kind::created) line_.emplace(e->path);
    if (e->kind == zk::event_kind::deleted) line_.erase(std::string(e->path));
  }

  bare_zookeeper session_;
  const std::string node_prefix_;
  totals& totals_;
  std::string own_;             // empty: not known yet
  std::set<std::string> line_;  // those in the queue: their digits order them
  bool is_done_ = false;
};

void create_parent(int port, const std::string& queue) {
  bare_zookeeper session(port);
  std::string body;
  zk::append_create(body, queue, {}, zk::node_kind::container, zk::acl_of::anyone);
  session.append(zk::opcode::create_container, body);
  session.flush();
  session.await(1, [](const zk::reply&) {});
}

}  // namespace

double bare_queue(int port, unsigned sessions, seconds length) {
  static unsigned runs = 0;
  const std::string queue = "/bare-queue-" + std::to_string(++runs);
  create_parent(port, queue);
  totals all;
  std::vector<std::unique_ptr<queued_session>> queued;
  for (unsigned i = 0; i < sessions; ++i)
    queued.push_back(std::make_unique<queued_session>(port, queue, all));
  std::vector<std::thread> threads;
  for (const auto& q : queued) threads.emplace_back([&] { q->run(); });
  std::this_thread::sleep_for(length / 2);  // warm
  const unsigned before = all.turns;
  const auto begun = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(length);
  const unsigned turns = all.turns - before;
  const seconds taken = std::chrono::steady_clock::now() - begun;
  all.is_over = true;
  for (std::thread& t : threads) t.join();
  return turns / taken.count();
}

}  // namespace bench
