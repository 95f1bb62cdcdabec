// The name of a server leads to one that must not grant locks: a replica, or a former master that
// another one has replaced and that still takes writes.
#include "two_servers.hpp"

namespace holdfast::redis_test {
namespace {

class redis_stale_master : public on_redis, public testing::WithParamInterface<const char*> {
 protected:
  static client open(const std::string& url) {
    return client::open(url + "?retry-base=2ms&ttl=10m&close-timeout=1s&layout=" + GetParam());
  }
};

bool takes_the_lock(const client& c) {
  std::error_code ec;
  auto held = c.mutex("x").try_acquire_for(in_bounds, {}, {}, ec);
  EXPECT_TRUE(held) << ec.message();
  const bool is_granted = static_cast<bool>(held);
  if (held) held.release();
  return is_granted;
}

// A client has seen the promotion of the replica; then the name leads back to the first master.
struct led_back {
  explicit led_back(client (*open)(const std::string&)) : mine(open(name.url())) {
    EXPECT_TRUE(takes_the_lock(mine));
    of.b.catch_up_with(of.a);  // or the released lock would be held there
    of.b.promote();
    name.move_to(of.b);
    EXPECT_TRUE(takes_the_lock(mine));
  }
  void lead_back() { name.move_to(of.a); }
  // The text of the refusal.
  std::string refused() {
    const auto t = told_by([&] { (void)mine.mutex("x").try_acquire_for(5s); });
    EXPECT_EQ(t.code, errc::unavailable) << t.text;
    EXPECT_EQ(of.a.command({"EXISTS", "x"}).number, 0);
    return t.text;
  }

  two_servers of;
  floating_name name{of.a};
  client mine;
};

bool mentions(const std::string& text, const std::string& word) {
  return text.find(word) != text.npos;
}

TEST_P(redis_stale_master, is_refused_with_both_servers_in_the_text) {
  led_back back(open);
  back.lead_back();
  const std::string text = back.refused();
  for (redis_server* s : {&back.of.a, &back.of.b}) {
    EXPECT_TRUE(mentions(text, ':' + std::to_string(s->port()))) << text;
    EXPECT_TRUE(mentions(text, s->info("master_replid").substr(0, 8))) << text;
  }
  EXPECT_TRUE(mentions(text, "REPLICAOF NO ONE")) << text;
}

TEST_P(redis_stale_master, is_accepted_after_the_operator_has_given_it_a_new_term) {
  led_back back(open);
  back.lead_back();
  back.refused();
  redis_server& a = back.of.a;
  a.command({"MULTI"});
  a.command({"REPLICAOF", "127.0.0.1", "1"});
  a.command({"REPLICAOF", "NO", "ONE"});
  EXPECT_FALSE(a.command({"EXEC"}).is_error());
  EXPECT_TRUE(takes_the_lock(back.mine));
  EXPECT_TRUE(takes_the_lock(open(back.name.url())));
}

TEST_P(redis_stale_master, is_accepted_when_the_newer_one_has_become_its_replica) {
  led_back back(open);
  back.of.b.replicate(back.of.a);
  back.lead_back();
  EXPECT_TRUE(takes_the_lock(back.mine));
}

// The network between the two was cut before the promotion, so it still lists the newer one as an
// online replica.
TEST_P(redis_stale_master, is_refused_though_it_lists_the_newer_one_as_its_replica) {
  redis_server a, b;
  tcp_proxy between(a.port());
  b.command({"REPLICAOF", "127.0.0.1", std::to_string(between.port())});
  EXPECT_TRUE(eventually([&] { return b.info("master_link_status") == "up"; }));
  floating_name name(a);
  const client mine = open(name.url());
  EXPECT_TRUE(takes_the_lock(mine));
  b.catch_up_with(a);
  between.set_both({.hold = true});
  b.promote();
  name.move_to(b);
  auto held = mine.mutex("x").acquire();
  name.move_to(a);
  const auto t = told_by([&] { (void)mine.mutex("y").try_acquire_for(5s); });
  EXPECT_TRUE(mentions(a.info("slave0"), "state=online")) << a.info("slave0");
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_EQ(a.command({"EXISTS", "y"}).number, 0);
}

TEST_P(redis_stale_master, does_not_confirm_the_release_of_a_lock_that_the_newer_one_keeps) {
  led_back back(open);
  auto held = back.mine.mutex("x").acquire();
  back.lead_back();
  held.unlock();
  EXPECT_FALSE(back.mine.close());
  EXPECT_EQ(back.of.b.command({"EXISTS", "x"}).number, 1);
}

// As it does when it has had no replica for an hour.
TEST_P(redis_stale_master, is_refused_though_its_replication_id_has_changed) {
  led_back back(open);
  back.of.a.command({"DEBUG", "CHANGE-REPL-ID"});
  back.lead_back();
  back.refused();
}

// The name leads to the newer one again.
TEST_P(redis_stale_master, is_left_by_a_waiter) {
  led_back back(open);
  back.lead_back();
  back.refused();
  std::jthread returns([&] { back.name.move_to(back.of.b); });
  EXPECT_TRUE(takes_the_lock(back.mine));
}

INSTANTIATE_TEST_SUITE_P(, redis_stale_master, testing::Values("string", "redisson", "lua"),
                         [](const auto& p) { return std::string(p.param); });

class redis_replica : public on_redis {};

TEST_F(redis_replica, is_refused_by_open) {
  two_servers of;
  const auto t = told_by([&] { (void)client::open(of.b.url() + "?op-timeout=3s&retry-base=2ms"); });
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_TRUE(mentions(t.text, "replica")) << t.text;
}

TEST_F(redis_replica, that_is_promoted_meanwhile_is_opened) {
  two_servers of;
  told opened;
  std::jthread opens(
      [&] { opened = told_by([&] { (void)client::open(of.b.url() + "?op-timeout=60s"); }); });
  of.b.promote();
  opens.join();
  EXPECT_FALSE(opened.code) << opened.text;
}

}  // namespace
}  // namespace holdfast::redis_test
