// docs/options.md has the default of each option that every store has.
#include <gtest/gtest.h>
#include <holdfast/url.hpp>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "seam/capabilities.hpp"
#include "seam/client_options.hpp"
#include "tests/unit/seam/documented_options.hpp"

namespace holdfast {
namespace {

auto values_of(const seam::client_options& o) {
  return std::tuple(o.ttl, o.renew, o.grace, o.clock_skew, o.connect_timeout, o.op_timeout,
                    o.close_timeout, o.outage_timeout, o.turns.value_or(seam::capabilities().turns),
                    o.turn_time, o.linger, o.admit_after_loss, o.metrics, o.recorder, o.strict);
}

TEST(options_page, has_the_default_of_each_option_of_every_store) {
  const auto rows = settings_unit::documented_defaults("Every store");
  EXPECT_EQ(rows.size(), std::tuple_size_v<decltype(values_of(seam::client_options()))>);
  for (const auto& [option, value] : rows) {
    std::vector<url::option> rest;
    const auto read =
        seam::read_client_options(url::parse("memory:?" + option + "=" + value), rest);
    EXPECT_TRUE(rest.empty()) << option;
    EXPECT_TRUE(values_of(read) == values_of(seam::client_options())) << option << '=' << value;
  }
}

// The settings tests of the backends compare the other sections.
TEST(options_page, has_defaults_in_sections_that_a_test_compares) {
  const std::set<std::string> compared = {"Every store", "file:",    "memory:",   "mysql:",
                                          "redis:",      "redlock:", "zookeeper:"};
  EXPECT_EQ(settings_unit::sections_with_defaults(), compared);
}

}  // namespace
}  // namespace holdfast
