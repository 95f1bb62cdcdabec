// The findings of a diagnosis of a real server: each line of it is made worse than good.
#include <unistd.h>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

using grade = finding_grade;

class redis_examination : public on_redis {};

// No more than holdfast needs, and what a diagnosis reads besides.
constexpr const char* least_rights =
    "lock on >secret resetkeys resetchannels ~x ~holdfast:* &hf:* "
    "+multi +exec +set +incr +get +evalsha +eval +script|load +ping +time +select "
    "+client|setname +client|id +client|info +client|kill +info +subscribe +publish "
    "+del +exists +pttl +pexpire +zadd +zrem +zrange +zrank +zscore +zcard +zpopmin "
    "+hset +hget +hdel +hscan +hincrby +incrby +scan";

std::string url_as_lock(const redis_server& server) {
  return "redis://lock:secret@127.0.0.1:" + std::to_string(server.port());
}

std::vector<finding> of(const std::vector<finding>& all, std::string_view what) {
  std::vector<finding> out;
  for (const finding& f : all)
    if (f.what == what) out.push_back(f);
  return out;
}

finding one_of(const std::vector<finding>& all, std::string_view what) {
  const auto found = of(all, what);
  EXPECT_EQ(found.size(), 1u) << what;
  return found.empty() ? finding{} : found.front();
}

finding examined(const std::string& url, std::string_view what) {
  return one_of(client::open(url).diagnose(), what);
}

bool says(const finding& f, std::string_view part) {
  return f.why.find(part) != f.why.npos || f.remedy.find(part) != f.remedy.npos;
}

TEST_F(redis_examination, two_layouts_on_one_name_are_bad) {
  redis_server server;
  const client c = client::open(server.url());
  const client d = client::open(server.url() + "?layout=getset&unsafe=1");
  const lease other = d.mutex("y").acquire();
  EXPECT_EQ(one_of(c.diagnose(), "layouts").grade, grade::good);
  const lease held = d.mutex("x").acquire();
  server.command({"SET", "redisson_lock_token:{x}", "1"});
  const finding f = one_of(c.diagnose(), "layouts");
  EXPECT_EQ(f.grade, grade::bad);
  EXPECT_TRUE(says(f, "x (getset, redisson)")) << f.why;
}

TEST_F(redis_examination, of_a_durable_server_finds_nothing_wrong) {
  redis_server server({.durable = true});
  const auto c = client::open(server.url());
  std::vector<finding> all;
  EXPECT_TRUE(eventually([&] {  // a machine that is busy may be slow to answer
    all = c.diagnose();
    return one_of(all, "latency").grade == grade::good;
  }));
  for (const finding& f : all) {
    EXPECT_EQ(f.grade, grade::good) << f.what << ": " << f.why;
    EXPECT_EQ(f.remedy, "") << f.what;
  }
}

TEST_F(redis_examination, changes_nothing_and_disturbs_no_lock) {
  redis_server server;
  const auto c = client::open(server.url());
  auto held = c.mutex("x").acquire({.renew = renewal::manual});
  const auto keys = [&] { return to_text(server.command({"DEBUG", "DIGEST"})); };
  const auto before = keys();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(c.diagnose().empty());
  EXPECT_EQ(keys(), before);
  held.check();
  held.release();
  EXPECT_EQ(server.command({"GET", "holdfast:n"}).text.empty(), false);
}

TEST_F(redis_examination, while_the_same_client_locks_and_unlocks_mixes_up_nothing) {
  redis_server server;
  const auto c = client::open(server.url());
  std::atomic<bool> ends{false};
  std::jthread locking([&] {
    while (!ends) c.mutex("x").acquire().release();
  });
  for (int i = 0; i < 30; ++i)
    for (const finding& f : of(c.diagnose(), "rights")) EXPECT_EQ(f.grade, grade::good) << f.why;
  ends = true;
}

TEST_F(redis_examination, finds_that_keys_may_be_evicted) {
  redis_server server({.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
  const auto f = examined(server.url(), "eviction");
  EXPECT_EQ(f.grade, grade::bad);
  EXPECT_TRUE(says(f, "allkeys-lru") && says(f, "noeviction")) << f.why;
}

TEST_F(redis_examination, finds_what_a_restart_forgets) {
  redis_server server;
  const auto c = client::open(server.url());
  const auto persistence = [&] { return one_of(c.diagnose(), "persistence").grade; };
  EXPECT_EQ(persistence(), grade::bad) << "nothing is kept";
  server.command({"CONFIG", "SET", "save", "3600 1"});
  EXPECT_EQ(persistence(), grade::warn) << "snapshots";
  server.command({"CONFIG", "SET", "appendonly", "yes"});
  server.command({"CONFIG", "SET", "appendfsync", "everysec"});
  EXPECT_EQ(persistence(), grade::warn) << "the last second";
  server.command({"CONFIG", "SET", "appendfsync", "always"});
  EXPECT_EQ(persistence(), grade::good);
}

TEST_F(redis_examination, finds_replicas_that_lag_or_are_missing_and_a_replica) {
  redis_server master, replica;
  const auto c = client::open(master.url()), d = client::open(replica.url());
  // open() does not wait for the connection for messages. Were that made to the replica, the client
  // would leave the server.
  EXPECT_TRUE(eventually([&] {
    const std::string clients = replica.command({"CLIENT", "LIST"}).text;
    return clients.find("holdfast-messages") != clients.npos;
  }));
  master.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_EQ(one_of(c.diagnose(), "replicas").grade, grade::bad) << "none is in sync";
  master.command({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
  replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  finding of_replica;
  EXPECT_TRUE(eventually([&] {
    std::error_code ec;
    const auto all = d.diagnose(ec);
    if (!ec) of_replica = one_of(all, "replicas");
    return !ec;
  }));
  EXPECT_EQ(of_replica.grade, grade::bad);
  EXPECT_TRUE(says(of_replica, "master")) << of_replica.why;
  EXPECT_TRUE(eventually([&] { return one_of(c.diagnose(), "replicas").grade == grade::good; }));
  master.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
  EXPECT_EQ(one_of(c.diagnose(), "replicas").grade, grade::warn) << "none has to be in sync";
}

TEST_F(redis_examination, finds_that_connections_run_short) {
  redis_server server;
  std::deque<testkit::redis_link> others;
  while (others.size() < 20) others.push_back(server.link());
  const auto c = client::open(server.url());
  const auto connections = [&] { return one_of(c.diagnose(), "connections"); };
  // 22 to 24 are open: this test has 21, and the client as many of its three as it has opened.
  server.command({"CONFIG", "SET", "maxclients", "26"});
  const auto few = connections();
  EXPECT_EQ(few.grade, grade::warn) << few.why;
  EXPECT_TRUE(says(few, " of 26 ") && says(few, "maxclients")) << few.why;
  server.command({"CONFIG", "SET", "maxclients", "29"});
  const auto enough = connections();
  EXPECT_EQ(enough.grade, grade::good) << enough.why;
}

TEST_F(redis_examination, finds_a_server_of_a_cluster) {
  redis_server server({.config = {"cluster-enabled yes", "cluster-require-full-coverage no"}});
  EXPECT_EQ(examined(server.url(), "server").grade, grade::bad);
}

TEST_F(redis_examination, with_the_least_rights_finds_them_enough_and_says_what_it_could_not_read) {
  redis_server server({.acl = least_rights, .default_user = false});
  const auto all = client::open(url_as_lock(server)).diagnose();
  EXPECT_EQ(one_of(all, "rights").grade, grade::good) << one_of(all, "rights").why;
  const auto unread = one_of(all, "persistence");
  EXPECT_EQ(unread.grade, grade::warn);
  EXPECT_TRUE(unread.why.starts_with("not known: ") && says(unread, "+config|get")) << unread.why;
  for (const finding& f : all) EXPECT_FALSE(says(f, "secret")) << f.what;
}

TEST_F(redis_examination, names_every_right_that_is_missing) {
  redis_server server({.acl = least_rights, .default_user = false});
  const auto c = client::open(url_as_lock(server));
  const auto counter = server.command({"GET", "holdfast:n"}).text;
  struct missing {
    const char* right;
    grade how = grade::bad;
  };
  for (const missing& m : std::initializer_list<missing>{{"set"},
                                                         {"get"},
                                                         {"incr"},
                                                         {"incrby"},
                                                         {"del"},
                                                         {"exists"},
                                                         {"pttl"},
                                                         {"pexpire"},
                                                         {"zadd"},
                                                         {"zrem"},
                                                         {"zrange"},
                                                         {"zrank"},
                                                         {"zscore"},
                                                         {"zpopmin"},
                                                         {"zcard"},
                                                         {"hset"},
                                                         {"hget"},
                                                         {"hdel"},
                                                         {"hincrby"},
                                                         {"publish"},
                                                         {"eval"},
                                                         {"evalsha"},
                                                         {"subscribe"},
                                                         {"ping"},
                                                         {"time"},
                                                         {"multi"},
                                                         {"exec"},
                                                         {"client|kill", grade::warn},
                                                         {"client|id", grade::warn},
                                                         {"client|info", grade::warn},
                                                         {"client|setname", grade::warn},
                                                         {"info", grade::warn},
                                                         {"script|load", grade::warn},
                                                         {"scan", grade::warn},
                                                         {"hscan", grade::warn}}) {
    const bool is_subcommand = std::string_view(m.right).find('|') != std::string_view::npos;
    if (is_subcommand && !testkit::tested_redis().is_at_least(7, 0)) continue;  // cannot be denied
    server.command({"ACL", "SETUSER", "lock", "-" + std::string(m.right)});
    const auto found = of(c.diagnose(), "rights");
    server.command({"ACL", "SETUSER", "lock", "+" + std::string(m.right)});
    ASSERT_EQ(found.size(), 1u) << m.right;
    EXPECT_EQ(found[0].grade, m.how) << m.right << ": " << found[0].why;
    EXPECT_TRUE(says(found[0], m.right)) << m.right << ": " << found[0].why;
    EXPECT_NE(found[0].remedy.find("ACL SETUSER lock +"), std::string::npos) << found[0].remedy;
  }
  EXPECT_EQ(one_of(c.diagnose(), "rights").grade, grade::good);
  EXPECT_EQ(server.command({"GET", "holdfast:n"}).text, counter) << "a trial was executed";
  EXPECT_EQ(server.command({"DBSIZE"}).number, 1) << "a trial was executed";
  c.mutex("x").acquire().release();  // no command of a diagnosis is left in a transaction
}

TEST_F(redis_examination, finds_keys_and_channels_out_of_reach) {
  redis_server server({.acl = least_rights, .default_user = false});
  const auto c = client::open(url_as_lock(server));
  server.command({"ACL", "SETUSER", "lock", "resetkeys", "~x"});
  const auto keys = one_of(c.diagnose(), "rights");
  EXPECT_EQ(keys.grade, grade::bad);
  EXPECT_TRUE(says(keys, "~holdfast:*")) << keys.remedy;
  server.command({"ACL", "SETUSER", "lock", "~holdfast:*", "resetchannels"});
  EXPECT_TRUE(eventually([&] {
    const auto found = of(c.diagnose(), "rights");
    return found.size() == 1 && found[0].grade == grade::bad && says(found[0], "&hf:*");
  }));
}

TEST_F(redis_examination, of_layout_lua_asks_for_its_own_rights_and_misses_tokens) {
  redis_server server({.acl = "lock on >secret resetkeys ~x resetchannels +multi +exec +get +eval "
                              "+evalsha +script|load +ping +time +client|setname +client|id "
                              "+client|info +client|kill +info +del +pttl +pexpire +scan +type",
                       .default_user = false});
  const auto all = client::open(url_as_lock(server) + "?layout=lua").diagnose();
  EXPECT_EQ(one_of(all, "counter").grade, grade::warn);
  const auto rights = one_of(all, "rights");
  EXPECT_EQ(rights.grade, grade::bad);
  EXPECT_EQ(rights.remedy, "ACL SETUSER lock +setnx");
}

TEST_F(redis_examination, finds_clocks_that_differ_and_a_counter_ahead_of_the_clock) {
  redis_server server({.clock_shim = true});
  const auto c = client::open(server.url());
  EXPECT_EQ(one_of(c.diagnose(), "clock").grade, grade::good);
  EXPECT_EQ(one_of(c.diagnose(), "counter").grade, grade::good);
  c.mutex("x").acquire().release();
  server.set_clock(-1min);
  const auto all = c.diagnose();
  EXPECT_EQ(one_of(all, "clock").grade, grade::warn);
  EXPECT_TRUE(says(one_of(all, "clock"), "behind")) << one_of(all, "clock").why;
  EXPECT_EQ(one_of(all, "counter").grade, grade::bad) << one_of(all, "counter").why;
}

TEST_F(redis_examination, finds_a_counter_that_is_no_number) {
  redis_server server;
  const auto c = client::open(server.url());
  server.command({"SET", "holdfast:n", "many"});
  EXPECT_EQ(one_of(c.diagnose(), "counter").grade, grade::bad);
}

TEST_F(redis_examination, finds_a_long_way_to_the_server) {
  redis_server server;
  tcp_proxy proxy(server.port());
  const auto c = client::open(proxy.url());
  proxy.set_both({.delay = 60ms});
  EXPECT_NE(one_of(c.diagnose(), "latency").grade, grade::good);
}

TEST_F(redis_examination, of_a_server_that_is_away_is_unavailable) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  server.kill_hard();
  EXPECT_TRUE(eventually([&] {
    std::error_code code;
    EXPECT_TRUE(c.diagnose(code).empty() || !code);
    return code == errc::unavailable;
  }));
}

}  // namespace
}  // namespace holdfast::redis_test
