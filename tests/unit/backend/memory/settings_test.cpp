#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>

#include "backend/memory/backend.hpp"
#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/seam/documented_options.hpp"

namespace holdfast::memory {
namespace {

auto values_of_memory(const std::string& text) {
  const settings s = settings_unit::settings_of(read_settings, text);
  return std::tuple(s.runs_out, s.stop_after, s.faults.latency, s.faults.lose_requests,
                    s.faults.lose_replies, s.faults.random_state);
}

TEST(memory_settings, docs_options_has_the_defaults) {
  const auto rows = settings_unit::documented_defaults("memory:");
  EXPECT_EQ(rows.size(), 5u);
  for (const auto& [option, value] : rows)
    EXPECT_TRUE(values_of_memory("memory:?" + option + "=" + value) == values_of_memory("memory:"))
        << option;
}

TEST(memory_settings, of_options) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(
      values_of_memory("memory:?lifetime=process&stop-after=2s&latency=3ms&"
                       "lose-requests=0.25&lose-replies=0.5&seed=7") ==
      std::tuple(false, base::duration(2s), base::duration(3ms), 0.25, 0.5, std::uint64_t{7}));
}

}  // namespace
}  // namespace holdfast::memory
