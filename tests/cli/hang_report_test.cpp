#include "tests/cli/hang_report.hpp"

#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace holdfast::cli_test {
namespace {

TEST(a_hang_report, has_the_threads_and_descriptors_of_a_program_and_of_what_it_started) {
  // The inner one ends with the input of both.
  const process waits({"/bin/sh", "-c", "cat; true"});
  std::string report;
  EXPECT_TRUE(eventually([&] {
    report = hang_report(waits.pid());
    return report.find(" sh in ") != report.npos && report.find(" cat in ") != report.npos;
  })) << report;
  EXPECT_NE(report.find("descriptor 0 pipe:"), report.npos) << report;
}

}  // namespace
}  // namespace holdfast::cli_test
