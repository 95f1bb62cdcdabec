#include <signal.h>

#include <optional>

#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class top : public cli {
 protected:
  words at_folder(words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", file_url()});
    return holdfast(arguments);
  }
  words hold(words names) const {
    words line{"run"};
    line.insert(line.end(), names.begin(), names.end());
    line.emplace_back("--");
    for (const auto& word : sleeper()) line.push_back(word);
    return at_folder(line);
  }
  static int occurrences(const std::string& text, const std::string& of) {
    int count = 0;
    for (auto at = text.find(of); at != text.npos; at = text.find(of, at + 1)) ++count;
    return count;
  }
  static bool shows(const process& run, const std::string& text, std::size_t from = 0) {
    return eventually([&] { return run.out().find(text, from) != std::string::npos; });
  }
};

TEST_F(top, prints_one_frame_where_there_is_no_terminal) {
  process holder(hold({"shop/a", "depot"}));
  holder.line();
  process run(at_folder({"top"})), of_prefix(at_folder({"top", "shop/"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_NE(run.out().find(file_url() + " (--url)  2 locks held by 2 holders\n\nNAME"),
            std::string::npos)
      << run.out();
  EXPECT_EQ(occurrences(run.out(), "NAME"), 1);
  EXPECT_EQ(run.out().find('\033'), std::string::npos) << run.out();
  EXPECT_EQ(of_prefix.wait(), (ending{0, 0}));
  EXPECT_NE(of_prefix.out().find("1 lock held by 1 holder\n"), std::string::npos);
  EXPECT_EQ(of_prefix.out().find("depot"), std::string::npos) << of_prefix.out();
}

TEST_F(top, prints_as_many_frames_as_its_count) {
  process run(at_folder({"top", "-n", "3", "--interval", "100ms"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ(occurrences(run.out(), "no lock is held\n"), 3) << run.out();
}

TEST_F(top, refuses_options_that_contradict_each_other_or_are_out_of_range) {
  for (const words& arguments :
       {words{"top", "--once", "-n", "2"}, words{"top", "--interval", "0"},
        words{"top", "--count", "0"}, words{"top", "a", "b"}, words{"top", "redis://u:p@host"}}) {
    process run(holdfast(arguments));
    EXPECT_EQ(run.wait(), (ending{64, 0})) << ::testing::PrintToString(arguments);
    EXPECT_NE(run.err().find("see holdfast help top"), std::string::npos) << run.err();
  }
}

TEST_F(top, follows_the_holders_on_a_terminal_until_a_signal_ends_it) {
  process run(at_folder({"top", "--interval", "100ms"}), {.on_terminal = true});
  EXPECT_TRUE(shows(run, "\033[H")) << run.out();
  EXPECT_TRUE(shows(run, "no lock is held")) << run.out();
  std::optional<process> holder(std::in_place, hold({"job"}));
  const pid_t job = number_in(holder->line());
  EXPECT_TRUE(shows(run, "job   exclusive  " + std::to_string(holder->pid()))) << run.out();
  ::kill(job, SIGKILL);
  holder->wait();
  EXPECT_TRUE(shows(run, "no lock is held", run.out().size())) << run.out();
  run.type("\x03");
  EXPECT_EQ(run.wait(), (ending{-1, SIGINT}));
}

TEST_F(top, fits_its_frame_into_the_terminal) {
  words names;
  for (int i = 10; i < 40; ++i) names.push_back("a_lock_with_a_name_" + std::to_string(i));
  process holder(hold(names));
  holder.line();
  process run(at_folder({"top", "-n", "1"}), {.on_terminal = true});
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  const std::string frame = run.out();
  EXPECT_EQ(occurrences(frame, "\n"), 23) << frame;  // the terminal has 24 rows
  EXPECT_NE(frame.find("30 locks held by 30 holders"), std::string::npos) << frame;
  EXPECT_NE(frame.find("and 11 more holders\033[K"), std::string::npos) << frame;
}

TEST_F(top, counts_holders_only_where_a_terminal_has_room_for_one) {
  process holder(hold({"a", "b", "c"}));
  holder.line();
  process four(at_folder({"top", "-n", "1"}), {.on_terminal = true, .rows = 4});
  EXPECT_EQ(four.wait(), (ending{0, 0}));
  EXPECT_EQ(occurrences(four.out(), "\n"), 3) << four.out();
  EXPECT_NE(four.out().find("3 locks held by 3 holders"), std::string::npos) << four.out();
  EXPECT_EQ(four.out().find("more holder"), std::string::npos) << four.out();
  process six(at_folder({"top", "-n", "1"}), {.on_terminal = true, .rows = 6});
  EXPECT_EQ(six.wait(), (ending{0, 0}));
  EXPECT_NE(six.out().find("and 2 more holders\033[K"), std::string::npos) << six.out();
}

#ifdef HOLDFAST_WITH_REDIS
class top_redis : public top {
 protected:
  void SetUp() override {
    if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
    server_.emplace();
  }
  words at_server(words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", server_->url() + "?op-timeout=1s"});
    return holdfast(arguments);
  }
  words hold_at_server(const std::string& name) const {
    words line{"run", name, "--"};
    for (const auto& word : sleeper()) line.push_back(word);
    return at_server(line);
  }
  std::string frame() const {
    process run(at_server({"top", "--once"}));
    EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
    return run.out();
  }

  std::optional<testkit::redis_server> server_;
};

TEST_F(top_redis, shows_the_locks_with_the_most_waiters_first) {
  process calm(hold_at_server("a_calm_lock")), busy(hold_at_server("a_wanted_lock"));
  calm.line();
  busy.line();
  process waiter(hold_at_server("a_wanted_lock"));
  EXPECT_TRUE(eventually([&] { return frame().find(", 1 waiting\n") != std::string::npos; }));
  const std::string shown = frame();
  EXPECT_LT(shown.find("\na_wanted_lock  exclusive"), shown.find("\na_calm_lock ")) << shown;
}

TEST_F(top_redis, continues_while_the_server_is_away) {
  for (const bool on_terminal : {true, false}) {
    process run(at_server({"top", "--interval", "100ms", "-n", "1000000"}),
                {.on_terminal = on_terminal});
    EXPECT_TRUE(shows(run, "no lock is held")) << run.out();
    server_->stop();
    EXPECT_TRUE(shows(run, "list at redis://")) << run.out();
    server_->go_on();
    EXPECT_TRUE(shows(run, "no lock is held", run.out().size())) << run.out();
  }
}

TEST_F(top_redis, fails_where_the_first_frame_cannot_be_read) {
  server_->stop();
  process run(at_server({"top"}), {.on_terminal = true});
  EXPECT_EQ(run.wait(), (ending{69, 0}));
}
#endif

}  // namespace
}  // namespace holdfast::cli_test
