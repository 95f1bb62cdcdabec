#ifdef HOLDFAST_WITH_REDIS
#include <signal.h>

#include <optional>

#include "testkit/servers/redis_server.hpp"
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class redis : public cli {
 protected:
  void SetUp() override {
    if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
    server_.emplace();
  }
  // "holdfast WORD --url ... REST..."
  words here(words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", server_->url()});
    return holdfast(arguments);
  }
  words hold(words options = {}) const {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"job", "--"});
    for (const auto& word : sleeper()) options.push_back(word);
    return here(options);
  }
  std::string output_of(words arguments, int code) const {
    process run(here(std::move(arguments)));
    EXPECT_EQ(run.wait(), (ending{code, 0})) << run.err();
    return run.out();
  }
  // Behind "owner" on the page of `holders`, the first time.
  std::string holder_shown() const {
    const auto page = output_of({"holders", "job"}, 0);
    const auto at = page.find("  owner    ");
    return at == page.npos ? "" : page.substr(at + 11, page.find('\n', at) - at - 11);
  }

  std::optional<testkit::redis_server> server_;
};

TEST_F(redis, diagnose_exits_with_1_where_something_is_bad_and_prints_no_password) {
  testkit::redis_server sound({.durable = true, .password = "hunter2"});
  for (const bool json : {false, true}) {
    words line{"diagnose", "--url", "redis://:hunter2@127.0.0.1:" + std::to_string(sound.port())};
    if (json) line.emplace_back("--json");
    process good(holdfast(line));
    EXPECT_EQ(good.wait(), (ending{0, 0})) << good.out();
    sound.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    sound.command({"CONFIG", "SET", "maxmemory", "100mb"});
    process bad(holdfast(line));
    EXPECT_EQ(bad.wait(), (ending{1, 0})) << bad.out();
    EXPECT_NE(bad.out().find("allkeys-lru"), std::string::npos) << bad.out();
    EXPECT_EQ((good.out() + bad.out() + bad.err()).find("hunter2"), std::string::npos);
    sound.command({"CONFIG", "SET", "maxmemory", "0"});
  }
}

TEST_F(redis, list_marks_the_locks_of_a_demonstration) {
  server_->command({"SET", "job.lock", "1700000000000"});
  const std::string url = server_->url() + "?layout=getset&unsafe=1";
  process table(holdfast({"list", "--url", url})),
      array(holdfast({"list", "--json", "--url", url}));
  EXPECT_EQ(table.wait(), (ending{0, 0})) << table.err();
  EXPECT_NE(table.out().find("exclusive (unsafe)"), std::string::npos) << table.out();
  EXPECT_EQ(array.wait(), (ending{0, 0}));
  EXPECT_NE(array.out().find("\"unsafe\":true"), std::string::npos) << array.out();
  server_->command({"SET", "job", "hfl:1"});
  process of_string(holdfast({"list", "--url", server_->url() + "?layout=lua"}));
  EXPECT_EQ(of_string.wait(), (ending{0, 0}));
  EXPECT_EQ(of_string.out().find("unsafe"), std::string::npos) << of_string.out();
}

TEST_F(redis, a_wait_that_ends_while_the_server_is_away_is_no_busy_lock) {
  process holder(hold());
  holder.line();
  process run(here({"run", "-w", "2s", "job", "--", "true"}));
  process wait(here({"wait", "-w", "2s", "job"}));
  for (process* p : {&run, &wait}) ASSERT_TRUE(eventually([&] { return !p->err().empty(); }));
  server_->kill_hard();
  for (process* p : {&run, &wait}) {
    EXPECT_EQ(p->wait(), (ending{69, 0})) << p->err();
    EXPECT_EQ(p->err().find("gave up"), std::string::npos) << p->err();
  }
}

TEST_F(redis, few_descriptors_are_an_error_and_never_end_the_program_by_a_signal) {
  for (int limit = 4; limit < 14; ++limit) {
    const std::string script = "ulimit -n " + std::to_string(limit) +
                               "; exec \"$HOLDFAST_BIN\" run --url '" + server_->url() +
                               "' lock -- true";
    process run({"/bin/sh", "-c", script});
    const ending how = run.wait();
    EXPECT_EQ(how.signal, 0) << limit << ": " << run.err();
    EXPECT_EQ(run.err().find("terminate"), std::string::npos) << limit << run.err();
  }
}

TEST_F(redis, break_takes_the_lock_from_the_holder_that_was_seen) {
  process holder(hold({"--ttl", "9s"}));
  const pid_t job = number_in(holder.line());
  const std::string seen = holder_shown();
  output_of({"break", "job", "--owner", seen + "x"}, 1);
  EXPECT_FALSE(has_ended(job));
  process next(hold());
  ASSERT_TRUE(eventually([&] { return !next.err().empty(); }));
  EXPECT_EQ(output_of({"break", "--json", "job", "--owner", seen}, 0),
            "{\"name\":\"job\",\"owner\":\"" + seen + "\",\"broken\":true}\n");
  EXPECT_NE(next.line(), "");
  EXPECT_EQ(holder.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
  EXPECT_EQ(holder.err(),
            "holdfast: job: the lease was lost: the store reports another owner; ending "
            "the command\n");
  EXPECT_EQ(output_of({"break", "--json", "job", "--owner", seen}, 1),
            "{\"name\":\"job\",\"owner\":\"" + seen + "\",\"broken\":false}\n");
}

TEST_F(redis, a_lock_that_the_server_has_forgotten_is_reported_as_that) {
  process holder(hold({"--ttl", "9s"}));
  holder.line();
  output_of({"break", "job", "--owner", holder_shown()}, 0);
  EXPECT_EQ(holder.wait(), (ending{75, 0}));
  EXPECT_NE(holder.err().find("job: the lease was lost: the store no longer has a holder"),
            std::string::npos)
      << holder.err();
}

TEST_F(redis, a_holder_is_known_with_its_token_from_the_start_of_its_command) {
  for (const words& options : {words{}, words{"-s"}, words{"-p", "2"}}) {
    words line{"run"};
    line.insert(line.end(), options.begin(), options.end());
    for (const std::string& word : words{"job", "--"}) line.push_back(word);
    for (const auto& word : shell("echo $HOLDFAST_TOKEN; exec sleep 1000")) line.push_back(word);
    process holder(here(line));
    const long long token = std::stoll(holder.line());
    const std::string pid = "\"pid\":" + std::to_string(holder.pid());
    const std::string grant = std::to_string(token / 1024 * 1024);
    const auto json = output_of({"holders", "--json", "job"}, 0);
    EXPECT_NE(json.find(pid), json.npos) << json;
    if (options.empty()) {
      EXPECT_NE(json.find("\"token\":\"" + grant + '"'), json.npos) << json << grant;
      process busy(here({"run", "-n", "job", "--", "true"}));
      EXPECT_EQ(busy.wait(), (ending{1, 0}));
      EXPECT_EQ(busy.err().find("holdfast: job is held by pid " + std::to_string(holder.pid())), 0u)
          << busy.err();
    }
    holder.signal(SIGTERM);
    holder.wait();
  }
}

TEST_F(redis, a_key_of_another_type_is_no_free_lock) {
  server_->command({"LPUSH", "list", "1"});
  for (const char* layout : {"string", "redisson", "redisson-rw", "redisson-permits",
                             "redisson-spin", "redisson-fair"}) {
    const std::string at = server_->url() + "?layout=" + layout;
    for (const words& line :
         {words{"holders", "--url", at, "list"}, words{"wait", "-w", "0", "--url", at, "list"}}) {
      process run(holdfast(line));
      EXPECT_EQ(run.wait(), (ending{64, 0})) << layout << run.err();
    }
    process all(holdfast({"list", "--url", at}));
    EXPECT_EQ(all.wait(), (ending{0, 0})) << layout << all.err();
  }
  // To this layout any key under the name is held by another program.
  process held(holdfast({"holders", "--url", server_->url() + "?layout=lua", "list"}));
  EXPECT_EQ(held.wait(), (ending{0, 0})) << held.out();
}

TEST_F(redis, holders_and_wait_query_their_lock_and_scan_nothing) {
  process holder(hold());
  const pid_t job = number_in(holder.line());
  const auto scans = [&] {
    return server_->command({"INFO", "commandstats"}).text.find("cmdstat_scan:") !=
           std::string::npos;
  };
  output_of({"holders", "job"}, 0);
  output_of({"wait", "-w", "50ms", "job"}, 1);
  ::kill(job, SIGKILL);
  output_of({"wait", "job"}, 0);
  EXPECT_FALSE(scans());
  output_of({"list"}, 0);
  EXPECT_TRUE(scans());
}

TEST_F(redis, break_takes_an_id_that_others_have_written) {
  const std::string id = "a %\n\xff";
  server_->command({"SET", "job", id});
  EXPECT_EQ(holder_shown(), "a%20%25%0A%FF");
  const auto json = output_of({"holders", "--json", "job"}, 0);
  for (const char* unknown : {"pid", "held_for_ms", "expires_in_ms", "token"})
    EXPECT_NE(json.find('"' + std::string(unknown) + "\":null"), json.npos) << unknown << json;
  output_of({"break", "job", "--owner", "a%20%25%0A%FF"}, 0);
  EXPECT_EQ(output_of({"holders", "job"}, 1), "job: free\n");
}

TEST_F(redis, of_a_wait_neither_its_lines_nor_its_arguments_show_the_password) {
  process holder(hold());
  holder.line();
  const std::string at = server_->url().substr(8), url = "redis://lock:tw33t@" + at;
  server_->command({"ACL", "SETUSER", "lock", "on", ">tw33t", "~*", "&*", "+@all"});
  process wait(holdfast({"wait", "job"}), {.environment = {{"HOLDFAST_URL", url}}});
  process second(holdfast({"wait", "job", "--url", url}));
  for (process* const p : {&wait, &second}) {
    ASSERT_TRUE(eventually([&] { return !p->err().empty(); }));
    EXPECT_EQ(p->err().find("tw33t"), std::string::npos) << p->err();
    const auto arguments = file_text("/proc/" + std::to_string(p->pid()) + "/cmdline");
    EXPECT_EQ(arguments.find("tw33t"), std::string::npos);
  }
  const std::string line = "holdfast: waiting at redis://lock:***@" + at;
  const std::string held = ": job is held by pid " + std::to_string(holder.pid());
  EXPECT_EQ(wait.err().find(line + " (HOLDFAST_URL)" + held), 0u) << wait.err();
  EXPECT_EQ(second.err().find(line + " (--url)" + held), 0u) << second.err();
}

TEST_F(redis, of_a_failure_one_sentence_shows_the_url_as_it_was_given) {
  process none(holdfast({"run", "--url", "redis+unix:///nope.sock?db=3", "x", "--", "true"}));
  EXPECT_EQ(none.wait(), (ending{69, 0}));
  EXPECT_EQ(none.err(),
            "holdfast: open at redis+unix:///nope.sock?db=3: /nope.sock: there is no such socket; "
            "start the server or correct the path\n");
}

}  // namespace
}  // namespace holdfast::cli_test
#endif
