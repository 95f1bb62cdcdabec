// Makes one gtest case of each behaviour x subject x mode, and of threads and processes where both
// apply: contract/exclusive.b07_a_stale_unlock_harms_nobody/threads_memory
#include <gtest/gtest.h>

#include "behaviour.hpp"

namespace contract {
namespace {

class contract_case final : public ::testing::Test {
 public:
  contract_case(const behaviour& what, const subject_under_test& on, place where, mode as)
      : what_(what), on_(on), where_(where), mode_(as) {}

  void TestBody() override {
    const auto obstacle = not_applicable(what_, on_);
    if (!obstacle.empty()) GTEST_SKIP() << "not applicable: " << obstacle;
    const std::string_view missing = on_.is_missing ? on_.is_missing() : std::string_view();
    if (!missing.empty()) GTEST_SKIP() << missing;
    const std::string_view reason = reason_to_fail(what_, mode_, on_);
    if (reason.empty()) return play();
    const std::string failure = failure_in([this] { play(); });
    EXPECT_NE(failure, "") << "passes, though it is expected to fail: " << reason
                           << "; take it off the list of " << on_.name << " in subject.cpp";
    RecordProperty("expected_failure", std::string(reason));
  }

 private:
  void play() {
    stage here(on_, where_, mode_);
    what_.play(here);
  }

  const behaviour& what_;
  const subject_under_test& on_;
  place where_;
  mode mode_;
};

void add(const behaviour& what, const subject_under_test& on, place where, mode as) {
  const auto suite = "contract/" + std::string(word_of(as));
  const auto* others = where == place::threads ? "/threads_" : "/processes_";
  const auto name = case_name(what) + others + std::string(on.name);
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&what, &on, where, as]() -> ::testing::Test* {
                            return new contract_case(what, on, where, as);
                          });
}

bool register_all() {
  for (const mode as : all_modes)
    for (const auto& what : all_behaviours())
      for (const auto& on : subjects_under_test())
        for (const place where : places(what, on))
          if (what.modes.has(as) && on.modes.has(as)) add(what, on, where, as);
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace contract
