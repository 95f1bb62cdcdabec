// Four workers of the real Curator and four of holdfast acquire one lock without a pause. The test
// prints the number of turns of each side and judges only that each worker has some.
#include <holdfast/holdfast.hpp>

#include <string>
#include <thread>
#include <vector>

#include "tests/interop/workers.hpp"
#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {
namespace {

using interop_test::counted_time;
using interop_test::turns_of_both;
using interop_test::worker_clock;

class curator_workers_table : public with_curator, public testing::WithParamInterface<bool> {
 protected:
  // As a mutex, or as a semaphore of one permit.
  void play(int clients_of_ours, const std::string& options = {}) {
    constexpr int workers_of_a_side = 4;
    const bool is_semaphore = GetParam();
    const zookeeper_server server;
    const peer_client peer(curator(), address_of(server));
    std::vector<client> mine;
    for (int i = 0; i < clients_of_ours; ++i)
      mine.push_back(client::open("zookeeper://" + address_of(server) + options));
    const auto [them, us] = interop_test::play_until_all_had_turns([&] {
      const counted_time counted;
      turns_of_both had;
      std::jthread beside([&] {
        const std::string type = is_semaphore ? "semaphore:1" : "mutex";
        had.them = interop_test::turns_in(
            peer.ask("contenders",
                     interop_test::contenders_of(workers_of_a_side, type, "/x", counted)));
      });
      had.us = interop_test::play_workers(workers_of_a_side, counted, [&](std::size_t worker) {
        const client& c = mine[worker % mine.size()];
        const lease held = is_semaphore ? c.semaphore("x", 1).acquire() : c.mutex("x").acquire();
        return worker_clock::now();
      });
      beside.join();
      return had;
    });
    const std::string layout = is_semaphore ? "curator-semaphore" : "curator";
    interop_test::show(layout, "Curator", them);
    interop_test::show(layout, "holdfast, clients: " + std::to_string(clients_of_ours) + options,
                       us);
    EXPECT_GT(them.fewest, 0) << "a worker of Curator had no turn";
    EXPECT_GT(us.fewest, 0) << "a worker of holdfast had no turn";
  }
};

TEST_P(curator_workers_table, have_their_turns_beside_threads_of_one_client) { play(1); }

TEST_P(curator_workers_table, have_their_turns_beside_four_clients) { play(4); }

TEST_P(curator_workers_table, have_their_turns_beside_a_client_that_passes_each_one_on) {
  play(1, "?turns=1");
}

INSTANTIATE_TEST_SUITE_P(of, curator_workers_table, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "semaphore" : "mutex"; });

}  // namespace
}  // namespace holdfast::zookeeper_wire
