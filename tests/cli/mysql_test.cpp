#ifdef HOLDFAST_WITH_MYSQL
#include <signal.h>

#include <optional>
#include <sstream>

#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/mariadb_server.hpp"
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

class mysql : public cli {
 protected:
  void SetUp() override {
    if (!testkit::mariadb_server::installed())
      GTEST_SKIP() << testkit::mariadb_server::not_installed;
    server_.emplace();
  }
  // "holdfast WORD --url ... REST..." with a strategy.
  words here(const std::string& strategy, words arguments) const {
    arguments.insert(arguments.begin() + 1, {"--url", server_->url() + "?strategy=" + strategy});
    return holdfast(arguments);
  }
  words hold(const std::string& strategy) const {
    words line{"run", "job", "--"};
    for (const auto& word : sleeper()) line.push_back(word);
    return here(strategy, line);
  }
  std::string output_of(const std::string& strategy, words arguments, int code) const {
    process run(here(strategy, std::move(arguments)));
    EXPECT_EQ(run.wait(), (ending{code, 0})) << strategy << ": " << run.err();
    return run.out() + run.err();
  }
  // Of the page of `holders`.
  static std::string owner_on(const std::string& page) {
    const auto at = page.find("  owner    ");
    return at == page.npos ? "" : page.substr(at + 11, page.find('\n', at) - at - 11);
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  }

  std::optional<testkit::mariadb_server> server_;
};

constexpr const char* strategies[] = {"row", "insert", "for-update", "named"};

TEST_F(mysql, a_job_holds_its_lock_with_every_strategy_and_others_wait) {
  for (const std::string strategy : strategies) {
    process holder(hold(strategy));
    const pid_t job = number_in(holder.line());
    expect_part(output_of(strategy, {"holders", "job"}, 0), "job");
    output_of(strategy, {"run", "-n", "job", "--", "true"}, 1);
    output_of(strategy, {"wait", "-w", "50ms", "job"}, 1);
    process wait(here(strategy, {"wait", "job"}));
    ::kill(job, SIGKILL);
    EXPECT_EQ(wait.wait(), (ending{0, 0})) << strategy << ": " << wait.err();
    output_of(strategy, {"run", "-w", "60", "job", "--", "true"}, 0);
  }
}

TEST_F(mysql, rows_and_records_are_listed_and_broken) {
  for (const std::string strategy : {"row", "insert"}) {
    process holder(hold(strategy));
    number_in(holder.line());
    expect_part(output_of(strategy, {"list"}, 0), "job");
    const std::string page = output_of(strategy, {"holders", "job"}, 0);
    const std::string owner = owner_on(page);
    output_of(strategy, {"break", "job", "--owner", owner + "x"}, 1);
    output_of(strategy, {"break", "job", "--owner", owner}, 0);
    output_of(strategy, {"run", "-w", "60", "job", "--", "true"}, 0);
    output_of(strategy, {"prune"}, 0);
  }
}

// The server does not list such locks. The connection that holds a named one is shown, and is
// killed on the server.
TEST_F(mysql, locks_of_connections_are_refused_to_list_and_break_with_the_remedy) {
  for (const std::string strategy : {"for-update", "named"}) {
    process holder(hold(strategy));
    const pid_t job = number_in(holder.line());
    expect_part(output_of(strategy, {"list"}, 64), "does not list the locks of strategy=");
    const std::string page = output_of(strategy, {"holders", "job"}, 0);
    const std::string owner = owner_on(page);
    expect_part(output_of(strategy, {"break", "job", "--owner", owner}, 64),
                "KILL that connection");
    if (strategy == "named") {
      const std::string id =
          server_->query("SELECT IS_USED_LOCK(SHA2('holdfast:test/job', 256))").text();
      expect_part(page, id);
      server_->kill_connection(std::stoul(id));
      EXPECT_EQ(holder.wait(), (ending{75, 0})) << holder.err();
      EXPECT_TRUE(has_ended(job));
    }
  }
}

// The clock of its machine is wrong by an hour, and is set while it holds the lock.
TEST_F(mysql, the_clock_of_a_client_has_no_effect) {
  for (const std::string strategy : strategies) {
    testkit::clock_shim wall_clock(path("clock-" + strategy));
    start_options on_that_machine;
    for (const auto& [name, value] : wall_clock.environment())
      on_that_machine.environment[name] = value;
    const auto run_there = [&](const words& line) {
      process run(here(strategy, line), on_that_machine);
      const ending how = run.wait();
      EXPECT_EQ(how.signal, 0) << run.err();
      return how.code;
    };
    for (const auto ahead : {std::chrono::hours{1}, std::chrono::hours{-1}}) {
      wall_clock.set_offset(ahead);
      process right(hold(strategy));
      const pid_t job = number_in(right.line());
      EXPECT_EQ(run_there({"run", "-n", "job", "--", "true"}), 1) << strategy << ahead.count();
      ::kill(job, SIGKILL);
      right.wait();
      EXPECT_EQ(run_there({"run", "-w", "60", "job", "--", "true"}), 0) << strategy;
      process wrong(hold(strategy), on_that_machine);
      const pid_t job_there = number_in(wrong.line());
      output_of(strategy, {"run", "-n", "job", "--", "true"}, 1);
      wall_clock.set_offset(-ahead);
      output_of(strategy, {"run", "-n", "job", "--", "true"}, 1);
      EXPECT_FALSE(has_ended(job_there)) << wrong.err();
      ::kill(job_there, SIGKILL);
      wrong.wait();
      output_of(strategy, {"run", "-w", "60", "job", "--", "true"}, 0);
    }
  }
}

TEST_F(mysql, a_schema_that_another_user_applies_is_all_that_a_poor_user_needs) {
  server_->query("CREATE USER poor@'127.0.0.1' IDENTIFIED BY 'canary'");
  server_->query("GRANT SELECT, INSERT, UPDATE, DELETE ON test.* TO poor@'127.0.0.1'");
  const std::string place =
      "mysql://poor@127.0.0.1:" + std::to_string(server_->port()) + "/test?password-env=LOCK_PW";
  const start_options with_password{.environment = {{"LOCK_PW", "canary"}}};
  process refused(holdfast({"run", "--url", place, "job", "--", "true"}), with_password);
  EXPECT_EQ(refused.wait(), (ending{69, 0})) << refused.err();
  expect_part(refused.err(), "CREATE TABLE");
  process schema(holdfast({"schema", "--url", place}), with_password);
  EXPECT_EQ(schema.wait(), (ending{0, 0})) << schema.err();
  std::istringstream statements(schema.out());
  for (std::string one; std::getline(statements, one, ';');)
    if (one.find_first_not_of(" \n") != one.npos) server_->query(one);
  process run(holdfast({"run", "--url", place, "job", "--", "true"}), with_password);
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
  EXPECT_EQ((refused.err() + schema.out() + schema.err() + run.err()).find("canary"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::cli_test
#endif
