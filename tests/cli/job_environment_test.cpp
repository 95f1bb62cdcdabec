#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class job_environment : public cli {};

// Its own in each run of a test: others may run at the same time.
const std::string canary = "tweet-" + std::to_string(::getpid()) + "-c4n4ry";

TEST_F(job_environment, has_name_and_growing_token) {
  const auto asked = shell("echo $HOLDFAST_NAME; echo $HOLDFAST_TOKEN");
  process first(on_file({}, asked));
  EXPECT_EQ(first.line(), "lock");
  const auto token = std::stoll(first.line());
  EXPECT_GT(token, 0);
  EXPECT_EQ(first.wait(), (ending{0, 0}));
  process second(on_file({}, asked));
  second.line();
  EXPECT_GT(std::stoll(second.line()), token);
}

// Its start must cost little more than a start of flock(1), with every backend built in.
TEST_F(job_environment, has_a_parent_without_libraries_that_a_file_lock_does_not_need) {
  process run(on_file({}, shell("grep -c -e libcrypto -e libssl /proc/$PPID/maps")));
  EXPECT_EQ(run.line(), "0");
}

TEST_F(job_environment, has_no_expiry_without_a_ttl) {
  process run(on_file({}, shell("echo ${HOLDFAST_EXPIRES-none} ${HOLDFAST_TTL-none}")),
              {.environment = {{"HOLDFAST_EXPIRES", "of an outer run"}, {"HOLDFAST_TTL", "5"}}});
  EXPECT_EQ(run.line(), "none none");
}

TEST_F(job_environment, has_the_first_expiry_and_the_ttl) {
  process run(on_memory("", {"--ttl", "90"},
                        shell("echo $HOLDFAST_TTL; echo $HOLDFAST_EXPIRES;"
                              "date -u +%Y-%m-%dT%H:%M:%S -d '2 minutes'")));
  EXPECT_EQ(run.line(), "90");
  const std::string expires = run.line(), later = run.line();
  ASSERT_EQ(expires.size(), 24u) << expires;
  EXPECT_EQ(expires[10], 'T');
  EXPECT_EQ(expires.back(), 'Z');
  EXPECT_LT(expires, later);
  EXPECT_EQ(run.wait(), (ending{0, 0}));
}

TEST_F(job_environment, lacks_the_url_and_the_variables_of_passwords) {
  const std::string url = file_url() + "?password-env=LOCK_PASSWORD";
  process run(holdfast({"run", "x", "--", "env"}),
              {.environment = {{"HOLDFAST_URL", url}, {"LOCK_PASSWORD", canary}, {"KEPT", "yes"}}});
  run.wait();
  const std::string all = run.out() + run.err();
  EXPECT_EQ(all.find(canary), all.npos) << all;
  EXPECT_EQ(all.find("HOLDFAST_URL"), all.npos) << all;
  EXPECT_NE(all.find("KEPT=yes"), all.npos) << all;
}

TEST_F(job_environment, of_no_process_of_a_run_shows_a_password) {
  for (const bool joined : {false, true}) {
    const std::string url = "memory:?password=" + canary + "&ttl=30s";
    words line{"run"};
    if (joined) line.push_back("--url=" + url);
    if (!joined) line.insert(line.end(), {"--url", url});
    line.insert(line.end(), {"x", "--"});
    for (const auto& word : sleeper()) line.push_back(word);
    process run(holdfast_over_memory(line));
    const pid_t job = number_in(run.line());
    const auto in_proc = [](pid_t pid, const char* what) {
      return file_text("/proc/" + std::to_string(pid) + "/" + what);
    };
    EXPECT_NE(in_proc(run.pid(), "cmdline").find("memory:?password=****"), std::string::npos);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid == 0 || pid == ::getpid()) continue;
      EXPECT_EQ(in_proc(pid, "cmdline").find(canary), std::string::npos) << pid;
    }
    EXPECT_EQ(in_proc(job, "environ").find(canary), std::string::npos);
  }
}

TEST_F(job_environment, of_a_bad_url_no_message_shows_the_password) {
  const std::string secret = canary + "/?@" + canary;
  for (const words& line :
       {words{"run", "--url", "redis://u:" + secret + "@h:x", "n", "--", "true"},
        words{"run", "--ulr=redis://u:" + secret + "@h", "n", "--", "true"},
        words{"run", "n", "redis://u:" + secret + "@h", "--", "true"},
        words{"run", "redis://u:" + secret + "@h", "--", "true"},
        words{"run", "redis:u:" + secret + "@h", "--", "true"},
        words{"run", "zookeeper:u:" + secret + "@h", "--", "true"},
        words{"holders", "redis://u:" + secret + "@h"}, words{"list", "redis://u:" + secret + "@h"},
        words{"wait", "x://u:" + secret + "@h"}, words{"list", "--url", "redis:u:" + canary + "@h"},
        words{"list", "--url", "redis:///u:" + canary + "@h"},
        words{"list", "--url", "redis://h?Password=" + canary},
        words{"list", "--url", "redis://" + canary + "@127.0.0.1:1"}}) {
    process run(holdfast(line));
    EXPECT_EQ(run.wait(), (ending{64, 0}));
    EXPECT_EQ(run.err().find(canary), std::string::npos) << run.err();
  }
}

TEST_F(job_environment, has_the_signal_mask_and_dispositions_of_the_caller) {
  const start_options how{.ignored_signals = {SIGINT, SIGCHLD, SIGPIPE},
                          .blocked_signals = {SIGUSR1, SIGTERM}};
  // The last digits: glibc's posix_spawn leaves its own signals 32 and 33 ignored.
  const words asked{"sed", "-nE", "s/^(SigBlk|SigIgn).*(.{7})$/\\1 \\2/p", "/proc/self/status"};
  process plain({"/bin/sed", asked[1], asked[2], asked[3]}, how);
  EXPECT_EQ(plain.wait(), (ending{0, 0}));
  process local(on_file({}, asked), how);
  EXPECT_EQ(local.wait(), (ending{0, 0}));
  EXPECT_EQ(local.out(), plain.out());
  process server(on_memory("", {}, asked), how);
  EXPECT_EQ(server.wait(), (ending{0, 0}));
  EXPECT_EQ(server.out(), plain.out());
}

TEST_F(job_environment, has_only_the_descriptors_of_the_caller_and_the_lock) {
  const words asked = shell("ls /proc/self/fd | wc -l");
  process plain({"/bin/sh", "-c", asked[2]});
  plain.wait();
  const int before = number_in(plain.line());
  process with_lock(on_file({}, asked));
  EXPECT_EQ(number_in(with_lock.line()), before + 1);
  process without(on_file({"--close"}, asked));
  EXPECT_EQ(number_in(without.line()), before);
  process server(on_memory("", {}, asked));
  EXPECT_EQ(number_in(server.line()), before);
}

}  // namespace
}  // namespace holdfast::cli_test
