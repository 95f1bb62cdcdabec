#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <signal.h>
#include <holdfast/url.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "backend/zookeeper/diagnosis/probe.hpp"
#include "backend/zookeeper/settings.hpp"
#include "seam/client_options.hpp"
#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

using zookeeper::node_kind;
using zookeeper::opcode;

// A session that writes nodes by hand.
std::unique_ptr<zookeeper::probe> session_at(const std::string& text) {
  const url where = url::parse(text);
  std::vector<url::option> own;
  const seam::client_options common = seam::read_client_options(where, own);
  return std::make_unique<zookeeper::probe>(
      base::system_environment(),
      zookeeper::read_settings({where, common, own, {}, base::system_environment(), {}}));
}

zookeeper::error create(zookeeper::probe& by, const std::string& path,
                        node_kind kind = node_kind::persistent,
                        zookeeper::acl_of whose = zookeeper::acl_of::anyone) {
  std::string body;
  zookeeper::append_create(body, path, "data", kind, whose);
  return by.call(opcode::create2, std::move(body)).code;
}

class zookeeper_command : public cli {
 protected:
  void SetUp() override {
    if (!testkit::zookeeper_server::installed())
      GTEST_SKIP() << testkit::zookeeper_server::not_installed;
    // A test's own: what it starts is killed with it.
    server_.emplace(testkit::zookeeper_options{.config = {"maxSessionTimeout=3600000"}});
    by_hand_ = session_at("zookeeper://" + host());
    chroot_ = std::string("/cli_") + testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_EQ(create(*by_hand_, chroot_), zookeeper::error::ok);
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  std::string url_here(const std::string& options = "") const {
    return "zookeeper://" + host() + chroot_ + "?session-timeout=30s" + options;
  }
  words here(words arguments, const std::string& options = "") const {
    arguments.insert(arguments.begin() + 1, {"--url", url_here(options)});
    return holdfast(arguments);
  }
  words hold(const std::string& name, words options = {}) const {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {name, "--"});
    for (const auto& word : sleeper()) options.push_back(word);
    return here(options);
  }
  std::string output_of(words arguments, int code, const std::string& options = "") const {
    process run(here(std::move(arguments), options));
    EXPECT_EQ(run.wait(), (ending{code, 0})) << run.err();
    return run.out();
  }
  std::string holder_shown(const std::string& name) const {
    const auto page = output_of({"holders", name}, 0);
    const auto at = page.find("  owner    ");
    return at == page.npos ? "" : page.substr(at + 11, page.find('\n', at) - at - 11);
  }
  zookeeper::probe& by_hand() { return *by_hand_; }
  std::vector<std::string> nodes_of(const std::string& lock) {
    std::string body;
    zookeeper::append_watched_path(body, chroot_ + '/' + lock, false);
    const auto answer = by_hand_->call(opcode::get_children2, std::move(body));
    const auto all = zookeeper::read_children(answer.bytes());
    if (!all) return {};
    return {all->names.begin(), all->names.end()};
  }
  const std::string& chroot() const { return chroot_; }

  std::optional<testkit::zookeeper_server> server_;

 private:
  std::string chroot_;
  std::unique_ptr<zookeeper::probe> by_hand_;
};

constexpr const char* odd_name = "a b/c/\u00e9%";

TEST_F(zookeeper_command, a_lock_is_held_shown_waited_for_and_broken) {
  process holder(hold(odd_name, {"--note", "nightly backup"}));
  const pid_t job = number_in(holder.line());
  const std::string list = output_of({"list"}, 0), page = output_of({"holders", odd_name}, 0);
  EXPECT_NE(list.find(odd_name), list.npos) << list;
  EXPECT_NE(page.find("nightly backup"), page.npos) << page;
  EXPECT_NE(page.find(std::to_string(holder.pid())), page.npos) << page;
  EXPECT_NE(output_of({"list", "--json"}, 0).find("\"mode\":\"exclusive\""), std::string::npos);
  output_of({"run", "-n", odd_name, "--", "true"}, 1);
  output_of({"wait", "-w", "50ms", odd_name}, 1);
  const std::string seen = holder_shown(odd_name);
  output_of({"break", odd_name, "--owner", seen + "x"}, 1);
  EXPECT_FALSE(has_ended(job));
  EXPECT_NE(output_of({"break", "--json", odd_name, "--owner", seen}, 0, "&revocation-timeout=0s")
                .find("\"broken\":true"),
            std::string::npos);
  EXPECT_EQ(holder.wait(), (ending{75, 0})) << holder.err();
  EXPECT_TRUE(has_ended(job));
  EXPECT_NE(holder.err().find("the store no longer has a holder"), std::string::npos)
      << holder.err();
  output_of({"break", odd_name, "--owner", seen}, 1);
  output_of({"wait", odd_name}, 0);
  EXPECT_EQ(output_of({"holders", odd_name}, 1), std::string(odd_name) + ": free\n");
  output_of({"run", odd_name, "--", "true"}, 0);
}

// Its node would stand in the line until its session has timed out.
TEST_F(zookeeper_command, who_gives_up_leaves_nothing_in_the_line) {
  process holder(hold("job"));
  (void)holder.line();
  for (int i = 0; i < 8; ++i) {
    output_of({"run", "-q", i % 2 == 0 ? "-w50ms" : "-n", "job", "--", "true"}, 1);
    EXPECT_EQ(nodes_of("job").size(), 1u) << i;
  }
}

TEST_F(zookeeper_command, what_has_ended_leaves_no_session) {
  ASSERT_EQ(server_->sessions(), "1") << "by_hand()";
  const std::string url = "zookeeper://" + host() + chroot() + "?session-timeout=1h";
  for (const auto& [what, code] : {std::pair{words{"run", "--url", url, "job", "--", "true"}, 0},
                                   std::pair{words{"list", "--url", url}, 0},
                                   std::pair{words{"holders", "--url", url, "job"}, 1},
                                   std::pair{words{"wait", "--url", url, "job"}, 0}}) {
    process one(holdfast(what));
    EXPECT_EQ(one.wait(), (ending{code, 0})) << one.err();
    EXPECT_TRUE(eventually([&] { return server_->sessions() == "1"; })) << what[0];
  }
}

TEST_F(zookeeper_command, who_breaks_a_lock_lets_the_job_end_itself) {
  process holder(hold("job"));
  const pid_t job = number_in(holder.line());
  output_of({"break", "job", "--owner", holder_shown("job")}, 0, "&revocation-timeout=1h");
  EXPECT_EQ(holder.wait(), (ending{75, 0}));
  EXPECT_TRUE(has_ended(job));
  EXPECT_EQ(holder.err(), "holdfast: job: another program requests it; ending the command\n");
}

// Whatever its machine does to the wall clock meanwhile.
TEST_F(zookeeper_command, a_job_ends_before_its_session_does_and_not_earlier) {
  testkit::clock_shim wall_clock(path("clock"));
  testkit::tcp_proxy proxy(server_->port());
  words line{"run", "--url",
             "zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + chroot() +
                 "?session-timeout=8s",
             "job", "--"};
  for (const auto& word : sleeper()) line.push_back(word);
  start_options on_that_machine;
  for (const auto& [name, value] : wall_clock.environment())
    on_that_machine.environment[name] = value;
  process holder(holdfast(line), on_that_machine);
  const pid_t job = number_in(holder.line());
  for (const auto step : {std::chrono::hours(1), std::chrono::hours(-1)}) {
    wall_clock.set_offset(step);
    const auto before = proxy.counts().accepted;  // each renewal is a new connection
    EXPECT_TRUE(eventually([&] { return proxy.counts().accepted >= before + 3; }));
    EXPECT_FALSE(has_ended(job)) << step.count() << " h";
  }
  proxy.set_both({.hold = true});
  proxy.refuse(true);
  ASSERT_TRUE(eventually([&] { return has_ended(job); }));
  EXPECT_EQ(nodes_of("job").size(), 1u) << "its node still stands";
  EXPECT_EQ(holder.wait(), (ending{75, 0}));
  EXPECT_NE(holder.err().find("job may soon be lost"), std::string::npos) << holder.err();
}

TEST_F(zookeeper_command, grace_is_compared_with_the_session_and_not_with_a_ttl) {
  process above(here({"run", "--grace", "20s", "x", "--", "true"}));
  EXPECT_EQ(above.wait(), (ending{64, 0}));
  EXPECT_NE(above.err().find("--grace is above a third of the session's time"), std::string::npos)
      << above.err();
  // Above a third of the default ttl, which has no effect here.
  process within(
      holdfast({"run", "--url", "zookeeper://" + host() + chroot() + "?session-timeout=1h",
                "--grace", "11m", "x", "--", "true"}));
  EXPECT_EQ(within.wait(), (ending{0, 0})) << within.err();
}

TEST_F(zookeeper_command, several_locks_and_the_environment_of_the_job) {
  const std::string out = output_of(
      {"run", "one", "two", "--", "/bin/sh", "-c",
       "echo \"$HOLDFAST_NAME|$HOLDFAST_TOKEN|${HOLDFAST_EXPIRES:+set}|${HOLDFAST_TTL:-none}\""},
      0);
  EXPECT_EQ(out.find("one\ntwo|"), 0u) << out;
  EXPECT_NE(out.find("|set|none\n"), out.npos) << out;
}

TEST_F(zookeeper_command, says_what_is_wrong_with_the_url_or_the_ensemble) {
  const struct {
    std::string url;
    int code;
    std::string text;
  } cases[] = {
      {"zookeeper://" + host() + "/nothing/here", 69, "create /nothing, create /nothing/here"},
      {"zookeeper://" + host() + "/zookeeper/x", 64, "the servers' own"},
      {"zookeeper://" + host() + "/a//b", 64, "the path is the node"},
      {"zookeeper://127.0.0.1:1", 69, "127.0.0.1:1"},
      {"zookeeper://" + host() + "?layout=none", 64, "there is no layout"},
  };
  for (const auto& c : cases) {
    for (const words& command :
         {words{"list"}, words{"run", "x", "--", "true"}, words{"diagnose"}}) {
      words line = command;
      line.insert(line.begin() + 1, {"--url", c.url});
      process run(holdfast(line));
      EXPECT_EQ(run.wait(), (ending{c.code, 0})) << c.url << ": " << run.err();
      EXPECT_NE(run.err().find(c.text), std::string::npos) << c.url << ": " << run.err();
    }
  }
}

TEST_F(zookeeper_command, says_that_an_acl_refuses_the_user) {
  const auto owner = session_at("zookeeper://me:secret@" + host());
  const std::string mine = chroot() + "/mine";
  ASSERT_EQ(create(*owner, mine, node_kind::persistent, zookeeper::acl_of::creator),
            zookeeper::error::ok);
  for (const std::string user : {"", "me:wrong@"}) {
    const std::string at = "zookeeper://" + user + host() + mine;
    process run(holdfast({"run", "--url", at, "x", "--", "true"}));
    EXPECT_EQ(run.wait(), (ending{69, 0}));
    EXPECT_NE(run.err().find("ACL"), std::string::npos) << run.err();
    EXPECT_EQ(run.err().find("wrong"), std::string::npos) << run.err();
    process diagnosis(holdfast({"diagnose", "--url", at}));
    EXPECT_EQ(diagnosis.wait(), (ending{1, 0})) << diagnosis.err();
    EXPECT_NE(diagnosis.out().find("bad   rights"), std::string::npos) << diagnosis.out();
  }
  process run(
      holdfast({"run", "--url", "zookeeper://me:secret@" + host() + mine, "x", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.err();
}

TEST_F(zookeeper_command, of_a_path_with_data_or_other_nodes_the_lock_still_works) {
  ASSERT_EQ(create(by_hand(), chroot() + "/job"), zookeeper::error::ok);
  ASSERT_EQ(create(by_hand(), chroot() + "/job/0-somebody"), zookeeper::error::ok);
  output_of({"run", "job", "--", "true"}, 0);
  EXPECT_EQ(output_of({"holders", "job"}, 1), "job: free\n");
}

TEST_F(zookeeper_command, an_ephemeral_node_cannot_be_a_lock) {
  ASSERT_EQ(create(by_hand(), chroot() + "/job", node_kind::ephemeral), zookeeper::error::ok);
  process run(here({"run", "job", "--", "true"}));
  EXPECT_EQ(run.wait(), (ending{64, 0}));
  EXPECT_NE(run.err().find("ephemeral node"), std::string::npos) << run.err();
}

TEST_F(zookeeper_command, diagnose_prints_findings) {
  const std::string page = output_of({"diagnose"}, 0), json = output_of({"diagnose", "--json"}, 0);
  EXPECT_NE(page.find("warn  servers"), page.npos) << page;
  EXPECT_NE(page.find("good  sequences"), page.npos) << page;
  EXPECT_NE(json.find("\"what\":\"acl\""), json.npos) << json;
}

}  // namespace
}  // namespace holdfast::cli_test
#endif
