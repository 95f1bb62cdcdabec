#include <signal.h>
#include <unistd.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class signals : public cli {};

TEST_F(signals, to_run_reach_the_whole_group_of_the_job) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU}) {
    process run(on_file({}, shell("ulimit -c 0; sleep 1000 & echo $!; wait; wait")));
    const pid_t inner = number_in(run.line());
    run.signal(signal);
    EXPECT_EQ(run.wait(), (ending{128 + signal, 0}));
    // A shell lets its background commands ignore INT and QUIT.
    if (signal == SIGTERM || signal == SIGHUP) {
      EXPECT_TRUE(eventually([&] { return has_ended(inner); }));
    }
    ::kill(inner, SIGKILL);
  }
}

TEST_F(signals, leave_the_code_to_the_job) {
  const auto script = "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done";
  process run(on_file({}, shell(script)));
  run.line();
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), (ending{3, 0}));
}

TEST_F(signals, the_job_has_a_group_of_its_own) {
  process run(on_file({}, sleeper()));
  const pid_t job = number_in(run.line());
  EXPECT_EQ(::getpgid(job), job);
  EXPECT_NE(::getpgid(run.pid()), job);
}

class stopping : public cli, public ::testing::WithParamInterface<const char*> {
 protected:
  words line() const {
    return GetParam() == std::string("file") ? on_file({}, sleeper())
                                             : on_memory("", {}, sleeper());
  }
};

TEST_P(stopping, run_stops_the_job_and_itself_and_continues_both) {
  process run(line());
  const pid_t job = number_in(run.line());
  run.signal(SIGTSTP);
  EXPECT_TRUE(eventually([&] { return state_of(job) == 'T'; }));
  EXPECT_TRUE(eventually([&] { return state_of(run.pid()) == 'T'; }));
  run.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return state_of(job) == 'S'; }));
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), (ending{128 + SIGTERM, 0}));
}

TEST_P(stopping, the_job_stops_run) {
  process run(line());
  const pid_t job = number_in(run.line());
  ::kill(job, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return state_of(run.pid()) == 'T'; }));
  run.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return state_of(job) == 'S'; }));
}

INSTANTIATE_TEST_SUITE_P(on, stopping, ::testing::Values("file", "memory"),
                         [](const auto& on) { return std::string(on.param); });

}  // namespace
}  // namespace holdfast::cli_test
