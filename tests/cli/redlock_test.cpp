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
  words here(words arguments, const std::string& options = {}) const {
    arguments.insert(arguments.begin() + 1, {"--url", servers_->url() + options});
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
  // The third server may get its vote later than the other two.
  EXPECT_TRUE(eventually([&] {
    process list(here({"list"}));
    return list.wait() == ending{0, 0} && list.out().find("job") != std::string::npos;
  }));
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

// One of three votes; the others reply, and do not vote.
TEST_F(redlock, a_run_that_exits_with_69_leaves_no_vote_behind) {
  for (const std::size_t i : {0u, 1u}) {
    (*servers_)[i].command({"CONFIG", "SET", "maxmemory", "100mb"});
    (*servers_)[i].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  }
  for (int i = 0; i < 10; ++i) {
    process run(here({"run", "-n", "job", "--", "true"}));
    EXPECT_EQ(run.wait(), (ending{69, 0})) << run.err();
    EXPECT_EQ((*servers_)[2].command({"EXISTS", "job"}).number, 0) << i;
  }
}

TEST_F(redlock, a_run_waits_for_servers_that_do_not_vote_yet) {
  servers_.emplace(3, testkit::redlock_servers::history::fresh);
  process run(here({"run", "--ttl", "3", "-w", "60", "job", "--", "true"}, "?max-ttl=3s"));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
}

TEST_F(redlock, a_run_that_waits_names_a_server_that_does_not_vote) {
  servers_.emplace(3, testkit::redlock_servers::history::fresh);
  process run(here({"run", "job", "--", "true"}));
  EXPECT_TRUE(eventually([&] {
    const std::string says = run.err();
    const auto at = says.find("job is not granted, and no holder of it is known: 127.0.0.1:");
    return at != says.npos && says.find(" does not vote: it ", at) != says.npos;
  })) << run.err();
  run.signal(SIGTERM);
  (void)run.wait();
}

TEST_F(redlock, a_run_whose_wait_ends_before_they_vote_exits_with_69) {
  servers_.emplace(3, testkit::redlock_servers::history::fresh);
  process run(here({"run", "-w", "1", "job", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{69, 0})) << run.err();
}

TEST_F(redlock, wait_continues_while_too_few_servers_reply) {
  const auto clients = [&](std::size_t i) { return (*servers_)[i].info("connected_clients"); };
  for (std::size_t i = 0; i < 3; ++i)
    (*servers_)[i].command({"SET", "job", "another client", "PX", "600000"});
  const words before{clients(0), clients(1), clients(2)};
  process wait(here({"wait", "-w", "60", "job"}, "?op-timeout=1s"));
  ASSERT_TRUE(eventually([&] {
    return clients(0) != before[0] && clients(1) != before[1] && clients(2) != before[2];
  }));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (const std::size_t i : {0u, 1u}) (*servers_)[i].stop();
  std::this_thread::sleep_for(std::chrono::seconds(4));
  for (const std::size_t i : {0u, 1u}) (*servers_)[i].go_on();
  for (std::size_t i = 0; i < 3; ++i) (*servers_)[i].command({"DEL", "job"});
  EXPECT_EQ(wait.wait(), (ending{0, 0})) << wait.err();
}

TEST_F(redlock, diagnose_names_the_server_that_does_not_vote) {
  (*servers_)[2].command({"CONFIG", "SET", "maxmemory", "100mb"});
  (*servers_)[2].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  process page(here({"diagnose"}));
  EXPECT_EQ(page.wait(), (ending{1, 0})) << page.out();
  EXPECT_NE(page.out().find("127.0.0.1:" + std::to_string((*servers_)[2].port())),
            std::string::npos)
      << page.out();
  EXPECT_NE(page.out().find("each server counts its votes"), std::string::npos) << page.out();
}

}  // namespace
}  // namespace holdfast::cli_test
#endif
