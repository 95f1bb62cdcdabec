// Makes one gtest case of each mutant and each test that must notice it. A mutant that no test
// notices, or that cannot be planted, fails by its name.
#include <gtest/gtest.h>

#include "tests/mutants/killer.hpp"

namespace holdfast::mutants {
namespace {

class a_mutant final : public ::testing::Test {
 public:
  a_mutant(const mutant& m, std::function<std::string(const mutant&)> survived)
      : mutant_(m), survived_(std::move(survived)) {}

  void TestBody() override {
    ASSERT_EQ(obstacle_to(mutant_), "");
    if (!survived_) {
#if !defined(HOLDFAST_WITH_MEMORY) || !defined(HOLDFAST_WITH_REDIS) || !defined(HOLDFAST_WITH_MYSQL)
      GTEST_SKIP() << "the test that notices it needs a backend that is not built";
#endif
      FAIL() << "no test would notice that this rule is broken: " << mutant_.rule;
    }
    EXPECT_EQ(survived_(mutant_), "") << "survived, though it breaks this rule: " << mutant_.rule;
  }

 private:
  const mutant& mutant_;
  const std::function<std::string(const mutant&)> survived_;
};

void add_case(const mutant& m, const std::string& name,
              const std::function<std::string(const mutant&)>& survived) {
  ::testing::RegisterTest("mutants", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&m, survived]() -> ::testing::Test* {
                            return new a_mutant(m, survived);
                          });
}

bool register_all() {
  for (const mutant& m : all_mutants()) {
    const std::vector<killer> killers = killers_of(m);
    for (const killer& k : killers) add_case(m, m.name + '/' + k.by, k.survived);
    if (killers.empty()) add_case(m, m.name, nullptr);
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace holdfast::mutants
