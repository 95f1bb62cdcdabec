#include <signal.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class deadline : public cli {};

TEST_F(deadline, loss_ends_the_job_and_exits_75) {
  process run(on_memory(lost_soon, {}, sleeper()));
  const pid_t job = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
  EXPECT_EQ(run.err().find("holdfast: lock "), 0u) << run.err();
}

TEST_F(deadline, loss_sends_SIGTERM_first_and_kills_what_does_not_end) {
  const auto file = path("asked");
  const auto script = "trap 'echo asked >" + file.string() +
                      "' TERM; sleep 1000 & echo $$; echo $!; while :; do sleep 0.01; done";
  process run(on_memory(lost_soon, {}, shell(script)));
  const pid_t job = number_in(run.line()), inner = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
  EXPECT_TRUE(eventually([&] { return has_ended(inner); }));
  EXPECT_EQ(file_text(file), "asked\n");
}

TEST_F(deadline, a_job_that_ends_well_at_SIGTERM_still_exits_75) {
  process run(on_memory(lost_soon, {}, shell("trap 'exit 0' TERM; while :; do sleep 0.01; done")));
  EXPECT_EQ(run.wait(), (ending{75, 0}));
}

TEST_F(deadline, without_renewal_the_ttl_ends_the_job) {
  process run(on_memory("", {"--ttl", "4s", "--no-renew"}, sleeper()));
  const pid_t job = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
}

TEST_F(deadline, a_renewed_lease_outlives_its_ttl) {
  const auto script =
      "while now=$(date -u +%FT%T.%3NZ); expr $now '<' $HOLDFAST_EXPIRES >$0; do sleep 0.05; done;"
      "echo done";
  process run(on_memory("", {"--ttl", "6s"}, {"sh", "-c", script, "/dev/null"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(run.out(), "done\n");
}

TEST_F(deadline, the_guardian_ends_the_job_of_a_killed_run) {
  process run(on_memory("?ttl=1h", {"--grace", "100ms"}, sleeper()));
  const pid_t job = number_in(run.line());
  run.signal(SIGKILL);
  EXPECT_EQ(run.wait(), (ending{-1, SIGKILL}));
  EXPECT_TRUE(eventually([&] { return has_ended(job); }));
  EXPECT_NE(run.err().find("was killed"), std::string::npos) << run.err();
}

TEST_F(deadline, the_guardian_kills_what_does_not_end_at_SIGTERM) {
  process run(on_memory("?ttl=1h", {"--grace", "100ms"},
                        shell("trap '' TERM; echo $$; while :; do sleep 0.01; done")));
  const pid_t job = number_in(run.line());
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return has_ended(job); }));
}

TEST_F(deadline, the_guardian_ends_the_job_of_a_stopped_run) {
  process run(on_memory("?ttl=4s", {}, sleeper()));
  const pid_t job = number_in(run.line());
  run.signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return has_ended(job); }));
  EXPECT_EQ(state_of(run.pid()), 'T');
  run.signal(SIGCONT);
  EXPECT_EQ(run.wait(), (ending{75, 0}));
}

TEST_F(deadline, a_stopped_job_is_ended_too) {
  process run(on_memory("?ttl=4s", {}, sleeper()));
  const pid_t job = number_in(run.line());
  run.signal(SIGTSTP);
  EXPECT_TRUE(eventually([&] { return has_ended(job); }));
}

TEST_F(deadline, nothing_is_left_after_a_run) {
  process run(on_memory("", {}, {"true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  const std::string self = std::to_string(::getpid());
  EXPECT_EQ(file_text("/proc/self/task/" + self + "/children"), "");
}

}  // namespace
}  // namespace holdfast::cli_test
