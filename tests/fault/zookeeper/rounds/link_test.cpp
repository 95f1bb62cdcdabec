// The link between a leader and a follower fails while a rival waits.
#include <ostream>

#include "link_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

using base::mutant;

class zookeeper_link_rounds : public on_zookeeper {};

TEST_F(zookeeper_link_rounds, a_holder_knows_before_its_rival_holds) {
  link_fixture fixture({.tick = 250ms, .config = {"syncLimit=20"}});
  link_result frozen, cut;
  const int rounds = rounds_or(5);
  for (int i = 0; i < rounds && !HasFatalFailure(); ++i)
    i % 2 == 0 ? fixture.play({link_fault::follower_frozen, 1'000ms}, frozen)
               : fixture.play({link_fault::follower_cut, 1'000ms, "", i % 4 == 1}, cut);
  frozen.print("link frozen");
  cut.print("link cut");
  EXPECT_EQ(frozen.overlaps + cut.overlaps, 0);
}

struct link_case {
  const char* name;
  mutant planted;  // none: nobody holds twice. Else it is played until somebody does
  link_round_terms terms;
  std::chrono::milliseconds tick;
  const char* sync_limit;
};

void PrintTo(const link_case& c, std::ostream* out) { *out << c.name; }

class zookeeper_link : public on_zookeeper, public testing::WithParamInterface<link_case> {};

TEST_P(zookeeper_link, fails_and_nobody_holds_twice_unless_a_rule_is_broken) {
  constexpr int most_rounds = 40, part_of_rounds = 10;
  const link_case& c = GetParam();
  link_fixture fixture({.tick = c.tick, .config = {c.sync_limit}});
  link_result r;
  const bool is_control = c.planted != mutant::none;
  const planted_mutant control(c.planted);
  const int rounds = is_control ? most_rounds : rounds_or(0) / part_of_rounds;
  for (int i = 0; i < rounds && r.overlaps == 0 && !HasFatalFailure(); ++i)
    fixture.play(c.terms, r);
  r.print(c.name);
  EXPECT_EQ(r.overlaps > 0, is_control);
}

// Each control with the same fault without a mutant.
std::vector<link_case> link_cases() {
  using enum link_fault;
  const char *const patient = "syncLimit=20", *const usual = "syncLimit=5";
  constexpr auto timeout = 2'000ms;
  const link_round_terms frozen{follower_frozen, timeout},
      unreported{report_lost, timeout, "", true}, forgotten{leader_forgotten, timeout};
  std::vector<link_case> all =
      {{"pings_believed", mutant::deadline_by_any_reply, frozen, 500ms, patient},
       {"writes_at_a_follower_believed", mutant::write_at_follower_renews, unreported, 1s, patient},
       {"report_lost", mutant::none, unreported, 1s, patient},
       {"attaching_believed", mutant::attachment_alone_renews, forgotten, 500ms, patient},
       {"leader_forgotten", mutant::none, forgotten, 500ms, patient},
       {"isolated_leader", mutant::none, {leader_isolated, timeout}, 500ms, usual},
       {"isolated_leader_attached_to",
        mutant::none,
        {leader_isolated, timeout, "&attach=leader"},
        500ms,
        usual}};
  if (!plays_all()) all.resize(1);
  return all;
}

INSTANTIATE_TEST_SUITE_P(, zookeeper_link, testing::ValuesIn(link_cases()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace holdfast::zookeeper_test
