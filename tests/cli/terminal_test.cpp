#include <signal.h>
#include <unistd.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class terminal : public cli {
 protected:
  static bool shows(const process& run, const std::string& text) {
    return eventually([&] { return run.out().find(text) != std::string::npos; });
  }
};

constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_z = "\x1a";

TEST_F(terminal, its_foreground_is_the_job_and_then_run_again) {
  // The outer shell outlives the run, so that the foreground can be seen afterwards.
  const std::string line = "\"$HOLDFAST_BIN\" run --url " + file_url() +
                           " x -- sh -c 'echo $$; read x'; echo over; sleep 1000";
  process shell({"/bin/sh", "-c", line}, {.on_terminal = true});
  const pid_t job = number_in(shell.line());
  EXPECT_TRUE(eventually([&] { return shell.foreground_group() == job; }));
  shell.type("\n");  // which only a foreground job can read
  EXPECT_TRUE(shows(shell, "over"));
  EXPECT_EQ(shell.foreground_group(), shell.pid());
}

TEST_F(terminal, ctrl_c_ends_the_job) {
  process run(on_file({}, sleeper()), {.on_terminal = true});
  const pid_t job = number_in(run.line());
  run.type(ctrl_c);
  EXPECT_EQ(run.wait(), (ending{128 + SIGINT, 0}));
  EXPECT_TRUE(has_ended(job));
}

TEST_F(terminal, ctrl_c_ends_the_script_around_run_too) {
  const std::string line = "trap 'echo heard; exit' INT; \"$HOLDFAST_BIN\" run --url " +
                           file_url() + " x -- sh -c 'echo $$; exec sleep 1000'; echo not reached";
  process script({"/bin/sh", "-c", line}, {.on_terminal = true});
  ASSERT_NE(script.line(), "");
  script.type(ctrl_c);
  EXPECT_NE(script.wait().code, -1);
  EXPECT_NE(script.out().find("heard"), std::string::npos) << script.out();
  EXPECT_EQ(script.out().find("not reached"), std::string::npos) << script.out();
}

TEST_F(terminal, ctrl_z_stops_both_and_the_foreground_returns_with_them) {
  process run(on_file({}, shell("echo $$; read x; echo got $x")), {.on_terminal = true});
  const pid_t job = number_in(run.line());
  ASSERT_TRUE(eventually([&] { return run.foreground_group() == job; }));
  run.type(ctrl_z);
  EXPECT_TRUE(eventually([&] { return state_of(job) == 'T' && state_of(run.pid()) == 'T'; }));
  EXPECT_EQ(run.foreground_group(), run.pid());
  run.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return run.foreground_group() == job; }));
  run.type("it\n");
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  EXPECT_NE(run.out().find("got it"), std::string::npos);
}

TEST_F(terminal, ctrl_z_under_a_shell_gives_the_shell_back) {
  process shell({"/bin/bash", "--norc", "-i"},
                {.environment = {{"PS1", "$ "}}, .on_terminal = true});
  const auto number = path("number");
  shell.type("\"$HOLDFAST_BIN\" run --url " + file_url() + " x -- sh -c 'echo $$ >" +
             number.string() + "; read x; echo got $x'\n");
  ASSERT_TRUE(eventually([&] { return file_text(number).ends_with('\n'); })) << shell.out();
  const pid_t job = number_in(file_text(number));
  ASSERT_TRUE(eventually([&] { return shell.foreground_group() == job; })) << shell.out();
  shell.type(ctrl_z);
  ASSERT_TRUE(eventually([&] { return shell.foreground_group() == shell.pid(); })) << shell.out();
  EXPECT_TRUE(shows(shell, "Stopped")) << shell.out();
  EXPECT_EQ(state_of(job), 'T');
  shell.type("fg\n");
  EXPECT_TRUE(eventually([&] { return shell.foreground_group() == job; })) << shell.out();
  shell.type("it\n");
  EXPECT_TRUE(shows(shell, "got it")) << shell.out();
  EXPECT_TRUE(eventually([&] { return shell.foreground_group() == shell.pid(); }));
  shell.type("exit 0\n");
  EXPECT_EQ(shell.wait(), (ending{0, 0}));
}

TEST_F(terminal, in_a_pipeline_the_job_has_it_only_while_it_reads) {
  const auto number = path("number");
  const std::string line = "\"$HOLDFAST_BIN\" run --url " + file_url() + " x -- sh -c 'echo $$ >" +
                           number.string() + "; echo ready; read x; echo got $x' | cat";
  process shell({"/bin/sh", "-c", line}, {.on_terminal = true});
  ASSERT_TRUE(shows(shell, "ready"));
  const pid_t job = number_in(file_text(number));
  EXPECT_TRUE(eventually([&] { return shell.foreground_group() == job; }));
  shell.type("it\n");
  EXPECT_EQ(shell.wait(), (ending{0, 0}));
  EXPECT_NE(shell.out().find("got it"), std::string::npos);
}

TEST_F(terminal, in_a_pipeline_the_others_keep_it_until_the_job_reads_it) {
  const std::string line =
      "\"$HOLDFAST_BIN\" run --url " + file_url() + " x -- sh -c 'echo $$; exec sleep 1000' | cat";
  process shell({"/bin/sh", "-c", line}, {.on_terminal = true});
  const pid_t job = number_in(shell.line());
  EXPECT_EQ(shell.foreground_group(), shell.pid());
  shell.type(ctrl_c);
  EXPECT_TRUE(eventually([&] { return has_ended(job); }));
}

TEST_F(terminal, shows_the_holder_while_a_run_waits) {
  process holder(on_file({"--note", "the backup"}, sleeper()));
  const pid_t job = number_in(holder.line());
  process second(on_file({}, {"true"}), {.on_terminal = true});
  EXPECT_TRUE(shows(second, "lock is held by pid " + std::to_string(holder.pid()))) << second.out();
  EXPECT_TRUE(shows(second, " s (note: the backup)")) << second.out();
  const auto first = second.out().size();
  EXPECT_TRUE(eventually([&] {
    return second.out().find("is held by", first) != std::string::npos;
  })) << "not refreshed: "
      << second.out();
  ::kill(job, SIGKILL);
  EXPECT_EQ(second.wait(), (ending{0, 0}));
  const std::string all = second.out(), cleared = "\r\033[K";
  EXPECT_EQ(all.substr(all.size() - cleared.size()), cleared) << "the line is left";
  EXPECT_EQ(all.find('\n'), all.rfind('\n')) << "more than where it waits, and who holds it";
}

TEST_F(terminal, ctrl_c_ends_a_wait_and_clears_its_line) {
  process holder(on_file({}, sleeper()));
  holder.line();
  process second(on_file({}, {"true"}), {.on_terminal = true});
  ASSERT_TRUE(shows(second, "is held by"));
  second.type(ctrl_c);
  EXPECT_EQ(second.wait(), (ending{128 + SIGINT, 0}));
}

}  // namespace
}  // namespace holdfast::cli_test
