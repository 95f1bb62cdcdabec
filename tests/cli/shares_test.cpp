// Shares and permits, on the backends whose locks other processes see.
#include <signal.h>

#include <optional>

#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class shares_and_permits : public cli, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    url_ = file_url();
#ifdef HOLDFAST_WITH_REDIS
    if (GetParam() == std::string("file")) return;
    if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
    server_.emplace();
    url_ = server_->url();
#endif
  }
  words run(words options, words command) const {
    words all{"run", "--url", url_};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return holdfast(all);
  }
  ending ending_of(words options) const {
    process p(run(std::move(options), {"true"}));
    return p.wait();
  }
  std::string output_of(words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", url_});
    process p(holdfast(arguments));
    p.wait();
    return p.out();
  }

 private:
#ifdef HOLDFAST_WITH_REDIS
  std::optional<testkit::redis_server> server_;
#endif
  std::string url_;
};

TEST_P(shares_and_permits, readers_share_a_lock_and_a_writer_waits_for_all_of_them) {
  process first(run({"-s", "x"}, sleeper())), second(run({"--shared", "x"}, sleeper()));
  const pid_t jobs[] = {number_in(first.line()), number_in(second.line())};
  EXPECT_EQ(ending_of({"-n", "x"}), (ending{1, 0}));
  ::kill(jobs[0], SIGKILL);
  first.wait();
  EXPECT_EQ(ending_of({"-n", "x"}), (ending{1, 0}));
  ::kill(jobs[1], SIGKILL);
  second.wait();
  EXPECT_EQ(ending_of({"-n", "x"}), (ending{0, 0}));
}

TEST_P(shares_and_permits, a_reader_waits_for_the_writer) {
  process writer(run({"x"}, sleeper()));
  const pid_t job = number_in(writer.line());
  EXPECT_EQ(ending_of({"-s", "-n", "x"}), (ending{1, 0}));
  process reader(run({"-s", "x"}, {"true"}));
  ::kill(job, SIGKILL);
  EXPECT_EQ(reader.wait(), (ending{0, 0}));
}

TEST_P(shares_and_permits, so_many_hold_a_semaphore_at_once) {
  process first(run({"-p", "2", "x"}, sleeper()));
  process second(run({"--permits=2", "x"}, sleeper()));
  const pid_t job = number_in(first.line());
  second.line();
  process third(run({"-p", "2", "-n", "x"}, {"true"}));
  EXPECT_EQ(third.wait(), (ending{1, 0}));
  EXPECT_EQ(third.err().find("holdfast: 2 of 2 permits of x are held by "), 0u) << third.err();
  EXPECT_NE(third.err().find("and 1 other"), std::string::npos) << third.err();
  ::kill(job, SIGKILL);
  first.wait();
  EXPECT_EQ(ending_of({"-p", "2", "-w", "60", "x"}), (ending{0, 0}));
}

TEST_P(shares_and_permits, several_permits_are_taken_together) {
  process two(run({"-p", "3", "--take", "2", "x"}, sleeper()));
  two.line();
  EXPECT_EQ(ending_of({"-p", "3", "--take", "2", "-n", "x"}), (ending{1, 0}));
  EXPECT_EQ(ending_of({"-p", "3", "-n", "x"}), (ending{0, 0}));
}

TEST_P(shares_and_permits, of_a_killed_run_are_free_when_its_job_is_gone) {
  const bool outlives_run = GetParam() == std::string("file");  // else the guardian ends it
  words sharing{"-s", "x"}, with_permits{"-p", "2", "--take", "2", "x"};
  for (words* const how : {&sharing, &with_permits}) {
    words starting = *how;
    if (!outlives_run) starting.insert(starting.begin(), {"--ttl", "4s"});
    process killed(run(starting, sleeper()));
    const pid_t job = number_in(killed.line());
    killed.signal(SIGKILL);
    killed.wait();
    words rival = how == &sharing ? words{"x"} : *how;
    rival.insert(rival.begin(), "-n");
    if (outlives_run) {
      EXPECT_EQ(ending_of(rival), (ending{1, 0})) << "what the job has inherited";
      ::kill(job, SIGKILL);
    }
    rival.erase(rival.begin());
    EXPECT_EQ(ending_of(rival), (ending{0, 0}));
    EXPECT_TRUE(has_ended(job));
  }
}

TEST_P(shares_and_permits, of_two_kinds_under_one_name_the_second_is_wrong_usage) {
  process two(run({"-p", "2", "x"}, sleeper()));
  two.line();
  for (const words& other : {words{"-n", "x"}, words{"-s", "-n", "x"}, words{"-p", "3", "-n", "x"}})
    EXPECT_EQ(ending_of(other), (ending{64, 0})) << other[0];
}

TEST_P(shares_and_permits, show_prints_the_mode_of_each_holder) {
  process first(run({"-s", "x"}, sleeper())), second(run({"-s", "x"}, sleeper()));
  process third(run({"-p", "5", "--take", "2", "y"}, sleeper()));
  for (process* const p : {&first, &second, &third}) p->line();
  for (const process* const p : {&first, &second}) {
    const std::string by = "  by       pid " + std::to_string(p->pid());
    EXPECT_TRUE(eventually([&] { return output_of({"holders", "x"}).find(by) != by.npos; })) << by;
  }
  const auto readers = output_of({"holders", "x"}), permits = output_of({"holders", "y"});
  EXPECT_NE(readers.find("  mode     shared\n"), readers.npos) << readers;
  EXPECT_NE(permits.find("  mode     2 of 5 permits\n"), permits.npos) << permits;
  EXPECT_NE(output_of({"holders", "--json", "y"}).find("\"permits\":2,\"total_permits\":5,"),
            permits.npos);
}

#ifdef HOLDFAST_WITH_REDIS
constexpr const char* places[] = {"file", "redis"};
#else
constexpr const char* places[] = {"file"};
#endif
INSTANTIATE_TEST_SUITE_P(on, shares_and_permits, ::testing::ValuesIn(places),
                         [](const auto& on) { return std::string(on.param); });

}  // namespace
}  // namespace holdfast::cli_test
