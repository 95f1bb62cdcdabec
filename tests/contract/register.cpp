// Makes one gtest case of each behaviour x subject x mode, and of threads and processes where both
// apply: contract/exclusive.b07_a_stale_unlock_harms_nobody/threads_memory
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "behaviour.hpp"

namespace contract {
namespace {

class contract_case final : public ::testing::Test {
 public:
  contract_case(const behaviour& what, const subject_under_test& on, place where, mode as)
      : behaviour_(what), on_(on), where_(where), mode_(as) {}

  void TestBody() override {
    const auto obstacle = not_applicable(behaviour_, on_);
    if (!obstacle.empty()) GTEST_SKIP() << "not applicable: " << obstacle;
    const std::string_view missing = on_.is_missing ? on_.is_missing() : std::string_view();
    if (!missing.empty()) GTEST_SKIP() << missing;
    const expected_failure* const expected = failure_expected_of(behaviour_, mode_, on_);
    if (!expected) return play();
    std::string failure;
    for (int plays = 0; failure.empty() && plays < expected->plays_max; ++plays)
      failure = failure_in([this] { play(); });
    EXPECT_NE(failure, "") << "passes, though it is expected to fail: " << expected->reason
                           << "; take it off the list of " << on_.name << " in subject.cpp";
    RecordProperty("expected_failure", std::string(expected->reason));
  }

 private:
  void play() {
    fixture here(on_, where_, mode_);
    behaviour_.play(here);
  }

  const behaviour& behaviour_;
  const subject_under_test& on_;
  place where_;
  mode mode_;
};

// Which cases --gtest_filter asks for. ctest plays each case in a process of its own, which would
// spend more time on registering all four thousand than on playing the one.
class asked_for {
 public:
  explicit asked_for(std::string_view filter)
      : filter_(filter), is_list_(filter.find_first_of("*?-") == std::string_view::npos) {}

  // False if no case has this in its name.
  bool may_have(std::string_view part) const {
    return !is_list_ || filter_.find(part) != std::string_view::npos;
  }

 private:
  std::string_view filter_;
  bool is_list_;  // of whole names
};

void add(const behaviour& what, const subject_under_test& on, place where, mode as,
         const asked_for& asked) {
  const auto suite = "contract/" + std::string(word_of(as));
  const auto* others = where == place::threads ? "/threads_" : "/processes_";
  const auto name = case_name(what) + others + std::string(on.name);
  if (!asked.may_have(name)) return;
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&what, &on, where, as]() -> ::testing::Test* {
                            return new contract_case(what, on, where, as);
                          });
}

// Sanitizers watch one process: where a behaviour is played in threads, to play it in processes
// too shows them nothing more.
void add_cases(const asked_for& asked) {
  const bool threads_suffice = std::getenv("HOLDFAST_CONTRACT_THREADS_SUFFICE") != nullptr;
  for (const mode as : all_modes)
    for (const auto& what : all_behaviours()) {
      if (!what.modes.has(as) || !asked.may_have(case_name(what))) continue;
      for (const auto& on : subjects_under_test()) {
        if (!on.modes.has(as)) continue;
        auto all = places(what, on);
        if (threads_suffice && all.front() == place::threads) all.resize(1);
        for (const place where : all) add(what, on, where, as, asked);
      }
    }
}

}  // namespace
}  // namespace contract

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  contract::add_cases(contract::asked_for(GTEST_FLAG_GET(filter)));
  return RUN_ALL_TESTS();
}
