// Shares, permits and several locks at once.
#include <signal.h>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

words line(const std::string& url, words options, words command) {
  words all{"run", "--url", url};
  all.insert(all.end(), options.begin(), options.end());
  all.push_back("--");
  all.insert(all.end(), command.begin(), command.end());
  return url.starts_with("memory:") ? holdfast_over_memory(all) : holdfast(all);
}

class kinds : public cli {
 protected:
  words at_folder(words options, words command) const {
    return line(file_url(), std::move(options), std::move(command));
  }
  ending ending_of(words options) const {
    process run(at_folder(std::move(options), {"true"}));
    return run.wait();
  }
};

TEST_F(kinds, several_locks_are_held_together_or_not_at_all) {
  process other(at_folder({"b"}, sleeper()));
  const pid_t job = number_in(other.line());
  process busy(at_folder({"-n", "a", "b", "c"}, {"true"}));
  EXPECT_EQ(busy.wait(), (ending{1, 0}));
  EXPECT_EQ(busy.err().find("holdfast: b is held by pid "), 0u) << busy.err();
  EXPECT_EQ(ending_of({"-n", "a"}), (ending{0, 0}));
  ::kill(job, SIGKILL);
  other.wait();
  process all(at_folder({"c", "a", "b"}, sleeper()));
  all.line();
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(ending_of({"-n", name}), (ending{1, 0}));
}

TEST_F(kinds, of_several_locks_the_job_inherits_all) {
  process run(at_folder({"a", "b"}, sleeper()));
  const pid_t job = number_in(run.line());
  run.signal(SIGKILL);
  run.wait();
  for (const char* name : {"a", "b"}) EXPECT_EQ(ending_of({"-n", name}), (ending{1, 0})) << name;
  ::kill(job, SIGKILL);
  for (const char* name : {"a", "b"}) EXPECT_EQ(ending_of({"-w", "60", name}), (ending{0, 0}));
}

TEST_F(kinds, of_several_locks_the_job_knows_all_names_and_tokens) {
  process run(at_folder({"b", "a,1"}, shell("echo \"$HOLDFAST_NAME\"; echo $HOLDFAST_TOKEN")));
  EXPECT_EQ(run.line(), "b");
  EXPECT_EQ(run.line(), "a,1");
  const std::string tokens = run.line();
  const auto comma = tokens.find(',');
  ASSERT_NE(comma, tokens.npos) << tokens;
  EXPECT_GT(std::stoll(tokens), 0);
  EXPECT_GT(std::stoll(tokens.substr(comma + 1)), 0);
}

TEST_F(kinds, of_several_locks_in_any_order_runs_do_not_wait_for_each_other) {
  std::vector<std::unique_ptr<process>> all;
  for (int i = 0; i < 10; ++i) {
    const words names = i % 2 ? words{"a", "b", "c"} : words{"c", "b", "a"};
    all.push_back(std::make_unique<process>(at_folder(names, {"true"})));
  }
  for (const auto& run : all) EXPECT_EQ(run->wait(), (ending{0, 0}));
}

class kinds_on_a_store : public cli, public ::testing::WithParamInterface<words> {};

TEST_P(kinds_on_a_store, end_their_job_when_they_are_lost) {
  process run(line(std::string("memory:") + lost_soon, GetParam(), sleeper()));
  const pid_t job = number_in(run.line());
  EXPECT_EQ(run.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
}

INSTANTIATE_TEST_SUITE_P(memory, kinds_on_a_store,
                         ::testing::Values(words{"-s", "x"}, words{"-p", "3", "--take", "2", "x"},
                                           words{"x", "y"}));

}  // namespace
}  // namespace holdfast::cli_test
