#include "run.hpp"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "history/history.hpp"

namespace stress {

using holdfast::history::check_options;
using holdfast::history::record;

namespace {

std::filesystem::path folder_to_keep_in() {
  if (const char* const given = ::getenv("HOLDFAST_TEST_KEEP")) return given;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string name_of_test() {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return test ? std::string(test->test_suite_name()) + "." + test->name() : "no-test";
}

}  // namespace

std::uint64_t seed_of_run() {
  const char* const given = ::getenv("HOLDFAST_STRESS_SEED");
  return given ? ::strtoull(given, nullptr, 10) : std::random_device{}();
}

std::string keep_history(std::vector<record> history, std::uint64_t seed) {
  const auto folder = folder_to_keep_in();
  std::filesystem::create_directories(folder);
  const auto path = folder / (name_of_test() + "." + std::to_string(seed) + ".history");
  std::filesystem::remove(path);
  std::ranges::stable_sort(history, {}, &record::call);
  holdfast::history::history_writer to(path);
  for (const auto& r : history) to.add(r);
  return path;
}

void expect_sound(std::vector<record> history, const check_options& options, std::uint64_t seed) {
  testing::Test::RecordProperty("records", static_cast<int>(history.size()));
  EXPECT_EQ(to_text(check(history, options)), "") << "HOLDFAST_STRESS_SEED=" << seed;
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "its history is kept in " << keep_history(std::move(history), seed);
}

}  // namespace stress
