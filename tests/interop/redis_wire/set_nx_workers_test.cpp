// Four workers that poll by SET NX and four of holdfast that take one lock without a pause. How
// many turns each side has is shown and not judged: docs/safety.md says that the former may starve.
#include <holdfast/holdfast.hpp>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/interop/redisson/fixture.hpp"
#include "tests/interop/workers.hpp"

namespace holdfast::redisson_test {
namespace {

using interop_test::counted_time;
using interop_test::play_workers;
using interop_test::turns_had;
using interop_test::worker_clock;

// The loop of redis-py's Lock, with pauses of 1 to 20 ms. A worker that waits in vain ends with the
// counted time.
class poller {
 public:
  poller(const redis_server& s, unsigned seed, worker_clock::time_point end)
      : link_("127.0.0.1", s.port()), chance_(seed), id_(std::to_string(seed)), end_(end) {}

  worker_clock::time_point take_turn() {
    while (link_.command({"SET", "x", id_, "NX", "PX", "30000"}).text != "OK") {
      if (worker_clock::now() >= end_) return worker_clock::now();
      std::this_thread::sleep_for(std::chrono::milliseconds{1 + chance_() % 20});
    }
    const auto granted = worker_clock::now();
    link_.command({"DEL", "x"});
    return granted;
  }

 private:
  testkit::redis_link link_;
  std::minstd_rand chance_;
  const std::string id_;
  const worker_clock::time_point end_;
};

struct beside {
  std::string layout;
  int clients;
};

class set_nx_workers_table : public testing::TestWithParam<beside> {
 protected:
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  }
};

TEST_P(set_nx_workers_table, poll_beside_workers_of_holdfast) {
  constexpr int workers_of_a_side = 4;
  redis_server server;
  const counted_time counted;
  std::vector<client> mine;
  std::vector<poller> pollers;
  for (int i = 0; i < GetParam().clients; ++i)
    mine.push_back(client::open(server.url() + "?layout=" + GetParam().layout));
  for (unsigned i = 1; i <= workers_of_a_side; ++i) pollers.emplace_back(server, i, counted.to);
  turns_had them;
  std::jthread beside([&] {
    them = play_workers(workers_of_a_side, counted,
                        [&](std::size_t worker) { return pollers[worker].take_turn(); });
  });
  const turns_had us = play_workers(workers_of_a_side, counted, [&](std::size_t worker) {
    const lease held = mine[worker % mine.size()].mutex("x").acquire();
    return worker_clock::now();
  });
  beside.join();
  interop_test::show(GetParam().layout, "SET NX", them);
  interop_test::show(GetParam().layout, "holdfast, clients: " + std::to_string(mine.size()), us);
  EXPECT_GT(us.all, 0);
}

INSTANTIATE_TEST_SUITE_P(of, set_nx_workers_table,
                         testing::Values(beside{"string", 1}, beside{"string", 4}, beside{"lua", 1},
                                         beside{"lua", 4}),
                         [](const auto& tested) {
                           return tested.param.layout + std::to_string(tested.param.clients);
                         });

}  // namespace
}  // namespace holdfast::redisson_test
