#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

#include "backend/file/backend.hpp"
#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/seam/documented_options.hpp"

namespace holdfast::file {
namespace {

auto values_of_file(const std::string& text) {
  const directory_options o = settings_unit::settings_of(read_settings, text);
  return std::tuple(o.network, o.unlink, o.group);
}

// The default of unlink depends on the directory, and the page describes it in words.
TEST(file_settings, docs_options_has_the_defaults) {
  const auto rows = settings_unit::documented_defaults("file:");
  EXPECT_EQ(rows.size(), 1u);
  for (const auto& [option, value] : rows)
    EXPECT_TRUE(values_of_file("file:///locks?" + option + "=" + value) ==
                values_of_file("file:///locks"))
        << option;
}

TEST(file_settings, of_options) {
  EXPECT_TRUE(values_of_file("file:///locks?unlink=1&group=staff") ==
              std::tuple(false, std::optional<bool>(true), std::string("staff")));
  EXPECT_TRUE(values_of_file("file:///locks?network=1") ==
              std::tuple(true, std::optional<bool>(), std::string()));
}

}  // namespace
}  // namespace holdfast::file
