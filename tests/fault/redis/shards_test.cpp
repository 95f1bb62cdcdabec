// Locks that are spread over several servers: redis+shards:.
#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <map>

#include "fixture.hpp"
#include "testkit/servers/redis_shards.hpp"
#include "testkit/servers/sentinel_servers.hpp"

namespace holdfast::redis_test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::size_t shard_count = 3;

class redis_shards : public on_redis {
 protected:
  std::string url(const std::string& more = {}) {
    return testkit::shards_url(servers_) +
           "?names=a,b,c&op-timeout=5s&retry-base=2ms&connect-timeout=2s" + more;
  }
  static std::string address_of(const redis_server& s) {
    return "127.0.0.1:" + std::to_string(s.port());
  }
  // The server that has the lock of this name, which is held.
  redis_server& server_of(const std::string& name) {
    for (redis_server& s : servers_)
      if (!s.command({"GET", name}).text.empty()) return s;
    throw std::runtime_error("no server has the lock " + name);
  }
  // A name whose lock this server has.
  std::string name_at(const client& c, redis_server& s) {
    for (int i = 0; i < 1000; ++i) {
      const std::string name = "lock" + std::to_string(i);
      const auto held = c.mutex(name).try_acquire();
      if (held && &server_of(name) == &s) return name;
    }
    throw std::runtime_error("no name of a thousand belongs to the server");
  }

  std::array<redis_server, shard_count> servers_;
};

TEST_F(redis_shards, each_name_has_one_server_and_all_servers_have_some) {
  const auto c = client::open(url()), other = client::open(url());
  std::map<redis_server*, int> counts;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "lock" + std::to_string(i);
    auto held = c.mutex(name).acquire();
    EXPECT_FALSE(other.mutex(name).try_acquire());
    ++counts[&server_of(name)];
    int holders = 0;
    for (redis_server& s : servers_) holders += s.command({"EXISTS", name}).number == 1;
    EXPECT_EQ(holders, 1) << name;
  }
  for (redis_server& s : servers_) EXPECT_GE(counts[&s], 8);
}

TEST_F(redis_shards, names_with_a_tag_in_common_are_on_one_server) {
  const auto c = client::open(url());
  const auto first = c.mutex("{order-7}").acquire(), second = c.mutex("{order-7}:lines").acquire(),
             third = c.mutex("bill of {order-7}").acquire();
  EXPECT_EQ(&server_of("{order-7}"), &server_of("{order-7}:lines"));
  EXPECT_EQ(&server_of("{order-7}"), &server_of("bill of {order-7}"));
}

// The names are the identity of the shards, not their order and addresses.
TEST_F(redis_shards, the_order_of_the_servers_is_of_no_importance) {
  const auto c = client::open(url());
  const auto turned =
      client::open("redis+shards://" + address_of(servers_[2]) + ',' + address_of(servers_[0]) +
                   ',' + address_of(servers_[1]) + "?names=c,a,b");
  for (int i = 0; i < 30; ++i) {
    const std::string name = "lock" + std::to_string(i);
    const auto held = c.mutex(name).acquire();
    EXPECT_FALSE(turned.mutex(name).try_acquire()) << name;
  }
}

TEST_F(redis_shards, a_waiter_is_served_by_a_release) {
  const auto c = client::open(url()), other = client::open(url());
  for (redis_server& s : servers_) {
    const std::string name = name_at(c, s);
    auto held = c.mutex(name).acquire();
    const auto token = held.token();
    std::thread waiter([&] { EXPECT_GT(other.mutex(name).acquire().token(), token); });
    EXPECT_TRUE(eventually_queued(s, 1, name));
    held.unlock();
    waiter.join();
  }
}

TEST_F(redis_shards, a_shard_that_is_down_concerns_its_own_locks_only) {
  const auto c = client::open(url());
  const std::string here = name_at(c, servers_[0]), there = name_at(c, servers_[1]);
  auto kept = c.mutex(there).acquire();
  servers_[0].kill_hard();
  const told t = told_by([&] { (void)c.mutex(here).try_acquire_for(300ms); });
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  for (int i = 0; i < 20; ++i) {
    kept.unlock();
    kept = c.mutex(there).acquire();
  }
  // Another's lock is busy, whatever is down elsewhere.
  EXPECT_FALSE(client::open(servers_[1].url()).mutex(there).try_acquire());
  EXPECT_FALSE(c.metrics().connected);
  EXPECT_EQ(c.metrics().reconnects, 0u);
  servers_[0].start();
  EXPECT_TRUE(c.mutex(here).try_acquire_for(in_bounds));
  EXPECT_TRUE(eventually([&] { return c.metrics().connected; }));
  EXPECT_EQ(c.metrics().reconnects, 1u);
}

TEST_F(redis_shards, a_client_opens_while_a_shard_is_down_and_says_so) {
  const auto before = client::open(url());
  const std::string here = name_at(before, servers_[0]), there = name_at(before, servers_[1]);
  servers_[0].kill_hard();
  std::string log;
  {
    const auto c = client::open(url(), logging_to(log));
    EXPECT_TRUE(c.mutex(there).try_acquire());
    servers_[0].start();
    EXPECT_TRUE(c.mutex(here).try_acquire_for(in_bounds));
  }
  EXPECT_THAT(log, HasSubstr("opened without a shard, whose locks have to wait for it: shard a: "));
}

TEST_F(redis_shards, opening_fails_where_no_shard_answers) {
  for (redis_server& s : servers_) s.kill_hard();
  const told t = told_by([&] { (void)client::open(url()); });
  EXPECT_EQ(t.code, errc::unavailable);
  EXPECT_THAT(t.text, HasSubstr("shard a: "));
}

TEST_F(redis_shards, opening_fails_where_one_shard_never_will_answer) {
  servers_[1].command({"CONFIG", "SET", "requirepass", "secret"});
  const told t = told_by([&] { (void)client::open(url()); });
  EXPECT_EQ(t.code, errc::refused);
  EXPECT_THAT(t.text, HasSubstr("shard b: "));
}

// As the server's run_id shows. No list of shards is left there.
TEST_F(redis_shards, opening_fails_where_one_server_is_two_shards) {
  const std::string one = address_of(servers_[0]);
  const std::string other = "localhost:" + std::to_string(servers_[0].port());
  for (const std::string& more : {std::string(), std::string("&names=a,b,c")}) {
    const told t = told_by([&] {
      (void)client::open("redis+shards://" + one + ',' + address_of(servers_[1]) + ',' + other +
                         quick + more);
    });
    EXPECT_EQ(t.code, errc::bad_url) << t.text;
    EXPECT_THAT(t.text, HasSubstr(one));
    EXPECT_THAT(t.text, HasSubstr(other));
    EXPECT_THAT(t.text, HasSubstr("are one server"));
    EXPECT_LT(t.took, in_bounds);
  }
  for (redis_server& s : servers_) EXPECT_EQ(s.command({"EXISTS", "holdfast:shards"}).number, 0);
}

TEST_F(redis_shards, a_list_shows_the_locks_of_all_and_a_break_reaches_each) {
  const auto c = client::open(url("&ttl=5s"));
  std::vector<lease> held;
  std::vector<std::string> names;
  for (redis_server& s : servers_) {
    names.push_back(name_at(c, s));
    held.push_back(c.mutex(names.back()).acquire());
  }
  std::vector<std::string> listed;
  EXPECT_TRUE(eventually([&] {
    listed.clear();
    for (const holder& h : c.list()) listed.push_back(h.name);
    return listed.size() == shard_count;
  }));
  EXPECT_THAT(listed, UnorderedElementsAre(names[0], names[1], names[2]));
  for (const std::string& name : names) {
    const auto seen = c.holders(name);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_TRUE(c.break_lock(name, seen.front().owner));
  }
  for (const lease& l : held) EXPECT_TRUE(eventually([&] { return !l.held(); }));
}

TEST_F(redis_shards, a_list_fails_where_a_shard_does_not_answer) {
  const auto c = client::open(url());
  servers_[2].kill_hard();
  const told t = told_by([&] { (void)c.list(); });
  EXPECT_EQ(t.code, errc::unavailable);
}

TEST_F(redis_shards, several_locks_of_several_shards_are_acquired_together) {
  const auto c = client::open(url()), other = client::open(url());
  std::vector<std::string> names;
  for (redis_server& s : servers_) names.push_back(name_at(c, s));
  auto x = c.mutex(names[0]), y = c.mutex(names[1]), z = c.mutex(names[2]);
  multi_mutex all{x, y, z};
  all.lock();
  for (const std::string& name : names) EXPECT_FALSE(other.mutex(name).try_acquire());
  all.unlock();
  for (const std::string& name : names) EXPECT_TRUE(other.mutex(name).try_acquire_for(in_bounds));
}

TEST_F(redis_shards, a_diagnosis_names_the_shard_that_differs) {
  servers_[1].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  servers_[1].command({"CONFIG", "SET", "maxmemory", "100mb"});
  const auto c = client::open(url());
  std::string all;
  for (const finding& f : c.diagnose())
    if (f.grade != finding_grade::good) all += f.why + '\n';
  EXPECT_THAT(all, HasSubstr("shard b: "));
  EXPECT_THAT(all, HasSubstr("allkeys-lru"));
}

TEST_F(redis_shards, close_reports_that_nothing_is_left_at_any_shard) {
  auto c = client::open(url());
  std::vector<lease> held;
  for (redis_server& s : servers_) held.push_back(c.mutex(name_at(c, s)).acquire());
  EXPECT_TRUE(c.close());
  for (redis_server& s : servers_)
    EXPECT_EQ(s.command({"EVAL", "return #redis.call('KEYS', 'lock*')", "0"}).number, 0);
}

TEST_F(redis_shards, contenders_exclude_each_other_while_shards_come_and_go) {
  contenders all({url("&ttl=20s"), url("&ttl=20s")}, {});
  for (redis_server& s : servers_) {
    all.wait_for_plays(30);
    s.stop();
    s.go_on();
    for (const char* type : {"normal", "pubsub"}) s.command({"CLIENT", "KILL", "TYPE", type});
  }
  all.wait_for_plays(30);
}

TEST_F(redis_shards, a_guarded_value_stands_at_the_shard_of_its_key) {
  auto c = client::open(url());
  redis_guard guard(c, "stock");
  auto held = c.mutex("x").acquire();
  EXPECT_TRUE(guard.write(held.token(), held.owner(), "7"));
  EXPECT_FALSE(guard.write(held.token() - 1024, held.owner(), "8"));
  int found = 0;
  for (redis_server& s : servers_) found += s.command({"GET", "stock"}).text == "7";
  EXPECT_EQ(found, 1);
}

class redis_shard_file : public redis_shards {
 protected:
  std::string written(const std::string& text) {
    std::ofstream(folder_.file("shards")) << text;
    return "redis+shards://" + folder_.file("shards");
  }
  told refusal_of(const std::string& text, const std::string& options = {}) {
    const std::string at = written(text);
    return told_by([&] { (void)client::open(at + options); });
  }
  testkit::scratch_folder folder_;
};

TEST_F(redis_shard_file, names_servers_of_several_kinds) {
  testkit::sentinel_servers s;
  servers_[1].command({"CONFIG", "SET", "requirepass", "secret"});
  const std::string at = written("# the first has half of the locks\n\na " + servers_[0].url() +
                                 " weight=2\nb redis://:secret@" + address_of(servers_[1]) +
                                 "?db=3\n  c " + s.url() + "  # behind sentinels\n");
  const auto c = client::open(at + "?prefix=p:"), other = client::open(at + "?prefix=p:");
  std::map<std::string, int> counts;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "lock" + std::to_string(i);
    const auto held = c.mutex(name).acquire();
    EXPECT_FALSE(other.mutex(name).try_acquire());
    ++counts[servers_[0].command({"EXISTS", "p:" + name}).number == 1  ? "a"
             : s.master().command({"EXISTS", "p:" + name}).number == 1 ? "c"
                                                                       : "b"];
  }
  EXPECT_GE(counts["a"], 18);
  EXPECT_GE(counts["b"], 5);
  EXPECT_GE(counts["c"], 5);
}

TEST_F(redis_shard_file, one_server_by_its_socket_and_by_its_port_is_refused) {
  redis_server& s = servers_[0];
  const told t = refusal_of("a " + s.socket_url() + "\nb " + s.url() + '\n');
  EXPECT_EQ(t.code, errc::bad_url) << t.text;
  EXPECT_THAT(t.text, HasSubstr("a (" + s.socket_path() + ") and b (" + address_of(s) +
                                ") are one server"));
  EXPECT_LT(t.took, in_bounds);
  EXPECT_EQ(s.command({"EXISTS", "holdfast:shards"}).number, 0);
}

TEST_F(redis_shard_file, two_databases_of_one_server_may_be_two_shards) {
  const std::string at =
      written("a " + servers_[0].url() + "?db=1\nb " + servers_[0].url() + "?db=2\n");
  const auto c = client::open(at), other = client::open(at);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "lock" + std::to_string(i);
    const auto held = c.mutex(name).acquire();
    EXPECT_FALSE(other.mutex(name).try_acquire()) << name;
  }
}

TEST_F(redis_shard_file, mistakes_are_named_with_their_line_and_without_secrets) {
  const std::string good = "a redis://127.0.0.1:1\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "the file names no shard"},
      {good + "b\n", "line 2 of the file: give a name and a URL"},
      {good + "b redis://127.0.0.1:2 2\n", "a URL may be followed by weight= and by was="},
      {good + "b redis://127.0.0.1:2 weight=0\n", "weight"},
      {good + "b! redis://127.0.0.1:2\n", "the name of a shard has"},
      {good + "a redis://127.0.0.1:2\n", "two shards have the name a"},
      {good + "b redlock://x,y,z\n", "a shard is a redis:"},
      {good + "b redis://u:hush@127.0.0.1:99999\n", "line 2 of the file: a port is not a number"},
      {good + "b redis://:hush@127.0.0.1:2?ttl=5s\n", "the option ttl is the same for all shards"},
      {good + "b redis://127.0.0.1:2?layout=lua\n", "the option layout is the same for all shards"},
      {good + "b redis://127.0.0.1:2?dbb=1\n", "dbb"},
  };
  for (const auto& [text, error] : cases) {
    const told t = refusal_of(text);
    EXPECT_TRUE(t.code == errc::bad_url || t.code == errc::bad_option) << text << t.text;
    EXPECT_THAT(t.text, HasSubstr(error)) << text;
    EXPECT_EQ(t.text.find("hush"), std::string::npos) << t.text;
  }
  EXPECT_THAT(refusal_of(good, "?db=1").text, HasSubstr("give it with its URL in the file"));
  EXPECT_THAT(told_by([] { (void)client::open("redis+shards:///no/such/file"); }).text,
              HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace holdfast::redis_test
