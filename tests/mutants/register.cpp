// Makes one gtest case of each line of mutants.def. A mutant without a scenario fails.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "scenario.hpp"

namespace holdfast::mutants {
namespace {

struct line {
  core::mutant which;
  const char* name;
  const char* rule;
};

constexpr line lines[] = {
#define HOLDFAST_MUTANT(name, rule) {core::mutant::name, #name, rule},
#define HOLDFAST_SIM_MUTANT(name, rule)
#include "base/mutants.def"
#undef HOLDFAST_MUTANT
};

const scenario* scenario_of(core::mutant which) {
  for (const auto scenarios :
       {lease_scenarios, message_scenarios, owner_scenarios, cohort_scenarios, crowd_scenarios,
        token_scenarios, fork_scenarios, file_scenarios, thread_scenarios, line_scenarios})
    for (const auto& one : scenarios())
      if (one.breaks == which) return &one;
  return nullptr;
}

class a_mutant final : public ::testing::Test {
 public:
  a_mutant(const line& l, const scenario* s) : line_(l), scenario_(s) {}
  ~a_mutant() override { core::plant(core::mutant::none); }

  void TestBody() override {
#if !defined(HOLDFAST_WITH_MEMORY) || !defined(HOLDFAST_WITH_REDIS)
    if (scenario_ == nullptr) GTEST_SKIP() << "its scenario needs a backend that is not built";
#endif
    ASSERT_NE(scenario_, nullptr) << "nothing would notice that this rule is broken: "
                                  << line_.rule;
    core::plant(core::mutant::none);
    EXPECT_EQ(scenario_->play(), "") << "with no fault planted";
    core::plant(line_.which);
    const auto noticed = scenario_->play();
    EXPECT_NE(noticed, "") << "survived, though it breaks this rule: " << line_.rule;
    if (!noticed.empty()) RecordProperty("noticed", noticed);
  }

 private:
  const line& line_;
  const scenario* scenario_;
};

bool register_all() {
  for (const auto& one : lines) {
    const auto* scenario = scenario_of(one.which);
    const auto name =
        std::string(one.name) + (scenario ? "/" : "") + (scenario ? scenario->backend : "");
    ::testing::RegisterTest("mutants", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&one, scenario]() -> ::testing::Test* {
                              return new a_mutant(one, scenario);
                            });
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace holdfast::mutants
