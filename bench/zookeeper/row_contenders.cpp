// zookeeper/w3, w4 and drain: many on one lock, beside the real Curator on the same server.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contenders.hpp"
#include "handoff.hpp"
#include "row.hpp"
#include "zookeeper/bare_chain.hpp"
#include "zookeeper/bare_queue.hpp"
#include "zookeeper/bare_zookeeper.hpp"
#include "zookeeper/fixture.hpp"
#include "zookeeper/peers.hpp"
#include "zookeeper/real_curator.hpp"

namespace bench {

namespace zk = holdfast::zookeeper;

namespace {

constexpr unsigned racing_programs = 4, threads_of_program = 4,
                   contenders = racing_programs * threads_of_program;
constexpr unsigned queued_sessions = 1'000;

// Waits until that node has that number of children. A session of its own asks.
class children_of {
 public:
  children_of(int port, const std::string& path) : session_(port) {
    zk::append_watched_path(exists_, path, false);
  }
  void await(int count) {
    for (int now = 0; now < count; std::this_thread::sleep_for(std::chrono::milliseconds{2})) {
      session_.append(zk::opcode::exists, exists_);
      session_.flush();
      session_.await(1, [&](const zk::reply& r) {
        const auto stat = zk::read_stat(r.body);
        now = stat ? stat->children : 0;
      });
    }
  }

 private:
  bare_zookeeper session_;
  std::string exists_;
};

// A holder, and a number of sessions that wait behind it. Each releases at once.
class drained_sessions {
 public:
  explicit drained_sessions(const zookeeper_fixture& fixture) : fixture_(fixture) {
    for (unsigned i = 0; i <= queued_sessions; ++i)
      clients_.push_back(holdfast::client::open(fixture.url()));
  }
  double run() {
    const std::string name = "drained-" + std::to_string(++runs_);
    holdfast::lease first = clients_.front().mutex(name).acquire();
    std::vector<std::thread> all;
    for (unsigned i = 1; i <= queued_sessions; ++i)
      all.emplace_back([m = clients_[i].mutex(name)]() mutable { m.acquire().release(); });
    children_of(fixture_.port(), '/' + name).await(queued_sessions + 1);
    const auto begun = std::chrono::steady_clock::now();
    first.release();
    for (std::thread& t : all) t.join();
    const seconds taken = std::chrono::steady_clock::now() - begun;
    return queued_sessions / taken.count();
  }

 private:
  const zookeeper_fixture& fixture_;
  std::vector<holdfast::client> clients_;
  unsigned runs_ = 0;
};

peer shortest_chain(const std::shared_ptr<zookeeper_fixture>& fixture) {
  return {"a chain of bare deletions",
          [fixture](seconds) { return bare_chain(fixture->port(), racing_programs); }};
}

}  // namespace

std::vector<contest> zookeeper_contenders() {
  const auto fixture = std::make_shared<zookeeper_fixture>();
  const auto theirs =
      std::make_shared<curator_contenders_of>(fixture->port(), 1, contenders, "/theirs");
  const auto client = holdfast::client::open(fixture->url());
  const auto lock = std::make_shared<holdfast::mutex>(client.mutex("ours"));
  return {{"", [fixture, theirs](seconds length) { return theirs->run(length); },
           [fixture, lock](seconds length) { return run_contenders(*lock, contenders, length); }}};
}

std::vector<contest> zookeeper_processes() {
  const auto fixture = std::make_shared<zookeeper_fixture>();
  const auto ours = [fixture](seconds length) {
    const auto o =
        run_contender({"mutex", fixture->url("?turns=1"), racing_programs, threads_of_program},
                      length);
    return outcome{o.cycles,
                   {{"max/min per worker", o.unfairness},
                    {"hand-offs to another process/s", o.handoffs}}};
  };
  std::vector<peer> peers = zookeeper_peers(fixture->port(), workload::one_lock);
  peers.push_back(shortest_chain(fixture));
  return {{"",
           [fixture](seconds length) {
             return outcome{bare_queue(fixture->port(), racing_programs, length), {}};
           },
           ours, std::move(peers)}};
}

std::vector<contest> zookeeper_drain() {
  const auto fixture = std::make_shared<zookeeper_fixture>();
  const auto theirs =
      std::make_shared<curator_drain>(fixture->port(), curator_sessions::one_for_each);
  const auto ours = std::make_shared<drained_sessions>(*fixture);
  const auto threads_of_one_session = [fixture](seconds) {
    return curator_drain(fixture->port(), curator_sessions::one_for_all).run(queued_sessions);
  };
  return {{"",
           [fixture, theirs](seconds) {
             return outcome{theirs->run(queued_sessions), {}};
           },
           [fixture, ours](seconds) {
             return outcome{ours->run(), {}};
           },
           {shortest_chain(fixture), {"Curator, threads of one session", threads_of_one_session}}}};
}

}  // namespace bench
