#include <signal.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class contention : public cli {
 protected:
  static bool waits(const process& run) {
    return eventually([&] { return threads_of(run.pid()) > 1; });
  }
};

TEST_F(contention, busy_exits_1_and_names_the_holder) {
  process holder(on_file({"--note", "nightly backup"}, sleeper()));
  holder.line();
  process second(on_file({"-n"}, {"true"}));
  EXPECT_EQ(second.wait(), (ending{1, 0}));
  const std::string says = "holdfast: lock is held by pid " + std::to_string(holder.pid());
  EXPECT_EQ(second.err().find(says), 0u) << second.err();
  EXPECT_NE(second.err().find("(note: nightly backup)"), std::string::npos) << second.err();
}

TEST_F(contention, busy_exits_with_the_requested_code) {
  process holder(on_file({}, sleeper()));
  holder.line();
  process zero(on_file({"-n", "-E", "0"}, {"false"}));
  EXPECT_EQ(zero.wait(), (ending{0, 0}));
  process most(on_file({"--nonblock", "--conflict-exit-code=255"}, {"true"}));
  EXPECT_EQ(most.wait(), (ending{255, 0}));
}

TEST_F(contention, a_wait_that_runs_out_is_busy) {
  process holder(on_file({}, sleeper()));
  holder.line();
  process second(on_file({"-w", "50ms", "-E", "9"}, {"true"}));
  EXPECT_EQ(second.wait(), (ending{9, 0}));
  EXPECT_NE(second.err().find("is held by pid"), std::string::npos) << second.err();
  process third(on_file({"-w", "0"}, {"true"}));
  EXPECT_EQ(third.wait(), (ending{1, 0}));
}

TEST_F(contention, a_second_run_waits_its_turn) {
  const std::string log = path("log");
  process first(on_file({}, shell("echo in; read x; echo first >>" + log)));
  first.line();
  process second(on_file({}, shell("echo second >>" + log)));
  ASSERT_TRUE(waits(second));
  EXPECT_EQ(file_text(log), "");
  first.end_input();
  EXPECT_EQ(second.wait(), (ending{0, 0}));
  EXPECT_EQ(file_text(log), "first\nsecond\n");
}

TEST_F(contention, a_wait_is_reported_once_in_a_pipe_with_the_name_and_the_holder) {
  process first(on_file({"--note", "rows"}, shell("echo in; read x")));
  first.line();
  process second(on_file({}, {"true"}));
  process quiet(on_file({"-q"}, {"true"}));
  ASSERT_TRUE(eventually([&] { return second.err().ends_with('\n'); }));
  ASSERT_TRUE(waits(quiet));
  first.end_input();
  EXPECT_EQ(second.wait(), (ending{0, 0}));
  EXPECT_EQ(quiet.wait(), (ending{0, 0}));
  const std::string says = "holdfast: waiting at " + file_url() + " (--url): lock is held by pid " +
                           std::to_string(first.pid());
  EXPECT_EQ(second.err().find(says), 0u) << second.err();
  EXPECT_NE(second.err().find("(note: rows)\n"), std::string::npos) << second.err();
  EXPECT_EQ(second.err().find('\n'), second.err().size() - 1) << second.err();
  EXPECT_EQ(quiet.err(), "");
}

TEST_F(contention, a_wait_is_reported_each_minute) {
  process holder(on_file({}, sleeper()));
  holder.line();
  process second(on_file({}, {"true"}));
  const auto says_so = [&] {
    return second.err().find("still waiting at " + file_url() + " (--url) after 60 s: lock is") !=
           std::string::npos;
  };
  for (int minutes = 0; minutes < 3 && !eventually(says_so); ++minutes) {}
  EXPECT_TRUE(says_so()) << second.err();
}

TEST_F(contention, quiet_prints_nothing_about_a_busy_lock) {
  process holder(on_file({}, sleeper()));
  holder.line();
  for (const words& options : {words{"-q", "-n"}, words{"--quiet", "-w", "10ms"}}) {
    process second(on_file(options, {"true"}));
    EXPECT_EQ(second.wait(), (ending{1, 0}));
    EXPECT_EQ(second.err(), "");
  }
}

TEST_F(contention, a_dead_holder_is_called_dead) {
  process holder(on_file({}, sleeper()));
  holder.line();
  holder.signal(SIGKILL);
  holder.wait();
  process second(on_file({"-n"}, {"true"}));
  EXPECT_EQ(second.wait(), (ending{1, 0}));
  EXPECT_NE(second.err().find(", which is dead: a process that it started keeps the lock"),
            std::string::npos)
      << second.err();
}

TEST_F(contention, a_signal_ends_the_wait) {
  process holder(on_file({}, sleeper()));
  holder.line();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    process second(on_file({}, shell("echo never")));
    ASSERT_TRUE(waits(second));
    second.signal(signal);
    EXPECT_EQ(second.wait(), (ending{128 + signal, 0}));
    EXPECT_EQ(second.out(), "");
  }
}

TEST_F(contention, a_signal_that_the_caller_ignores_does_not_end_the_wait) {
  process holder(on_file({}, sleeper()));
  const pid_t job = number_in(holder.line());
  process second(on_file({}, shell("kill -HUP $$; echo survived")), {.ignored_signals = {SIGHUP}});
  ASSERT_TRUE(waits(second));
  second.signal(SIGHUP);
  ::kill(job, SIGTERM);
  EXPECT_EQ(second.wait(), (ending{0, 0}));
  EXPECT_EQ(second.out(), "survived\n");
}

TEST_F(contention, the_text_of_a_note_cannot_steer_the_terminal) {
  process holder(on_file({"--note", "caf\xc3\xa9 \xe2\x80\xae\xe6\x97\xa5"}, sleeper()));
  ASSERT_NE(holder.line(), "");
  process second(on_file({"-n"}, {"true"}));
  EXPECT_EQ(second.wait(), (ending{1, 0}));
  EXPECT_NE(second.err().find("(note: caf\xc3\xa9 ?\xe6\x97\xa5)"), std::string::npos)
      << second.err();
}

}  // namespace
}  // namespace holdfast::cli_test
