// A session that was made at 2 s and attached again by a server that grants 10 s.
#include <holdfast/holdfast.hpp>

#include <cstdio>
#include <ostream>
#include <thread>

#include "rounds.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "tests/fault/call_recorder.hpp"

namespace holdfast::zookeeper_test {
namespace {

using base::mutant;
using testkit::zookeeper_ensemble;

// Server 1 grants no less than 10 s, and follows.
class unlike_servers {
 public:
  unlike_servers() : all_({.tick = 500ms}, {"minSessionTimeout=10000"}) {
    if (all_.leader() != 1) return;
    all_.at(1).kill_hard();
    (void)all_.leader();
    all_.at(1).start();
  }

  // The session has moved there when the leader is killed, and its client is out of reach: the next
  // leader counts from its own start, and by the timeout of the creation.
  void play(fault_test::call_recorder& calls) {
    const int leader = all_.leader(), second = leader == 3 ? 2 : 3;
    tcp_proxy short_one(all_.at(second).port()), long_one(all_.at(1).port());
    long_one.refuse(true);
    const auto holder = client::open("zookeeper://127.0.0.1:" + std::to_string(short_one.port()) +
                                     ",127.0.0.1:" + std::to_string(long_one.port()) +
                                     "?session-timeout=2s&op-timeout=60s");
    const auto rival = client::open(all_.url() + "?session-timeout=10s&op-timeout=60s");
    session_client other(all_.at(second).url() + "?session-timeout=10s&op-timeout=60s");
    other.open();
    const lease held = calls.acquire("holder", holder, "x");
    std::atomic<bool> is_judged{false};
    std::thread waiter([&] {
      const lease got = calls.acquire("rival", rival, "x");
      calls.check("holder", held);
      is_judged = true;
    });
    EXPECT_TRUE(eventually([&] { return is_judged || other.children_of("/x").size() == 2; }));
    long_one.refuse(false);
    short_one.refuse(true);
    short_one.reset_all();
    EXPECT_TRUE(
        eventually([&] { return !held.held() || held.expires() > lease_clock::now() + 5s; }));
    long_one.set_both({.hold = true});
    all_.at(leader).kill_hard();
    waiter.join();
  }

 private:
  zookeeper_ensemble all_;
};

struct timeout_case {
  const char* name;
  mutant planted;
};

void PrintTo(const timeout_case& c, std::ostream* out) { *out << c.name; }

class zookeeper_timeout : public on_zookeeper, public testing::WithParamInterface<timeout_case> {};

TEST_P(zookeeper_timeout, that_grew_is_not_believed_unless_a_rule_is_broken) {
  const planted_mutant control(GetParam().planted);
  fault_test::call_recorder calls;
  unlike_servers servers;
  servers.play(calls);
  const std::string found = to_text(calls.violations());
  std::printf("%s: held twice: %d\n", GetParam().name, !found.empty());
  EXPECT_EQ(!found.empty(), GetParam().planted != mutant::none) << found;
}

std::vector<timeout_case> timeout_cases() {
  std::vector<timeout_case> all = {{"the_smallest_counts", mutant::none},
                                   {"the_last_one_believed",
                                    mutant::renegotiated_timeout_believed}};
  if (!plays_all()) all.resize(1);
  return all;
}

INSTANTIATE_TEST_SUITE_P(, zookeeper_timeout, testing::ValuesIn(timeout_cases()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace holdfast::zookeeper_test
