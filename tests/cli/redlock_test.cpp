#ifdef HOLDFAST_WITH_REDIS
#include <optional>

#include "testkit/servers/redlock_servers.hpp"
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class redlock : public cli {
 protected:
  void SetUp() override {
    if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
    servers_.emplace();
  }
  words here(words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", servers_->url()});
    return holdfast(arguments);
  }

  std::optional<testkit::redlock_servers> servers_;
};

TEST_F(redlock, run_shows_its_token_and_the_holder_to_others) {
  words line{"run", "job", "--"};
  for (const auto& word : sleeper()) line.push_back(word);
  process holder(here(line));
  ASSERT_TRUE(eventually([&] {
    process look(here({"holders", "-q", "job"}));
    return look.wait() == ending{0, 0};
  }));
  process busy(here({"run", "-n", "job", "--", "true"}));
  EXPECT_EQ(busy.wait(), (ending{1, 0})) << busy.err();
  process list(here({"list"}));
  EXPECT_EQ(list.wait(), (ending{0, 0})) << list.err();
  EXPECT_NE(list.out().find("job"), std::string::npos) << list.out();
  holder.signal(SIGTERM);
  (void)holder.wait();
  process next(here({"run", "-w", "20", "job", "--", "true"}));
  EXPECT_EQ(next.wait(), (ending{0, 0})) << next.err();
}

TEST_F(redlock, without_a_majority_run_exits_with_69_and_names_the_servers) {
  (*servers_)[0].kill_hard();
  (*servers_)[1].kill_hard();
  process run(here({"run", "-n", "job", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{69, 0})) << run.err();
  EXPECT_NE(run.err().find(std::to_string((*servers_)[1].port())), std::string::npos) << run.err();
}

TEST_F(redlock, diagnose_names_the_server_that_does_not_vote) {
  (*servers_)[2].command({"CONFIG", "SET", "maxmemory", "100mb"});
  (*servers_)[2].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  process page(here({"diagnose"}));
  EXPECT_EQ(page.wait(), (ending{1, 0})) << page.out();
  EXPECT_NE(page.out().find("127.0.0.1:" + std::to_string((*servers_)[2].port())),
            std::string::npos)
      << page.out();
}

}  // namespace
}  // namespace holdfast::cli_test
#endif
