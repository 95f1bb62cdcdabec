#include "contenders.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "testkit/eventually.hpp"
#include "tests/stress/player.hpp"

namespace holdfast::fault_test {

using history::operation;
using history::result;

contenders::contenders(const std::vector<std::string>& urls, terms t)
    : terms_(t),
      players_(urls, t.threads_each,
               stress::cast_of<stress::player>(
                   {.longest_work = std::chrono::microseconds(t.longest_work)}),
               seed_) {}

void contenders::wait_for_plays(std::uint64_t more) const {
  const auto enough = players_.plays() + more;
  EXPECT_TRUE(testkit::eventually([&] { return players_.plays() >= enough; }))
      << "the contenders stand still at " << players_.plays();
}

contenders::~contenders() {
  EXPECT_TRUE(testkit::eventually([&] {
    return std::ranges::count_if(players_.history(), [](const history::record& r) {
             return r.what == operation::acquire && r.outcome == result::ok;
           }) >= terms_.least_granted;
  })) << "nothing was put to the test";
  players_.end();
  const auto records = players_.history();
  stress::expect_sound(records, terms_.check, seed_);
}

}  // namespace holdfast::fault_test
