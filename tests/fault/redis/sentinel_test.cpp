// Locks in a Redis master that Sentinel names, and addresses, names and passwords that are wrong.
#include <gmock/gmock.h>

#include "sentinel_fixture.hpp"

namespace holdfast::redis_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class redis_sentinel_locks : public on_sentinel {};
class redis_sentinel_opening : public on_sentinel {};

std::string port_of(testkit::redis_sentinel& s) { return std::to_string(s.port()); }

// A URL that names some of the sentinels.
std::string url_of(sentinel_servers& s, const std::vector<std::size_t>& named,
                   const std::string& name = sentinel_servers::name()) {
  std::string out = "redis+sentinel://";
  for (const std::size_t i : named)
    out.append(i == named.front() ? "" : ",").append("127.0.0.1:" + port_of(s.sentinel(i)));
  return out + '/' + name;
}

told told_by_opening(const std::string& url, const std::string& more = "?op-timeout=20s") {
  return told_by([&] { (void)client::open(url + more); });
}

// A file that no other user may read.
std::string file_with(const testkit::scratch_folder& in, const std::string& password) {
  in.write("secret", password + '\n');
  using std::filesystem::perms;
  std::filesystem::permissions(in.file("secret"), perms::owner_read | perms::owner_write);
  return in.file("secret");
}

TEST_F(redis_sentinel_locks, one_client_holds_a_lock_and_waiters_are_served) {
  sentinel_servers s;
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  EXPECT_TRUE(is_kept(s.master()));
  EXPECT_FALSE(other.mutex("x").try_acquire());
  ASSERT_EQ(other.holders("x").size(), 1u);
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(s.master(), 1));
  held.unlock();
  EXPECT_TRUE(waiter.served().held());
}

TEST_F(redis_sentinel_locks, are_kept_in_the_database_of_the_url) {
  sentinel_servers s({.sentinels = 1, .quorum = 1});
  const auto c = client::open(s.url() + "/2" + quick);
  const auto held = c.mutex("x").acquire();
  EXPECT_FALSE(is_kept(s.master()));
  s.master().command({"SELECT", "2"});
  EXPECT_TRUE(is_kept(s.master()));
}

TEST_F(redis_sentinel_locks, one_of_three_sentinels_may_be_dead_or_stopped) {
  for (const bool is_dead : {true, false}) {
    sentinel_servers s(quick_failover);
    const auto early = open(s);
    is_dead ? s.sentinel(0).kill() : s.sentinel(0).stop();
    const auto late = open(s);
    const auto token = token_of_next(late);
    EXPECT_GT(token_of_next(early), token);
    s.wait_until_copied();
    s.master().kill_hard();
    s.wait_until_promoted();
    for (const client& c : {early, late, open(s)}) EXPECT_GT(token_of_next(c), token);
  }
}

TEST_F(redis_sentinel_locks, an_open_client_works_while_most_sentinels_are_dead) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s);
  auto held = mine.mutex("x").acquire();
  s.sentinel(0).kill();
  s.sentinel(1).kill();
  expect_renewable_at(s.master(), held, 20min);
  token_of_next(mine, "y");
  s.master().command({"CLIENT", "KILL", "TYPE", "normal"});  // it reconnects to the same server
  expect_renewable_at(s.master(), held, 20min);
  token_of_next(mine, "y");
}

TEST_F(redis_sentinel_locks, a_client_follows_sentinels_that_its_url_does_not_name) {
  sentinel_servers s(quick_failover);
  const auto c = client::open(url_of(s, {1}) + quick);
  const auto token = token_of_next(c);
  s.sentinel(1).kill();
  s.wait_until_copied();
  s.master().kill_hard();
  s.wait_until_promoted();
  EXPECT_GT(token_of_next(c), token);
}

// It was stopped during the failover, and names the former master until another one informs it.
TEST_F(redis_sentinel_locks, a_sentinel_that_names_a_former_master_is_outvoted) {
  sentinel_servers s(quick_failover);
  const auto held = open(s).mutex("x").acquire();
  s.sentinel(2).stop();
  s.wait_until_copied();
  redis_server& former = s.master();
  former.kill_hard();
  s.wait_until_promoted();
  former.start();
  forbid_demotion(former);
  s.wait_until_published();
  s.sentinel(2).go_on();
  const auto fresh = client::open(url_of(s, {2}) + quick);
  EXPECT_FALSE(fresh.mutex("x").try_acquire());
  EXPECT_FALSE(is_kept(former));
  EXPECT_TRUE(held.held());
}

TEST_F(redis_sentinel_locks, waiters_wait_while_no_majority_can_elect_a_master) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(s.master(), 1));
  s.wait_until_copied();
  s.sentinel(0).stop();
  s.sentinel(1).kill();
  s.master().kill_hard();
  held.unlock();
  std::error_code ec;
  EXPECT_FALSE(mine.mutex("y").try_acquire_for(1s, {}, {}, ec));
  EXPECT_EQ(ec, errc::unavailable) << ec.message();
  EXPECT_FALSE(waiter.is_served());
  s.sentinel(0).go_on();
  s.sentinel(1).start();
  s.wait_until_promoted();
  EXPECT_TRUE(waiter.served().held());
}

TEST_F(redis_sentinel_locks, over_tls_survive_a_failover) {
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  sentinel_servers s({.down_after = 500ms, .tls = true});
  const auto ca = "tls-ca=" + s.tls_files().certificate("ca");
  const auto mine = open(s, ca), other = open(s, ca);
  auto held = mine.mutex("x").acquire();
  s.wait_until_copied();
  s.master().kill_hard();
  expect_renewable_at(s.wait_until_promoted(), held, 20min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
  const told t = told_by_opening(s.url());
  EXPECT_EQ(t.code, errc::refused) << t.text;
}

TEST_F(redis_sentinel_opening, without_a_majority_of_sentinels_fails_and_names_them) {
  sentinel_servers s;
  s.sentinel(0).kill();
  s.sentinel(2).kill();
  const told t = told_by_opening(s.url(), "?op-timeout=3s");
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr(port_of(s.sentinel(0))));
  EXPECT_THAT(t.text, HasSubstr(port_of(s.sentinel(2))));
  EXPECT_THAT(t.text, Not(HasSubstr(port_of(s.sentinel(1)) + ':')));
}

TEST_F(redis_sentinel_opening, a_sentinel_that_is_named_by_two_addresses_has_one_vote) {
  sentinel_servers s;
  s.sentinel(1).kill();
  s.sentinel(2).kill();
  const std::string port = port_of(s.sentinel(0));
  const told t =
      told_by_opening("redis+sentinel://127.0.0.1:" + port + ",localhost:" + port + "/main",
                      "?op-timeout=3s");
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("1 of 3 sentinels"));
}

TEST_F(redis_sentinel_opening, with_all_sentinels_stopped_fails_after_the_op_timeout) {
  sentinel_servers s;
  for (std::size_t i = 0; i < s.sentinel_count(); ++i) s.sentinel(i).stop();
  const told t = told_by_opening(s.url(), "?op-timeout=1s");
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr(port_of(s.sentinel(0))));
}

TEST_F(redis_sentinel_opening, a_name_that_the_sentinels_do_not_know_is_reported) {
  sentinel_servers s({.sentinels = 1, .quorum = 1});
  const told t = told_by_opening(url_of(s, {0}, "mian"));
  EXPECT_EQ(t.code, errc::bad_url) << t.text;
  EXPECT_THAT(t.text, HasSubstr("mian"));
  EXPECT_THAT(t.text, HasSubstr(port_of(s.sentinel(0))));
  EXPECT_LT(t.took, in_bounds);
}

TEST_F(redis_sentinel_opening, sentinels_take_a_password_of_their_own) {
  sentinel_servers s({.password = "watchword", .acl = "asker on >whisper +@all &*"});
  const testkit::scratch_folder files;
  const auto file = [&](const std::string& password) {
    return "?op-timeout=20s&sentinel-password-file=" + file_with(files, password);
  };
  EXPECT_EQ(told_by_opening(s.url(), file("watchword")).text, "");
  EXPECT_EQ(told_by_opening(s.url(), file("whisper") + "&sentinel-user=asker").text, "");
  for (const auto& given : {std::string("?op-timeout=20s"), file("wrong-one"),
                            file("wrong-one") + "&sentinel-user=asker"}) {
    const told t = told_by_opening(s.url(), given);
    EXPECT_EQ(t.code, errc::refused) << t.text;
    EXPECT_LT(t.took, in_bounds);
    EXPECT_THAT(t.text, HasSubstr("sentinel"));
    EXPECT_THAT(t.text, Not(HasSubstr("wrong-one")));
  }
}

TEST_F(redis_sentinel_opening, one_sentinel_with_another_password_is_outvoted_and_two_are_named) {
  sentinel_servers s;
  const auto change_password = [&](std::size_t i) {
    const auto reply =
        s.sentinel(i).command({"ACL", "SETUSER", "default", "resetpass", ">another"});
    EXPECT_EQ(reply.text, "OK");
  };
  change_password(1);
  EXPECT_EQ(told_by_opening(s.url()).text, "");
  change_password(2);
  const told t = told_by_opening(s.url());
  EXPECT_EQ(t.code, errc::refused) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr(port_of(s.sentinel(1))));
  EXPECT_THAT(t.text, HasSubstr(port_of(s.sentinel(2))));
  EXPECT_THAT(t.text, HasSubstr("password"));
}

TEST_F(redis_sentinel_opening, servers_take_the_user_and_the_password_of_the_url) {
  sentinel_servers s({.servers = {.password = "grown-up", .acl = "lock on >secret ~* &* +@all"}});
  EXPECT_EQ(told_by_opening(s.url(":grown-up@")).text, "");
  EXPECT_EQ(told_by_opening(s.url("lock:secret@")).text, "");
  for (const char* user : {"", ":wrong-one@", "lock:wrong-one@"}) {
    const told t = told_by_opening(s.url(user));
    EXPECT_EQ(t.code, errc::refused) << t.text;
    EXPECT_LT(t.took, in_bounds);
    EXPECT_THAT(t.text, Not(HasSubstr("wrong-one")));
  }
}

// docs/sentinel.md lists all rights that the client uses, and those that it cannot do without.
TEST_F(redis_sentinel_opening, a_user_of_the_sentinels_needs_few_rights) {
  const std::string required =
      "resetchannels &+switch-master -@all +auth +subscribe +sentinel|get-master-addr-by-name "
      "+sentinel|master";
  const std::string all = " +hello +ping +role +info +client|setname +client|id +client|info";
  const std::string others = " +sentinel|sentinels +sentinel|replicas";
  for (const std::string& rights :
       {required + all + others + " +sentinel|myid", required + others, required}) {
    sentinel_servers s(
        {.down_after = 500ms, .password = "watchword", .acl = "asker on >whisper " + rights});
    const testkit::scratch_folder files;
    const auto c =
        open(s, "sentinel-user=asker&sentinel-password-file=" + file_with(files, "whisper"));
    const auto token = token_of_next(c);
    s.wait_until_copied();
    s.master().kill_hard();
    s.wait_until_promoted();
    EXPECT_GT(token_of_next(c), token) << rights;
  }
}

TEST_F(redis_sentinel_opening, the_address_of_a_redis_server_instead_of_a_sentinel_is_reported) {
  redis_server server;
  const std::string port = std::to_string(server.port());
  const told t = told_by_opening("redis+sentinel://127.0.0.1:" + port + "/main");
  EXPECT_TRUE(t.code) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("entinel"));
  EXPECT_THAT(t.text, HasSubstr(port));
}

TEST_F(redis_sentinel_opening, the_address_of_a_sentinel_instead_of_a_redis_server_is_reported) {
  sentinel_servers s({.sentinels = 1, .quorum = 1});
  const told t = told_by_opening("redis://127.0.0.1:" + port_of(s.sentinel(0)));
  EXPECT_TRUE(t.code) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_THAT(t.text, HasSubstr("redis+sentinel://"));
}

}  // namespace
}  // namespace holdfast::redis_test
