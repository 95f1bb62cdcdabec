// Processes of a job that left its group, orphans, and the guardian.
#include <signal.h>

#include <sstream>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

// A process in a session of its own that prints its number and ignores being asked to end.
const std::string stubborn = "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.01; done'";

class whole_job : public cli {
 protected:
  static pid_t guardian_of(pid_t run) {
    pid_t found = 0;
    eventually([&] {
      const std::string id = std::to_string(run);
      std::istringstream children(file_text("/proc/" + id + "/task/" + id + "/children"));
      for (pid_t child = 0; children >> child;)
        if (file_text("/proc/" + std::to_string(child) + "/cmdline").find(":guardian") !=
                std::string::npos &&
            !has_ended(child))
          found = child;
      return found != 0;
    });
    return found;
  }
  static bool has_said(const process& run, const std::string& text) {
    return eventually([&] { return run.err().find(text) != std::string::npos; });
  }
};

TEST_F(whole_job, ends_with_a_loss_though_a_part_called_setsid) {
  process run(on_memory(lost_soon, {}, shell(stubborn + " & wait")));
  const pid_t inner = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(inner));
}

TEST_F(whole_job, ends_with_a_loss_though_a_part_became_a_daemon) {
  process run(on_memory(lost_soon, {}, shell("(" + stubborn + " &); exec sleep 1000")));
  const pid_t inner = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(inner));
}

TEST_F(whole_job, ends_with_a_killed_run_though_a_part_called_setsid) {
  process run(on_memory("?ttl=1h", {"--grace", "100ms"}, shell(stubborn + " & wait")));
  const pid_t inner = number_in(run.line());
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return has_ended(inner); }));
}

TEST_F(whole_job, ends_without_what_the_caller_had_started) {
  const words run_words = on_memory(lost_soon, {}, {"sleep", "1000"});
  std::string script = "sleep 1000 & echo $!; sleep 0.1; exec";
  for (const auto& word : run_words) script += " '" + word + "'";
  process run({"/bin/sh", "-c", script});
  const pid_t before = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_FALSE(has_ended(before));
}

TEST_F(whole_job, outlives_its_run_when_nothing_was_lost) {
  process run(on_memory("", {}, shell("setsid sleep 1000 & echo $!")));
  const pid_t inner = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  EXPECT_FALSE(has_ended(inner));
}

TEST_F(whole_job, leaves_no_zombies_while_it_runs) {
  const std::string file = path("number");
  process run(on_memory("", {}, shell("(sh -c 'echo $$ >" + file + "' &); echo in; read x")));
  run.line();
  ASSERT_TRUE(eventually([&] { return file_text(file).ends_with('\n'); }));
  const pid_t orphan = number_in(file_text(file));
  EXPECT_TRUE(eventually([&] { return state_of(orphan) == '\0'; }));
  run.type("\n");
  EXPECT_EQ(run.wait(), (ending{0, 0}));
}

TEST_F(whole_job, leaves_no_zombies_when_run_is_the_first_process) {
  const std::string file = path("number");
  words line{"/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
  process probe([&] {
    words all = line;
    all.push_back("true");
    return all;
  }());
  if (probe.wait() != (ending{0, 0})) GTEST_SKIP() << "no namespaces here: " << probe.err();
  for (const auto& word :
       on_file({}, shell("echo $PPID; (sh -c 'echo $$ >" + file + "' &); until [ -s " + file +
                         " ]; do :; done; while [ -e /proc/$(cat " + file +
                         ") ]; do :; done; echo gone")))
    line.push_back(word);
  process run(line);
  EXPECT_EQ(run.line(), "1");
  EXPECT_EQ(run.line(), "gone");
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
}

TEST_F(whole_job, gets_another_guardian_for_one_that_was_killed) {
  process run(on_memory("?ttl=1h", {"--grace", "100ms"}, sleeper()));
  const pid_t job = number_in(run.line()), guardian = guardian_of(run.pid());
  ::kill(guardian, SIGKILL);
  ASSERT_TRUE(has_said(run, "was killed and is replaced"));
  EXPECT_NE(guardian_of(run.pid()), guardian);
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return has_ended(job); }));
}

TEST_F(whole_job, ends_when_its_guardians_are_killed_again_and_again) {
  process run(on_memory("?ttl=1h", {"--grace", "100ms"}, sleeper()));
  const pid_t job = number_in(run.line());
  for (int i = 0; i < 4; ++i) {
    const pid_t guardian = guardian_of(run.pid());
    ASSERT_NE(guardian, 0);
    ::kill(guardian, SIGKILL);
    ASSERT_TRUE(eventually([&] { return state_of(guardian) == '\0'; }));
  }
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
}

}  // namespace
}  // namespace holdfast::cli_test
