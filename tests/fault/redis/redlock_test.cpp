// Redlock on real servers: dead, slow, restarted, refusing and cut masters.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "fixture.hpp"
#include "testkit/servers/redlock_servers.hpp"

namespace holdfast::redis_test {
namespace {

using testing::HasSubstr;
using testkit::redlock_servers;

class redlock : public on_redis {
 protected:
  static client open(const redlock_servers& s, const std::string& more = "") {
    return client::open(s.url() + quick + more);
  }
  static std::string key_at(redis_server& s, const std::string& key = "x") {
    return s.command({"GET", key}).text;
  }
  // A client that was just opened may lack the vote of a server, and a majority has none to spare.
  static lease held_at_each_server(const client& c, redlock_servers& s,
                                   const acquire_options& how = {}) {
    lease held;
    EXPECT_TRUE(eventually([&] {
      held = {};
      held = c.mutex("x").acquire(how);
      for (std::size_t i = 0; i < s.size(); ++i)
        if (key_at(s[i]).empty()) return false;
      return true;
    }));
    return held;
  }
};

TEST_F(redlock, a_lock_is_held_by_one_client_and_freed_at_every_server) {
  redlock_servers s(5);
  const auto c = open(s), other = open(s);
  auto held = c.mutex("x").acquire();
  EXPECT_FALSE(other.mutex("x").try_acquire());
  const auto seen = other.holders("x");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_GT(seen.front().expires_in, 20s);
  held.release();
  for (std::size_t i = 0; i < s.size(); ++i)
    EXPECT_TRUE(eventually([&] { return key_at(s[i]).empty(); })) << i;
  EXPECT_TRUE(other.mutex("x").try_acquire());
}

TEST_F(redlock, two_of_five_may_be_dead_or_stopped) {
  redlock_servers s(5);
  const auto c = open(s), other = open(s);
  s[0].stop();
  s[4].kill_hard();
  for (int i = 0; i < 50; ++i) {
    auto held = c.mutex("x").acquire();
    EXPECT_FALSE(other.mutex("x").try_acquire());
  }
  EXPECT_TRUE(c.metrics().connected) << "to a majority";
  s[0].go_on();
}

TEST_F(redlock, without_a_majority_nothing_is_granted_and_the_servers_are_named) {
  redlock_servers s(3);
  const auto c = open(s);
  s[1].kill_hard();
  s[2].kill_hard();
  EXPECT_TRUE(eventually([&] {
    const told t = told_by([&] { (void)c.mutex("x").try_acquire(); });
    return t.code == errc::no_quorum && t.text.find(std::to_string(s[1].port())) != t.text.npos &&
           t.text.find(std::to_string(s[2].port())) != t.text.npos;
  }));
  EXPECT_FALSE(c.metrics().connected);
  s[1].start();
  EXPECT_TRUE(c.mutex("x").try_acquire_for(in_bounds));
  EXPECT_TRUE(eventually([&] { return c.metrics().connected; }));
  EXPECT_EQ(c.metrics().reconnects, 1u) << "of one server";
}

TEST_F(redlock, opening_without_a_majority_fails_and_names_the_servers) {
  redlock_servers s(3);
  s[0].kill_hard();
  s[1].kill_hard();
  const told t = told_by([&] { (void)client::open(s.url() + "?op-timeout=2s"); });
  EXPECT_EQ(t.code, errc::no_quorum);
  EXPECT_THAT(t.text, HasSubstr(std::to_string(s[0].port())));
}

TEST_F(redlock, a_waiter_waits_through_the_loss_of_a_majority) {
  redlock_servers s(3);
  const auto c = open(s);
  s[0].stop();
  s[1].stop();
  waiting_thread waiter(c);
  EXPECT_FALSE(waiter.is_served());
  s[0].go_on();
  s[1].go_on();
  EXPECT_TRUE(waiter.served().held());
}

TEST_F(redlock, a_lease_is_renewed_by_a_majority) {
  redlock_servers s(3);
  const auto c = open(s, "&ttl=1s");
  auto held = c.mutex("x").acquire();
  EXPECT_TRUE(eventually([&] {  // by its first renewal at the latest
    return !key_at(s[0]).empty() && !key_at(s[1]).empty() && !key_at(s[2]).empty();
  }));
  s[2].kill_hard();
  const auto end = std::chrono::steady_clock::now() + 4s;
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(held.held());
    std::this_thread::sleep_for(20ms);
  }
}

TEST_F(redlock, a_lease_that_a_majority_has_lost_is_lost) {
  redlock_servers s(3);
  const auto c = open(s, "&ttl=1s");
  auto held = c.mutex("x").acquire();
  s[0].command({"DEL", "x"});
  s[1].command({"DEL", "x"});
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
}

// Its lock would be granted again: one server has it, and the two others have forgotten it.
TEST_F(redlock, servers_that_were_restarted_without_their_locks_do_not_vote) {
  redlock_servers s(3, redlock_servers::history::long_running, {});
  for (std::size_t i = 0; i < s.size(); ++i)  // without a file of its own, it has just started
    s[i].command({"HSET", "holdfast:redlock", "max-ttl", "2000"});
  const auto c = open(s, "&ttl=2s&max-ttl=2s"), other = open(s, "&ttl=2s&max-ttl=2s");
  auto held = c.mutex("x").try_acquire_for(in_bounds);
  ASSERT_TRUE(held);
  s[0].restart(false);
  s[1].restart(false);
  for (int i = 0; i < 10 && held.held(); ++i) {
    std::error_code ec;
    const auto next = other.mutex("x").try_acquire(ec);
    EXPECT_FALSE(next && held.held());
  }
  const auto token = held.token();
  held = {};
  auto next = other.mutex("x").try_acquire_for(in_bounds);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), token);
}

TEST_F(redlock, an_append_only_file_brings_the_locks_back) {
  redlock_servers s(3);
  const auto c = open(s), other = open(s);
  auto held = c.mutex("x").acquire();
  for (std::size_t i = 0; i < s.size(); ++i) s[i].restart(true);
  EXPECT_FALSE(other.mutex("x").try_acquire_for(1s));
  EXPECT_TRUE(held.held());
  const auto token = held.token();
  held.release();
  auto next = other.mutex("x").try_acquire_for(in_bounds);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), token);
}

TEST_F(redlock, a_server_that_was_emptied_continues_with_the_numbers_of_the_others) {
  redlock_servers s(3);
  for (std::size_t i = 0; i < s.size(); ++i)
    s[i].command({"HSET", "holdfast:redlock", "max-ttl", "2000"});
  const auto c = open(s, "&ttl=2s&max-ttl=2s");
  const auto token = c.mutex("x").acquire().token();
  s[1].command({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] {
    (void)c.mutex("x").acquire();
    return std::atol(s[1].command({"HGET", "holdfast:redlock", "number"}).text.c_str()) >=
           token / 1024;
  }));
  EXPECT_GT(c.mutex("x").acquire().token(), token);
}

TEST_F(redlock, servers_that_were_all_emptied_while_they_ran_do_not_vote_at_once) {
  redlock_servers s(3);
  for (std::size_t i = 0; i < s.size(); ++i)
    s[i].command({"HSET", "holdfast:redlock", "max-ttl", "4000"});
  const std::string terms = "&ttl=4s&max-ttl=4s";
  const auto c = open(s, terms);
  auto held = c.mutex("x").acquire();
  const auto token = held.token();
  for (std::size_t i = 0; i < s.size(); ++i) s[i].command({"FLUSHALL"});
  const auto other = open(s, terms);
  std::error_code ec;
  while (held.held()) {
    const auto next = other.mutex("x").try_acquire(ec);
    EXPECT_FALSE(next && held.held());
    std::this_thread::sleep_for(20ms);
  }
  auto next = other.mutex("x").try_acquire_for(in_bounds);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), token);
}

// They were just started, so that they do not vote yet; their records are begun without a pause.
TEST_F(redlock, new_servers_begin_their_records_at_once) {
  redlock_servers s(3, redlock_servers::history::fresh);
  const auto c = open(s);
  for (std::size_t i = 0; i < s.size(); ++i)
    EXPECT_TRUE(eventually([&] {
      return !s[i].command({"HGET", "holdfast:redlock", "number"}).text.empty();
    })) << i;
}

TEST_F(redlock, a_server_that_was_a_replica_of_another_does_not_vote_until_its_record_is_deleted) {
  redlock_servers s(3);
  for (std::size_t i = 0; i < s.size(); ++i)
    s[i].command({"HSET", "holdfast:redlock", "max-ttl", "2000", "begun-at", s[i].info("run_id")});
  const auto c = open(s, "&ttl=2s&max-ttl=2s");
  s[1].replicate(s[0]);
  s[1].promote();
  EXPECT_TRUE(c.mutex("x").try_acquire_for(in_bounds));
  s[2].kill_hard();
  EXPECT_TRUE(eventually([&] {
    const told t = told_by([&] { (void)c.mutex("x").try_acquire(); });
    return t.code == errc::no_quorum &&
           t.text.find("has the record of 127.0.0.1:" + std::to_string(s[0].port())) != t.text.npos;
  }));
  s[2].start();
  s[1].command({"DEL", "holdfast:redlock"});
  EXPECT_TRUE(eventually([&] {
    (void)c.mutex("x").try_acquire_for(in_bounds);
    return s[1].command({"HGET", "holdfast:redlock", "begun-at"}).text == s[1].info("run_id");
  }));
}

TEST_F(redlock, a_server_that_may_evict_keys_does_not_vote) {
  redlock_servers s(3);
  for (std::size_t i : {0u, 1u}) {
    s[i].command({"CONFIG", "SET", "maxmemory", "100mb"});
    s[i].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  }
  const auto c = open(s);
  const told t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, errc::no_quorum);
  EXPECT_THAT(t.text, HasSubstr("allkeys-lru"));
}

TEST_F(redlock, opening_fails_where_a_majority_does_not_permit_info) {
  redlock_servers s(3);
  for (const std::size_t i : {0u, 1u}) s[i].command({"ACL", "SETUSER", "default", "-info"});
  const told t = told_by([&] { (void)open(s); });
  EXPECT_EQ(t.code, errc::no_quorum);
  EXPECT_THAT(t.text, HasSubstr("NOPERM"));
  EXPECT_LT(t.took, 4s);
}

// A URL has one password for all servers.
TEST_F(redlock, a_server_with_another_password_has_no_vote_and_is_named) {
  redlock_servers s(5, redlock_servers::history::long_running,
                    {.durable = true, .password = "secret"});
  s[4].command({"CONFIG", "SET", "requirepass", "another"});
  const std::string terms = "&password=secret",
                    refused = "127.0.0.1:" + std::to_string(s[4].port());
  const auto c = open(s, terms), other = open(s, terms);
  auto held = c.mutex("x").acquire();
  EXPECT_FALSE(other.mutex("x").try_acquire());
  EXPECT_EQ(key_at(s[4]), "");
  held.release();
  EXPECT_TRUE(c.metrics().connected) << "to a majority";
  const auto names_it = [&](const std::string& text) {
    return text.find(refused) != text.npos && text.find("WRONGPASS") != text.npos;
  };
  EXPECT_TRUE(eventually([&] {
    return std::ranges::any_of(c.diagnose(), [&](const finding& f) { return names_it(f.why); });
  }));
  for (const std::size_t i : {0u, 1u}) s[i].kill_hard();
  told t;
  EXPECT_TRUE(eventually([&] {
    t = told_by([&] { (void)c.mutex("x").try_acquire(); });
    return t.code == errc::no_quorum && names_it(t.text);
  })) << t.text;
}

TEST_F(redlock, opening_fails_where_a_majority_has_another_password) {
  redlock_servers s(5);
  for (const std::size_t i : {0u, 2u, 4u})
    s[i].command({"CONFIG", "SET", "requirepass", "another"});
  const told t = told_by([&] { (void)client::open(s.url() + patient); });
  EXPECT_EQ(t.code, errc::no_quorum);
  EXPECT_LT(t.took, in_bounds);
  for (const std::size_t i : {0u, 2u, 4u})
    EXPECT_THAT(t.text, HasSubstr(std::to_string(s[i].port())));
  EXPECT_THAT(t.text, HasSubstr("password"));
}

TEST_F(redlock, clients_with_different_limits_are_told) {
  redlock_servers s(3);
  const auto c = open(s, "&ttl=5s&max-ttl=10s");
  const told t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, errc::no_quorum);
  EXPECT_THAT(t.text, HasSubstr("max-ttl=10 s"));
}

TEST_F(redlock, a_server_that_is_named_by_two_addresses_has_one_vote) {
  redlock_servers s(2);
  const std::string one = std::to_string(s[0].port()), two = std::to_string(s[1].port());
  const std::string url = "redlock://127.0.0.1:" + one + ",localhost:" + one + ",127.0.0.1:" + two;
  told t;
  EXPECT_TRUE(eventually([&] {  // by the first answers of all, which may come after the opening
    t = told_by([&] {
      const auto c = client::open(url + quick);
      s[1].kill_hard();
      for (;;) (void)c.mutex("x").try_acquire();
    });
    s[1].start();
    return t.text.find("one server") != t.text.npos;
  })) << t.text;
  EXPECT_TRUE(t.code == errc::bad_url || t.code == errc::no_quorum) << t.text;
}

const redis_options with_steps{.durable = true, .clock_shim = true};

TEST_F(redlock, a_step_of_one_of_five_clocks_lets_no_other_client_in) {
  redlock_servers s(5, redlock_servers::history::long_running, with_steps);
  const auto c = open(s), other = open(s);
  for (const std::chrono::milliseconds step : {1h, -1h}) {
    auto held = held_at_each_server(c, s);
    s[0].set_clock(step);
    EXPECT_FALSE(other.mutex("x").try_acquire());
    EXPECT_TRUE(held.held());
    const auto token = held.token();
    held.release();
    const auto next = other.mutex("x").try_acquire_for(in_bounds);
    EXPECT_TRUE(next);
    EXPECT_GT(next.token(), token);
    s[0].set_clock(0ms);
  }
}

// Redlock cannot exclude that. The token of the later grant is the larger one.
TEST_F(redlock, steps_of_three_of_five_clocks_admit_two_and_the_guard_refuses_the_stale_write) {
  redlock_servers s(5, redlock_servers::history::long_running, with_steps);
  redis_server resource;
  const auto store = client::open(resource.url());
  redis_guard guard(store, "value");
  const auto c = open(s, "&ttl=50s"), other = open(s);
  const auto stale = held_at_each_server(c, s, {.renew = renewal::manual});
  for (const std::size_t i : {0, 1, 2}) s[i].set_clock(1h);
  const auto present = other.mutex("x").try_acquire_for(in_bounds);
  ASSERT_TRUE(present);
  EXPECT_TRUE(stale.held());
  EXPECT_GT(present.token(), stale.token());
  EXPECT_TRUE(guard.write(stale.token(), stale.owner(), "of the first holder"));
  EXPECT_TRUE(guard.write(present.token(), present.owner(), "of the second holder"));
  EXPECT_FALSE(guard.write(stale.token(), stale.owner(), "stale"));
  EXPECT_EQ(resource.command({"GET", "value"}).text, "of the second holder");
}

// The third server was down at the grant, and votes when it is back: one step makes a majority
// without the lock.
TEST_F(redlock, a_step_of_one_of_two_clocks_with_the_lock_admits_two_when_the_third_is_back) {
  redlock_servers s(3, redlock_servers::history::long_running, with_steps);
  s[2].kill_hard();
  const auto c = open(s, "&ttl=50s");
  const auto first = c.mutex("x").acquire({.renew = renewal::manual});
  s[0].set_clock(1h);
  std::error_code ec;
  EXPECT_FALSE(open(s).mutex("x").try_acquire(ec)) << "with one vote";
  s[2].start();
  const auto other = open(s);
  lease second;
  EXPECT_TRUE(eventually([&] {
    second = other.mutex("x").try_acquire(ec);
    return second.held();
  }));
  EXPECT_TRUE(first.held());
  EXPECT_GT(second.token(), first.token());
}

TEST_F(redlock, links_that_are_cut_at_random_lose_no_exclusion) {
  redlock_servers s(5);
  std::deque<tcp_proxy> links;
  std::string url = "redlock://";
  for (std::size_t i = 0; i < s.size(); ++i) {
    links.emplace_back(s[i].port());
    url += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(links.back().port());
  }
  const std::string one = url + quick + "&ttl=3s";
  contenders all({one, one, one}, {});
  for (std::size_t round = 0; round < 40; ++round) {
    links[round * 7 % links.size()].reset_all();
    all.wait_for_plays(5);
  }
}

}  // namespace
}  // namespace holdfast::redis_test
