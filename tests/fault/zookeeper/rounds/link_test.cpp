// A holder at a server whose link to the leader fails, and a rival that waits at another.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "rounds.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::zookeeper_test {
namespace {

using core::mutant;
using testkit::zookeeper_ensemble;

class zookeeper_link_rounds : public on_zookeeper {};

enum class link_fault {
  follower_frozen,  // it goes on answering what it can by itself
  follower_cut,
  leader_isolated,  // both links frozen: the others elect another leader
};

struct link_round_terms {
  link_fault fault{};
  std::chrono::milliseconds timeout{};  // of the holder's session, and more in later rounds
  std::string options{};                // further ones of its URL
  bool holder_is_busy = false;          // it writes all the time, for another lock
};

struct link_result {
  int rounds = 0, overlaps = 0;
  double margin_min = 1e9, overlap_max = 0;  // seconds
};

class link_stage {
 public:
  explicit link_stage(const zookeeper_options& o) : all_tick_(o.tick), all_(o) {}

  void play(const link_round_terms& p, link_result& out) {
    ASSERT_TRUE(eventually([&] { return serves(); }));
    const int leader = all_.leader();
    const bool is_isolated = p.fault == link_fault::leader_isolated;
    const int first = leader == 1 ? 2 : 1, second = 6 - leader - first;
    const int place = is_isolated ? leader : first;
    // A leader ends sessions at multiples of its tick, and followers report to it at halves.
    const auto timeout = p.timeout + all_tick_ / 10 * (out.rounds % 10);
    const auto holder = client::open(all_.at(place).url() + "?op-timeout=60s&session-timeout=" +
                                     std::to_string(timeout.count()) + "ms" + p.options);
    const auto rival = client::open(all_.at(is_isolated ? first : leader).url() +
                                    "?session-timeout=5s&op-timeout=60s");
    session_client other(all_.at(second).url() + "?op-timeout=60s");
    other.open();
    lease held = holder.mutex("link").acquire();
    std::atomic<bool> rests{!p.holder_is_busy};
    std::thread busy([&] {
      while (!rests) try {
          (void)holder.mutex("busy").try_acquire_for(100ms);
        } catch (const lock_error&) {}  // its server is out of reach
    });
    std::atomic<bool> is_judged{false};  // before the fault where a busy machine ends the session
    std::thread waiter([&] {
      wait_and_judge(rival, held, out);
      is_judged = true;
    });
    EXPECT_TRUE(eventually([&] {
      if (is_judged) return true;
      const auto stat = zookeeper::read_stat(other.exists("/link").bytes());
      return stat && stat->children == 2;
    }));
    std::vector<tcp_proxy*> links{&all_.link(first, leader)};
    if (is_isolated) links.push_back(&all_.link(second, leader));
    for (tcp_proxy* l : links) {
      if (p.fault == link_fault::follower_cut) {
        l->refuse(true);
        l->reset_all();
      } else {
        l->set_both({.hold = true});
      }
    }
    waiter.join();
    rests = true;
    for (tcp_proxy* l : links) {
      l->refuse(false);
      l->set_both({});
      l->reset_all();
    }
    busy.join();
    ++out.rounds;
  }

 private:
  static void wait_and_judge(const client& rival, lease& held, link_result& out) {
    const lease got = rival.mutex("link").acquire();
    const auto at = lease_clock::now();
    const double margin = std::chrono::duration<double>(at - held.expires()).count();
    out.margin_min = std::min(out.margin_min, margin);
    if (!held.held()) return;
    ++out.overlaps;
    EXPECT_TRUE(eventually([&] { return !held.held(); }));
    const auto until = lease_clock::now();
    out.overlap_max = std::max(out.overlap_max, std::chrono::duration<double>(until - at).count());
  }
  bool serves() {
    int leaders = 0, followers = 0;
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id) {
      const std::string mode = all_.at(id).mode();
      leaders += mode == "leader";
      followers += mode == "follower";
    }
    return leaders == 1 && followers == 2;
  }

  const std::chrono::milliseconds all_tick_;
  zookeeper_ensemble all_;
};

void print_result(const char* what, const link_result& r) {
  std::printf("%s: %d rounds, %d overlaps (longest %.3f s), smallest margin %.3f s\n", what,
              r.rounds, r.overlaps, r.overlap_max, r.margin_min);
}

TEST_F(zookeeper_link_rounds, a_holder_knows_before_its_rival_holds) {
  link_stage stage({.tick = 250ms, .config = {"syncLimit=20"}});
  link_result frozen, cut;
  const int rounds = rounds_or(5);
  for (int i = 0; i < rounds && !HasFatalFailure(); ++i)
    i % 2 == 0 ? stage.play({link_fault::follower_frozen, 1'000ms}, frozen)
               : stage.play({link_fault::follower_cut, 1'000ms, "", i % 4 == 1}, cut);
  print_result("link frozen", frozen);
  print_result("link cut", cut);
  EXPECT_EQ(frozen.overlaps + cut.overlaps, 0);
}

struct link_case {
  const char* name;
  mutant planted;  // none: nobody holds twice. Else it is played until somebody does
  link_round_terms terms;
  const char* sync_limit;
};

void PrintTo(const link_case& c, std::ostream* out) { *out << c.name; }

class zookeeper_link : public on_zookeeper, public testing::WithParamInterface<link_case> {};

TEST_P(zookeeper_link, fails_and_nobody_holds_twice_unless_a_rule_is_broken) {
  constexpr int most_rounds = 40, part_of_rounds = 10;
  const link_case& c = GetParam();
  link_stage stage({.tick = 500ms, .config = {c.sync_limit}});
  link_result r;
  const bool is_control = c.planted != mutant::none;
  const planted_mutant control(c.planted);
  const int rounds = is_control ? most_rounds : rounds_or(0) / part_of_rounds;
  for (int i = 0; i < rounds && r.overlaps == 0 && !HasFatalFailure(); ++i) stage.play(c.terms, r);
  print_result(c.name, r);
  EXPECT_EQ(r.overlaps > 0, is_control);
}

std::vector<link_case> link_cases() {
  constexpr auto timeout = 2'000ms;
  const auto frozen = link_fault::follower_frozen, isolated = link_fault::leader_isolated;
  std::vector<link_case> all =
      {{"pings_believed", mutant::deadline_by_any_reply, {frozen, timeout}, "syncLimit=20"},
       {"isolated_leader", mutant::none, {isolated, timeout}, "syncLimit=5"},
       {"isolated_leader_attached_to",
        mutant::none,
        {isolated, timeout, "&attach=leader"},
        "syncLimit=5"}};
  if (!plays_all()) all.resize(1);
  return all;
}

INSTANTIATE_TEST_SUITE_P(, zookeeper_link, testing::ValuesIn(link_cases()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace holdfast::zookeeper_test
