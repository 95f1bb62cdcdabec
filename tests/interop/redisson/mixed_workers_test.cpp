// Four workers of the real Redisson and four of holdfast acquire one lock without a pause. The test
// prints the number of turns of each side and judges only that each worker has some.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tests/interop/redisson/table.hpp"
#include "tests/interop/workers.hpp"

namespace holdfast::redisson_test {
namespace {

using interop_test::counted_time;
using interop_test::turns_had;
using interop_test::turns_of_both;
using interop_test::worker_clock;

constexpr int workers_of_a_side = 4;

class redisson_workers_table : public with_redisson, public testing::WithParamInterface<kind> {
 protected:
  // Opened by the thread of the test: the JVM ends with the thread that starts it.
  redisson_client open_theirs() {
    return redisson_client(server_, "connections=" + std::to_string(workers_of_a_side * 4));
  }
  static turns_had theirs(const redisson_client& c, int count, counted_time counted) {
    return interop_test::turns_in(
        c.ask("contenders", interop_test::contenders_of(count, GetParam().type, "x", counted)));
  }
  void play(int clients_of_ours, const std::string& options = {}) {
    const redisson_client redisson = open_theirs();
    std::vector<client> mine;
    for (int i = 0; i < clients_of_ours; ++i)
      mine.push_back(client::open(server_.url() + "?layout=" + GetParam().layout + options));
    const auto [them, us] = interop_test::play_until_all_had_turns([&] {
      const counted_time counted;
      turns_of_both had;
      std::jthread beside([&] { had.them = theirs(redisson, workers_of_a_side, counted); });
      had.us = interop_test::play_workers(workers_of_a_side, counted, [&](std::size_t worker) {
        const lease held = mine[worker % mine.size()].mutex("x").acquire();
        return worker_clock::now();
      });
      beside.join();
      return had;
    });
    interop_test::show(GetParam().layout, "Redisson", them);
    interop_test::show(GetParam().layout,
                       "holdfast, clients: " + std::to_string(clients_of_ours) + options, us);
    EXPECT_GT(them.fewest, 0) << "a worker of Redisson had no turn";
    EXPECT_GT(us.fewest, 0) << "a worker of holdfast had no turn";
  }

  redis_server server_;
};

TEST_P(redisson_workers_table, have_their_turns_beside_threads_of_one_client) { play(1); }

TEST_P(redisson_workers_table, have_their_turns_beside_four_clients) { play(workers_of_a_side); }

TEST_P(redisson_workers_table, have_their_turns_beside_a_client_that_passes_each_one_on) {
  play(1, "&turns=1");
}

// For comparison.
TEST_P(redisson_workers_table, have_their_turns_alone) {
  const redisson_client redisson = open_theirs();
  const turns_had all = theirs(redisson, workers_of_a_side * 2, {});
  interop_test::show(GetParam().layout, "Redisson alone, twice as many", all);
  EXPECT_GT(all.fewest, 0);
}

INSTANTIATE_TEST_SUITE_P(of, redisson_workers_table,
                         testing::Values(kind{"lock", "redisson"}, kind{"spin", "redisson-spin"},
                                         kind{"write", "redisson-rw"},
                                         kind{"fair", "redisson-fair"}),
                         [](const auto& tested) {
                           std::string name = tested.param.layout;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::redisson_test
