// Makes one gtest case of each behaviour x backend x mode, and of threads and processes where both
// apply: contract/exclusive.b07_a_stale_unlock_harms_nobody/threads_memory
#include <gtest/gtest.h>

#include "behaviour.hpp"

namespace contract {
namespace {

class contract_case final : public ::testing::Test {
 public:
  contract_case(const behaviour& what, const backend_under_test& backend, place where)
      : what_(what), backend_(backend), where_(where) {}

  void TestBody() override {
    const auto reason = not_applicable(what_, backend_);
    if (!reason.empty()) GTEST_SKIP() << "not applicable: " << reason;
    stage here(backend_, where_);
    what_.play(here);
  }

 private:
  const behaviour& what_;
  const backend_under_test& backend_;
  place where_;
};

bool register_all() {
  for (const auto& what : exclusive_behaviours()) {
    for (const auto& backend : backends_under_test()) {
      for (const place where : places(what, backend)) {
        const auto* others = where == place::threads ? "/threads_" : "/processes_";
        const auto name = case_name(what) + others + std::string(backend.name);
        ::testing::RegisterTest("contract/exclusive", name.c_str(), nullptr, nullptr, __FILE__,
                                __LINE__, [&what, &backend, where]() -> ::testing::Test* {
                                  return new contract_case(what, backend, where);
                                });
      }
    }
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace contract
