#include <signal.h>
#include <stdlib.h>

#include <fstream>
#include <string_view>

#include "history/recording.hpp"
#include "tests/cli/cli_test.hpp"
#include "tests/unit/history/recording_fixture.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif

namespace holdfast::cli_test {
namespace {

class explaining : public cli {
 protected:
  explaining() { ::setenv("HOLDFAST_RECORDER", folder().c_str(), 1); }
  ~explaining() override { ::setenv("HOLDFAST_RECORDER", "off", 1); }

  std::string folder() const { return path("recordings"); }
  std::string output_of(const words& arguments, int code) const {
    process run(holdfast(arguments));
    EXPECT_EQ(run.wait(), (ending{code, 0})) << run.out() << run.err();
    return run.out();
  }
  static void has(const std::string& page, std::string_view text) {
    EXPECT_NE(page.find(text), page.npos) << "no \"" << text << "\" in\n" << page;
  }
  static void has_not(const std::string& page, std::string_view text) {
    EXPECT_EQ(page.find(text), page.npos) << "\"" << text << "\" in\n" << page;
  }
  void plant(history::recording_in_memory& recording) const {
    std::filesystem::create_directory(folder());
    std::filesystem::permissions(folder(), std::filesystem::perms::owner_all);
    std::ofstream file(folder() + '/' + std::to_string(recording.header().pid) + "-1.recording");
    const auto bytes = recording.bytes();
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
};

TEST_F(explaining, shows_what_a_program_did_with_its_lock) {
  process run(on_file({"--note", "a secret note"}, {"true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  const std::string page = output_of({"explain", "lock"}, 0);
  has(page, "pid " + std::to_string(run.pid()) + " (holdfast)  acquired it, token ");
  has(page, "\nNo overlap in 1 grant; no loss.\n");
  has_not(page, "secret");
}

TEST_F(explaining, finds_the_holder_that_was_killed) {
  process killed(on_file({}, sleeper()));
  const pid_t job = number_in(killed.line());
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), (ending{-1, SIGKILL}));
  ::kill(job, SIGKILL);  // it has inherited the lock
  process next(on_file({}, {"true"}));
  EXPECT_EQ(next.wait(), (ending{0, 0})) << next.err();
  const std::string page = output_of({"explain", "lock"}, 0);
  has(page, "\nNo overlap in 2 grants; no loss.\n");
  has(page, "pid " + std::to_string(killed.pid()) + " (holdfast) ended while it held \"lock\" at " +
                file_url());
}

TEST_F(explaining, shows_the_holder_and_the_waiter_of_now) {
  process holder(on_file({}, sleeper()));
  holder.line();
  process waiter(on_file({}, {"true"}));
  const std::string waits = "pid " + std::to_string(waiter.pid()) + " (holdfast) has waited for";
  EXPECT_TRUE(eventually([&] {
    return output_of({"explain", "lock"}, 0).find(waits) != std::string::npos;
  }));
  has(output_of({"explain"}, 0), "pid " + std::to_string(holder.pid()) + " (holdfast) has held");
  holder.signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return state_of(holder.pid()) == 'T'; }));
  has(output_of({"explain", "lock"}, 0), "The process is stopped.\n");
  holder.signal(SIGCONT);
}

TEST_F(explaining, reports_an_overlap) {
  const std::int64_t now = history::moment::now().boottime, second = 1'000'000'000;
  history::recording_in_memory first(4711), another(4802);
  first.grant(now - 9 * second, 1024);
  first.end(now - 5 * second, now - 9 * second, 1024);
  another.grant(now - 7 * second, 2048);
  another.end(now - 6 * second, now - 7 * second, 2048);
  plant(first);
  plant(another);
  const std::string page = output_of({"explain", "x"}, 1);
  has(page, "\n1 overlap in 2 grants; no loss.\n");
  has(page, "FAULT of \"x\" at redis://db: two holders at the same time: pid 4711 acquired it at ");
  has(page, "; pid 4802 acquired it at ");
  const std::string json = output_of({"explain", "--json", "x"}, 1);
  has(json, R"("first_pid":4711,"second_pid":4802)");
  has(json, R"("verdict":"1 overlap in 2 grants; no loss.")");
}

TEST_F(explaining, leaves_out_other_locks) {
  const std::int64_t now = history::moment::now().boottime;
  history::recording_in_memory one(4711);
  one.grant(now - 9, 1024);
  one.add(history::recorded_event::kind::granted, now - 5, "other");
  plant(one);
  has_not(output_of({"explain", "x"}, 0), "other");
  has(output_of({"explain"}, 0), "  [other]\n");
}

TEST_F(explaining, prints_the_last_events) {
  const std::int64_t now = history::moment::now().boottime;
  history::recording_in_memory one(4711);
  for (int i = 60; i > 0; --i) one.grant(now - i, 100 - i);
  plant(one);
  const std::string few = output_of({"explain", "-n", "2", "x"}, 1);
  has(few, "(58 earlier events; -n 0 prints all)\n");
  has_not(few, "token 97\n");
  has(few, "token 98\n");
  has(output_of({"explain", "-n", "0", "x"}, 1), "token 40\n");
}

TEST_F(explaining, names_a_file_that_is_no_recording) {
  history::recording_in_memory one(4711);
  one.grant(1, 1024);
  plant(one);
  std::ofstream(folder() + "/7-1.recording") << "something else";
  process run(holdfast({"explain"}));
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  has(run.err(), folder() + "/7-1.recording: it is not a recording\n");
}

TEST_F(explaining, says_that_nothing_is_recorded) {
  process run(holdfast({"explain", "nightly"}));
  EXPECT_EQ(run.wait(), (ending{2, 0}));
  has(run.err(), "no client has recorded nightly in " + folder());
}

TEST_F(explaining, finds_nothing_where_recordings_are_off) {
  ::setenv("HOLDFAST_RECORDER", "off", 1);
  process silent(on_file({}, {"true"}));
  EXPECT_EQ(silent.wait(), (ending{0, 0}));
  ::setenv("HOLDFAST_RECORDER", folder().c_str(), 1);
  process by_option(holdfast({"run", "--url", file_url() + "?recorder=0", "x", "--", "true"}));
  EXPECT_EQ(by_option.wait(), (ending{0, 0})) << by_option.err();
  output_of({"explain"}, 2);
}

TEST_F(explaining, never_fails_a_lock) {
  ::setenv("HOLDFAST_RECORDER", "/proc/nowhere", 1);
  process run(on_file({}, {"true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0}));
  EXPECT_EQ(run.err(), "");
}

#ifdef HOLDFAST_WITH_REDIS
TEST_F(explaining, finds_the_holder_that_was_stopped_beyond_its_ttl_redis) {
  if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
  const testkit::redis_server server({.password = "hunter2"});
  const std::string url = "redis://:hunter2@127.0.0.1:" + std::to_string(server.port());
  const auto run = [&](words command) {
    words all{"run", "--url", url, "--ttl", "3s", "job", "--"};
    all.insert(all.end(), command.begin(), command.end());
    return holdfast(all);
  };
  process stopped(run(sleeper()));
  stopped.line();
  stopped.signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return cli_test::state_of(stopped.pid()) == 'T'; }));
  process next(run({"true"}));
  EXPECT_EQ(next.wait(), (ending{0, 0})) << next.err();
  stopped.signal(SIGCONT);
  EXPECT_EQ(stopped.wait().code, 75) << stopped.err();
  const std::string page = output_of({"explain", "job"}, 0);
  has(page, "\nNo overlap in 2 grants; 1 loss at ");
  has(page, ": the process did not run for at least ");
  has_not(page, "hunter2");
}
#endif

}  // namespace
}  // namespace holdfast::cli_test
