// Makes one gtest case of each behaviour x backend x mode, and of threads and processes where both
// apply: contract/exclusive.b07_a_stale_unlock_harms_nobody/threads_memory
#include <gtest/gtest.h>

#include "behaviour.hpp"

namespace contract {
namespace {

class contract_case final : public ::testing::Test {
 public:
  contract_case(const behaviour& what, const backend_under_test& backend, place where, mode as)
      : what_(what), backend_(backend), where_(where), mode_(as) {}

  void TestBody() override {
    const auto reason = not_applicable(what_, backend_);
    if (!reason.empty()) GTEST_SKIP() << "not applicable: " << reason;
    stage here(backend_, where_, mode_);
    what_.play(here);
  }

 private:
  const behaviour& what_;
  const backend_under_test& backend_;
  place where_;
  mode mode_;
};

void add(const behaviour& what, const backend_under_test& backend, place where, mode as) {
  const auto suite = "contract/" + std::string(word_of(as));
  const auto* others = where == place::threads ? "/threads_" : "/processes_";
  const auto name = case_name(what) + others + std::string(backend.name);
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&what, &backend, where, as]() -> ::testing::Test* {
                            return new contract_case(what, backend, where, as);
                          });
}

bool register_all() {
  for (const mode as : all_modes)
    for (const auto& what : all_behaviours())
      for (const auto& backend : backends_under_test())
        for (const place where : places(what, backend))
          if (what.modes.has(as)) add(what, backend, where, as);
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace contract
