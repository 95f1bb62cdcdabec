// A user who may do no more than holdfast needs; and what is left when everybody has gone.
#include "../../stress/mixed_player.hpp"
#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

class redis_acl : public on_redis {};

// Keys: the locks and what stands beside them. Channels: the clients'. Commands: those that are
// sent, and those that the scripts call.
constexpr const char* least =
    "lock on >secret resetkeys resetchannels ~stress/* ~x ~holdfast:* &hf:* "
    "+multi +exec +set +incr +get +evalsha +eval +script|load +ping +time +select "
    "+client|setname +client|id +client|info +client|kill +info +subscribe +publish "
    "+del +exists +pttl +pexpire +zadd +zrem +zrange +zrank +zscore +zcard +zpopmin "
    "+hset +hget +hdel +hscan +hincrby +incrby +scan";

std::string url_of(const redis_server& server) {
  return "redis://lock:secret@127.0.0.1:" + std::to_string(server.port()) + quick_with("ttl=1s");
}

TEST_F(redis_acl, the_least_rights_are_enough_for_everything) {
  redis_server server({.acl = least, .default_user = false});
  {
    contenders all({url_of(server), url_of(server), url_of(server)},
                   {.check = {.wake_bound = in_bounds, .lapse = 2s}});
    for (int i = 0; i < 20; ++i) {
      server.command({"CLIENT", "KILL", "TYPE", i % 2 ? "pubsub" : "normal"});
      server.command({"SCRIPT", "FLUSH"});
      all.wait_for_plays(15);
    }
  }
  auto held = client::open(url_of(server)).mutex("x").acquire({.ttl = 6s});
  const auto before = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > before; })) << "is not renewed";
  held.release();
  const auto denied = server.command({"ACL", "LOG"});
  EXPECT_TRUE(denied.items.empty()) << to_text(denied);
  expect_nothing_left(server);
}

TEST_F(redis_acl, the_least_rights_are_enough_for_readers_permits_and_several_locks) {
  redis_server server({.acl = least, .default_user = false});
  const auto seed = stress::seed_of_run();
  stress::troupe all({url_of(server), url_of(server)}, 3, stress::cast_of<stress::mixed_player>(),
                     stress::seed_of_run());
  const auto operators = client::open(url_of(server));
  while (all.plays() < 300) {
    (void)operators.holders("stress/permits");
    (void)operators.list("stress/");
  }
  all.end();
  const auto denied = server.command({"ACL", "LOG"});
  EXPECT_TRUE(denied.items.empty()) << to_text(denied);
  stress::expect_sound(all.history(), {.wake_bound = in_bounds, .lapse = 2s}, seed);
}

TEST_F(redis_acl, without_the_right_to_end_old_connections_no_promise_is_broken) {
  if (!testkit::tested_redis().is_at_least(7, 0))
    GTEST_SKIP() << "skipped: this server takes no subcommand away from a user";
  redis_server server({.acl = std::string(least) + " -client|kill", .default_user = false});
  tcp_proxy proxy(server.port());
  const auto url =
      "redis://lock:secret@127.0.0.1:" + std::to_string(proxy.port()) + quick_with("ttl=1s");
  {
    contenders all({url, url, url_of(server)}, {.check = {.wake_bound = in_bounds, .lapse = 2s}});
    for (int i = 0; i < 40; ++i) {
      proxy.reset_all();
      all.wait_for_plays(10);
    }
  }
}

TEST_F(redis_acl, rights_that_are_missing_are_named) {
  redis_server server({.acl = std::string(least) + " -evalsha -eval", .default_user = false});
  const auto t = told_by([&] { (void)client::open(url_of(server)).mutex("x").acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_NE(t.text.find("eval"), std::string::npos) << t.text;
  EXPECT_EQ(t.text.find("secret"), std::string::npos) << t.text;
}

TEST_F(redis_acl, a_key_out_of_reach_is_refused_by_name) {
  redis_server server({.acl = least, .default_user = false});
  const auto c = client::open(url_of(server));
  const auto t = told_by([&] { (void)c.mutex("elsewhere").acquire(); });
  EXPECT_EQ(t.code, errc::refused) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_EQ(server.command({"EXISTS", "elsewhere"}).number, 0);
  c.mutex("x").acquire().release();
}

TEST_F(redis_acl, a_list_leaves_out_the_locks_that_the_user_may_not_read) {
  for (const std::string layout : {"string", "lua"}) {
    redis_server server({.acl = "lock on >secret ~x ~holdfast:* &* +@all"});
    const auto with_layout = quick_with("layout=" + layout);
    const auto everybody = client::open(server.url() + with_layout);
    const auto c = client::open("redis://lock:secret@127.0.0.1:" + std::to_string(server.port()) +
                                with_layout);
    const auto theirs = everybody.mutex("elsewhere").acquire({.ttl = 6s});
    const auto mine = c.mutex("x").acquire({.ttl = 6s});
    EXPECT_TRUE(eventually([&] { return everybody.list().size() == 2; })) << layout;
    const auto shown = c.list();
    ASSERT_EQ(shown.size(), 1u) << layout;
    EXPECT_EQ(shown.front().name, "x");
    EXPECT_EQ(told_by([&] { (void)c.holders("elsewhere"); }).code, errc::refused) << layout;
  }
}

// The script puts the claim in line and is stopped where it would tell the holder.
TEST_F(redis_acl, a_wait_that_is_stopped_half_way_leaves_no_place_in_the_queue) {
  redis_server server({.acl = "lock on >secret ~* &* +@all -publish"});
  const auto other = client::open(server.url());
  auto held = other.mutex("x").acquire();
  const auto c = client::open(url_of(server));
  const auto t = told_by([&] { (void)c.mutex("x").acquire(); });
  EXPECT_EQ(t.code, errc::refused) << t.text;
  EXPECT_NE(t.text.find("@user_script"), std::string::npos) << t.text;
  EXPECT_TRUE(eventually_queued(server, 0));
  const auto next = client::open(server.url());
  waiting_thread waiter(next);
  EXPECT_TRUE(eventually_queued(server, 1));
  held.release();
  waiter.served().release();
  expect_no_key_left(server);
}

// In full, and in one step with the next claim of the releasing client.
struct refused_hand_over {
  bool in_one_step;
  std::string right;  // that the server refuses
};

class redis_acl_refuses_a_hand_over : public redis_acl,
                                      public testing::WithParamInterface<refused_hand_over> {};

TEST_P(redis_acl_refuses_a_hand_over, and_the_waiter_keeps_its_place_and_its_note) {
  redis_server server({.acl = "lock on >secret ~* &* +@all"});
  peer p("redis://lock:secret@127.0.0.1:" + std::to_string(server.port()));
  peer other(server.url());
  test_claim first(p, "x"), again(p, "x"), next(other, "x");
  ASSERT_TRUE(first.get(alone(15s)));
  next.ask(alone());
  ASSERT_TRUE(eventually_queued(server, 1));
  server.command({"HSET", "holdfast:{x}:x:m", next.owner(), "1000"});
  server.command({"ACL", "SETUSER", "lock", "-" + GetParam().right});
  if (GetParam().in_one_step) {
    first.release_to(again, alone());
  } else {
    first.release_soon();
  }
  ASSERT_TRUE(eventually([&] { return !server.command({"ACL", "LOG"}).items.empty(); }));
  const auto line = server.command({"ZRANGE", "holdfast:{x}:x:q", "0", "0"}).items;
  ASSERT_EQ(line.size(), 1);
  EXPECT_EQ(line[0].text, next.owner());
  EXPECT_EQ(server.command({"HGET", "holdfast:{x}:x:m", next.owner()}).text, "1000");
  EXPECT_EQ(server.command({"GET", "x"}).text, first.owner());
  server.command({"ACL", "SETUSER", "lock", "+" + GetParam().right});
  ASSERT_TRUE(next.heard.hears('g'));
  ASSERT_TRUE(next.is_granted());
}

INSTANTIATE_TEST_SUITE_P(
    redis_acl, redis_acl_refuses_a_hand_over,
    testing::Values(refused_hand_over{false, "set"}, refused_hand_over{true, "set"},
                    refused_hand_over{false, "publish"}, refused_hand_over{true, "publish"}),
    [](const auto& one) {
      return one.param.right + (one.param.in_one_step ? "_in_one_step" : "_in_full");
    });

// A script that is refused between two of its commands stays as far as it came.
constexpr std::int64_t without_end = -1;  // PTTL of a key that never expires

TEST_F(redis_acl, a_reader_that_is_refused_half_way_leaves_no_lock_without_end) {
  redis_server server({.acl = std::string(least) + " -zadd", .default_user = false});
  const auto c = client::open(url_of(server));
  std::error_code ec;
  (void)c.shared_mutex("x").acquire_shared(ec);
  EXPECT_EQ(ec, errc::refused) << ec.message();
  EXPECT_NE(server.command({"PTTL", "x"}).number, without_end);
}

TEST_F(redis_acl, a_downgrade_that_is_refused_half_way_leaves_no_lock_without_end) {
  redis_server server({.acl = least, .default_user = false});
  const auto c = client::open(url_of(server));
  auto table = c.shared_mutex("x");
  auto writer = table.acquire({.ttl = 10min});
  server.command({"ACL", "SETUSER", "lock", "-zadd"});
  const auto reader = table.downgrade(std::move(writer));
  EXPECT_TRUE(eventually([&] { return !server.command({"ACL", "LOG"}).items.empty(); }));
  EXPECT_NE(server.command({"PTTL", "x"}).number, without_end);
}

TEST_F(redis_acl, nothing_stays_behind_when_all_clients_have_gone) {
  redis_server server;
  {
    contenders all({server.url(), server.url(), server.socket_url()},
                   {.check = {.wake_bound = in_bounds}});
    all.wait_for_plays(300);
  }
  expect_nothing_left(server);
  EXPECT_TRUE(eventually([&] {
    const auto clients = server.command({"CLIENT", "LIST", "TYPE", "normal"}).text;
    return std::count(clients.begin(), clients.end(), '\n') == 1;
  }));
}

TEST_F(redis_acl, a_downgrade_that_the_server_refuses_half_way_lets_no_other_client_in) {
  redis_server server({.acl = least});
  peer holding(url_of(server)), others(server.url());
  test_claim writer(holding, "x"), reader(others, "x"), second(others, "x");
  ASSERT_TRUE(writer.get(alone()));
  server.command({"ACL", "SETUSER", "lock", "-zadd"});
  writer.downgrade();
  ASSERT_TRUE(eventually([&] { return !server.command({"ACL", "LOG"}).items.empty(); }));
  EXPECT_FALSE(reader.get(once(reading()))) << "the holder is not a reader yet";
  EXPECT_FALSE(second.get(once(alone())));
  server.command({"ACL", "SETUSER", "lock", "+zadd"});
  EXPECT_TRUE(eventually([&] { return reader.get(once(reading())); })) << "it is repeated";
  EXPECT_EQ(reader.number(), writer.number());
  EXPECT_TRUE(writer.renew(usual_ttl));
}

}  // namespace
}  // namespace holdfast::redis_test
