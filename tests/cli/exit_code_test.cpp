#include <signal.h>

#include <fstream>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class exit_code : public cli {};

TEST_F(exit_code, is_that_of_the_command) {
  process run(on_file({}, shell("exit 37")));
  EXPECT_EQ(run.wait(), (ending{37, 0}));
  EXPECT_EQ(run.err(), "");
}

TEST_F(exit_code, is_128_and_the_signal_that_ended_the_command) {
  process run(on_file({}, shell("kill -KILL $$")));
  EXPECT_EQ(run.wait(), (ending{128 + SIGKILL, 0}));
}

TEST_F(exit_code, is_127_for_a_command_that_there_is_not) {
  process run(on_file({}, {"no-such-command-anywhere"}));
  EXPECT_EQ(run.wait(), (ending{127, 0}));
  EXPECT_NE(run.err().find("holdfast: cannot run 'no-such-command-anywhere'"), std::string::npos);
}

TEST_F(exit_code, is_126_for_a_file_that_is_no_program) {
  const auto file = path("text");
  std::ofstream(file) << "no program\n";
  process run(on_file({}, {file.string()}));
  EXPECT_EQ(run.wait(), (ending{126, 0}));
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  process as_text(on_file({}, {file.string()}));
  EXPECT_EQ(as_text.wait(), (ending{126, 0}));  // a shell would try to run it
}

TEST_F(exit_code, of_a_command_that_cannot_run_is_the_same_on_a_server) {
  process missing(on_memory("", {}, {"no-such-command-anywhere"}));
  EXPECT_EQ(missing.wait(), (ending{127, 0}));
  process folder(on_memory("", {}, {"/"}));
  EXPECT_EQ(folder.wait(), (ending{126, 0}));
  process fine(on_memory("", {}, shell("exit 5")));
  EXPECT_EQ(fine.wait(), (ending{5, 0}));
}

TEST_F(exit_code, is_69_when_the_locks_cannot_be_reached) {
  process run(holdfast({"run", "--url", "file:///proc/nowhere", "x", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{69, 0}));
  EXPECT_EQ(run.err().find("holdfast: "), 0u);
}

TEST_F(exit_code, a_directory_that_was_not_there_is_reported) {
  const std::string typo = path("lokcs");
  for (const bool first : {true, false}) {
    process run(holdfast({"run", "--url", "file://" + typo, "x", "--", "true"}));
    EXPECT_EQ(run.wait(), (ending{0, 0}));
    EXPECT_EQ(run.err().find("the lock directory " + typo + " did not exist") != std::string::npos,
              first)
        << run.err();
  }
}

TEST_F(exit_code, comes_and_names_the_limit_when_there_are_few_descriptors) {
  process holder(on_file({}, sleeper()));
  holder.line();
  for (int limit = 4; limit < 14; ++limit) {
    for (const std::string& url : {file_url(), std::string("memory:")}) {
      const std::string program = url == "memory:" ? "HOLDFAST_BIN_OVER_MEMORY" : "HOLDFAST_BIN";
      const std::string script = "ulimit -n " + std::to_string(limit) + "; exec \"$" + program +
                                 "\" run -w 10ms --url '" + url + "' lock -- true";
      process run({"/bin/sh", "-c", script});
      EXPECT_NE(run.wait(), (ending{-1, 0})) << limit << " " << url;
      EXPECT_EQ(run.err().find("ulimit -u"), std::string::npos) << limit << run.err();
    }
  }
}

TEST_F(exit_code, the_lock_is_free_after_a_command_that_cannot_run) {
  process missing(on_file({}, {"no-such-command-anywhere"}));
  EXPECT_EQ(missing.wait(), (ending{127, 0}));
  process next(on_file({"-n"}, {"true"}));
  EXPECT_EQ(next.wait(), (ending{0, 0}));
}

TEST_F(exit_code, no_shell_reads_the_command) {
  process run(on_file({}, {"printf", "%s|", "$HOME", "a;b", "*"}));
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  EXPECT_EQ(run.out(), "$HOME|a;b|*|");
}

}  // namespace
}  // namespace holdfast::cli_test
