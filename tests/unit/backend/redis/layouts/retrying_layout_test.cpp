// Whole clients of layout `lua`, on the model of Redis: the retrying recipe, its layout and its
// codec together.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/layouts/two_nodes.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using testkit::thrown_by;

constexpr std::string_view nobody = "$-1\r\n";

struct redis_lua : testing::Test {
  on_model world;
  client c = world.open("layout=lua");

  ~redis_lua() override { world.changed = nullptr; }

  std::string stored(std::string_view key = "job") { return world.command({"GET", key}); }
  client other() { return world.open("layout=lua"); }
  std::vector<std::string> listed(std::string_view prefix = {}) const {
    std::vector<std::string> out;
    for (const holder& h : c.list(prefix)) out.push_back(h.name);
    return out;
  }
  void pass(base::duration d) { world.pass(d); }
};

TEST_F(redis_lua, acquires_renews_and_releases) {
  mutex m(c, "job");
  lease held = m.acquire();
  EXPECT_EQ(stored().substr(0, 9), "$36\r\nhfl:");
  EXPECT_EQ(held.token(), 0);
  pass(5min);
  EXPECT_TRUE(held.held());
  held.extend(1h);
  EXPECT_GT(held.expires() - world.now(), 59min);
  held.unlock();
  pass(0s);
  c.close();
  EXPECT_EQ(stored(), nobody);
}

TEST_F(redis_lua, an_owner_is_drawn_anew_in_both_halves_for_each_attempt) {
  std::vector<std::string> owners;
  for (int i = 0; i < 2; ++i) {
    const lease held = mutex(c, "job").acquire();
    owners.push_back(stored());
  }
  constexpr std::size_t begin = std::string_view("$36\r\nhfl:").size(), half = 16;
  for (const std::size_t at : {begin, begin + half})
    EXPECT_NE(owners[0].substr(at, half), owners[1].substr(at, half));
}

TEST_F(redis_lua, excludes_others_also_of_another_layout) {
  const client theirs = other(), of_string = world.open();
  mutex m(c, "job"), n(theirs, "job"), s(of_string, "job");
  lease held = m.acquire();
  EXPECT_FALSE(n.try_acquire());
  EXPECT_FALSE(s.try_acquire());
  held.release();
  EXPECT_TRUE(s.try_acquire());
}

TEST_F(redis_lua, a_waiter_polls_and_gets_the_lock_after_its_release) {
  const client theirs = other();
  mutex m(c, "job"), n(theirs, "job");
  lease held = m.acquire();
  EXPECT_FALSE(n.try_acquire_for(300ms));
  held.unlock();
  EXPECT_TRUE(n.try_acquire_for(5s));
}

TEST_F(redis_lua, a_waiter_gets_what_a_dead_holder_has_left) {
  world.command({"SET", "job", "somebody", "PX", "3000"});
  mutex m(c, "job");
  const auto before = world.now();
  const lease held = m.acquire();
  EXPECT_TRUE(held.held());
  EXPECT_GE(world.now() - before, 3s);
}

TEST_F(redis_lua, a_taken_lock_is_lost_and_its_release_harms_nobody) {
  mutex m(c, "job");
  lease held = m.acquire();
  world.command({"SET", "job", "somebody"});
  pass(15s);
  EXPECT_EQ(held.status(), errc::lost);
  held.unlock();
  pass(0s);
  EXPECT_EQ(stored(), "$8\r\nsomebody\r\n");
}

TEST_F(redis_lua, a_connection_cut_with_an_attempt_under_way_leaves_no_ghost) {
  mutex m(c, "job");
  int cuts = 3;
  world.changed = [&](std::string bytes) {
    const bool is_grant = bytes == "*1\r\n:1\r\n";
    return is_grant && cuts-- > 0 ? std::string("no reply\r\n") : bytes;
  };
  lease held = m.acquire();
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_EQ(stored(), nobody);
  EXPECT_TRUE(c.close());
}

TEST_F(redis_lua, a_server_that_forgot_its_scripts_is_sent_their_text) {
  mutex m(c, "job");
  m.acquire().release();
  world.model.script_flush();
  lease held = m.acquire();
  EXPECT_TRUE(held.held());
  world.model.script_flush();
  pass(5min);
  EXPECT_TRUE(held.held());
  world.model.script_flush();
  held.release();
  EXPECT_EQ(stored(), nobody);
}

TEST_F(redis_lua, renews_over_the_connection_for_commands_when_no_other_can_be_made) {
  mutex m(c, "job");
  world.refuses_connections = true;
  const lease held = m.acquire();
  pass(5min);
  EXPECT_TRUE(held.held());
}

TEST_F(redis_lua, an_attempt_in_an_outage_is_unavailable_and_a_waiter_waits_through_it) {
  mutex m(c, "job");
  world.model.set_readonly(true);
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire(); }), errc::unavailable);
  world.model.set_readonly(false);
  EXPECT_TRUE(m.acquire().held());
}

TEST_F(redis_lua, what_the_server_refuses_has_its_reason) {
  mutex m(c, "job");
  world.model.forbid("evalsha");
  try {
    (void)m.acquire();
    ADD_FAILURE() << "nothing was refused";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::refused);
    EXPECT_NE(std::string(e.what()).find("NOPERM"), std::string::npos) << e.what();
  }
}

TEST_F(redis_lua, an_attempt_that_failed_half_way_is_withdrawn) {
  mutex m(c, "job");
  world.model.forbid("pexpire");
  EXPECT_EQ(thrown_by([&] { (void)m.acquire(); }), errc::refused);
  EXPECT_TRUE(c.close());
  EXPECT_EQ(stored(), nobody);
}

TEST_F(redis_lua, shows_the_holder_and_breaks_the_lock_it_was_shown) {
  mutex m(c, "job");
  const lease held = m.acquire();
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "job");
  EXPECT_EQ(found[0].owner, held.owner());
  EXPECT_GT(found[0].expires_in, 20s);
  EXPECT_FALSE(c.break_lock("job", "somebody"));
  EXPECT_TRUE(c.break_lock("job", found[0].owner));
  EXPECT_TRUE(c.holders("job").empty());
}

TEST_F(redis_lua, lists_a_lock_once_that_the_server_finds_twice) {
  const lease a = mutex(c, "a").acquire(), b = mutex(c, "b").acquire();
  world.changed = [](std::string bytes) {
    const bool is_of_scan = bytes.starts_with("*2\r\n$1\r\n0\r\n");
    return is_of_scan ? "*2\r\n$1\r\n0\r\n*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\na\r\n" : bytes;
  };
  EXPECT_EQ(listed(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(redis_lua, lists_what_is_found_in_several_steps) {
  const lease a = mutex(c, "a").acquire(), b = mutex(c, "b").acquire();
  int scans = 0;
  world.changed = [&](const std::string& bytes) -> std::string {
    if (!bytes.starts_with("*2\r\n$1\r\n0\r\n")) return bytes;
    return ++scans == 1 ? "*2\r\n$1\r\n7\r\n*1\r\n$1\r\nb\r\n"
                        : "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n";
  };
  EXPECT_EQ(listed(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(redis_lua, lists_its_own_locks_by_prefix_and_nothing_else) {
  mutex a(c, "a*1"), b(c, "b"), braces(c, "a{x}");
  const lease one = a.acquire(), other = b.acquire(), third = braces.acquire();
  world.command({"SET", "a*2", "somebody"});
  world.command({"HSET", "a*3", "a", "b"});
  EXPECT_EQ(listed(""), (std::vector<std::string>{"a*1", "a{x}", "b"}));
  EXPECT_EQ(listed("a*"), std::vector<std::string>{"a*1"}) << "a prefix is no pattern";
  EXPECT_EQ(listed("none"), std::vector<std::string>{});
  EXPECT_EQ(c.holders("a*2").front().owner, "somebody");
}

TEST_F(redis_lua, has_exclusive_locks_only) {
  EXPECT_EQ(thrown_by([&] { (void)c.shared_mutex("job"); }), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)c.semaphore("job", 2); }), errc::unsupported);
  EXPECT_FALSE(c.features().shared);
  EXPECT_FALSE(c.features().permits);
  EXPECT_FALSE(c.features().fifo);
}

TEST_F(redis_lua, a_prefix_stands_before_the_name) {
  const client of_shop = world.open("layout=lua&prefix=shop:");
  mutex m(of_shop, "job");
  const lease held = m.acquire();
  EXPECT_NE(stored("shop:job"), nobody);
  EXPECT_EQ(stored("job"), nobody);
}

TEST_F(redis_lua, a_layout_that_there_is_not_is_refused) {
  EXPECT_EQ(thrown_by([&] { (void)world.open("layout=none"); }), errc::bad_option);
}

TEST(redis_getset, stamps_an_attempt_when_it_is_sent) {
  on_model world;
  const client c = world.open("layout=getset&unsafe=1");
  const auto now_ms = [&] { return world.wall().count() / 1000; };
  const auto stamp = [&] { return std::stoll(world.command({"GET", "job.lock"}).substr(5)); };
  lease held = c.mutex("job").acquire();
  const auto ahead = stamp() - now_ms();
  held.release();
  world.dead.push_back(&world.model);
  world.model.restart(sim::kept::everything);
  world.at(3s, [&] { world.dead.clear(); });
  held = c.mutex("job").acquire();
  EXPECT_NEAR(static_cast<double>(stamp()), static_cast<double>(now_ms() + ahead), 20);
}

TEST(redis_redisson_moving_keys, are_granted_by_the_server_that_has_them) {
  two_nodes w(true, "redisson-spin");
  w.pass();
  w.move_keys_before("*2\r\n:1\r\n");
  const recorded_claim& c = w.held("moving-job");
  w.pass(1s);
  EXPECT_TRUE(w.servers.has_moved);
  EXPECT_EQ(c.log, "granted ");
  EXPECT_EQ(w.at_second("moving-job"), ":1\r\n");
}

TEST(redis_redisson_moving_keys, are_requested_from_their_new_server_if_nothing_was_sent_yet) {
  two_nodes w(true, "redisson-spin");
  w.pass();
  w.world.refuses_connections = true;
  w.world.model.restart(sim::kept::everything);
  const recorded_claim& c = w.held("moving-job");
  EXPECT_EQ(c.log, "");
  w.move_keys();
  w.pass();
  EXPECT_EQ(c.log, "granted ");
  EXPECT_EQ(w.at_second("moving-job"), ":1\r\n");
}

TEST(redis_redisson_moving_keys, are_renewed_by_the_server_that_has_them) {
  two_nodes w(true, "redisson-spin");
  w.pass();
  recorded_claim& c = w.held("moving-job");
  c.renew(1);  // opens the connection
  w.pass();
  w.move_keys_before("");
  c.renew(2);
  w.pass();
  EXPECT_TRUE(w.servers.has_moved);
  EXPECT_EQ(c.log, "granted extended 1 doubtful lost ");
}

}  // namespace
}  // namespace holdfast::redis
