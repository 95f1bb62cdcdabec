#include <signal.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class file_job : public cli {};

TEST_F(file_job, keeps_the_lock_when_its_run_is_killed) {
  process run(on_file({}, sleeper()));
  const pid_t job = number_in(run.line());
  run.signal(SIGKILL);
  run.wait();
  process other(on_file({"-n"}, {"true"}));
  EXPECT_EQ(other.wait(), (ending{1, 0}));
  EXPECT_FALSE(has_ended(job));
  ::kill(job, SIGKILL);
  process next(on_file({"-w", "60"}, {"true"}));
  EXPECT_EQ(next.wait(), (ending{0, 0}));
}

TEST_F(file_job, does_not_keep_the_lock_with_close) {
  process run(on_file({"--close"}, sleeper()));
  const pid_t job = number_in(run.line());
  run.signal(SIGKILL);
  run.wait();
  process other(on_file({"-n"}, {"true"}));
  EXPECT_EQ(other.wait(), (ending{0, 0}));
  EXPECT_FALSE(has_ended(job));
}

TEST_F(file_job, keeps_the_lock_by_what_it_left_running) {
  process run(on_file({}, shell("sleep 1000 & echo $!")));
  const pid_t left = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  process other(on_file({"-n"}, {"true"}));
  EXPECT_EQ(other.wait(), (ending{1, 0}));
  ::kill(left, SIGKILL);
  process next(on_file({"-w", "60"}, {"true"}));
  EXPECT_EQ(next.wait(), (ending{0, 0}));
}

TEST_F(file_job, leaves_nothing_with_close) {
  process run(on_file({"--close"}, shell("sleep 1000 & echo $!")));
  run.line();
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  process other(on_file({"-n"}, {"true"}));
  EXPECT_EQ(other.wait(), (ending{0, 0}));
}

}  // namespace
}  // namespace holdfast::cli_test
