// Layout `redisson-permits` on the wire: what it leaves at the server, and what it makes of what
// others left there. The rows are those of RPermitExpirableSemaphore.
#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

const std::string timeouts = "{x}:timeout", channel = "redisson_sc:{x}";
const std::string foreign_permit = "0123456789abcdef";
const std::string foreign_id = "30313233343536373839616263646566";

std::int64_t wall_ms() {
  using namespace std::chrono;
  return floor<milliseconds>(system_clock::now().time_since_epoch()).count();
}

class redis_redisson_permits : public on_redis {
 protected:
  std::string url(const std::string& more = "ttl=30s") const {
    return server().url() + quick_with("layout=redisson-permits&" + more);
  }
  redis_server& server() const {
    if (!server_) server_ = std::make_unique<redis_server>();
    return *server_;
  }
  std::string available() const { return server().command({"GET", "x"}).text; }
  // As Redisson's client with that permit would have left it.
  void put_foreign(std::int64_t ends_ms, const std::string& available_now) const {
    server().command({"SET", "x", available_now});
    server().command({"ZADD", timeouts, std::to_string(ends_ms), foreign_permit});
  }
  // Of a message on the channel.
  std::string payload_of_next(testkit::redis_link& link) const {
    const auto r = link.receive();
    return r.items.size() == 3 ? r.items[2].text : std::string();
  }

 private:
  mutable std::unique_ptr<redis_server> server_;
};

TEST_F(redis_redisson_permits, a_lease_is_an_entry_of_sixteen_bytes_for_each_permit) {
  const client c = client::open(url());
  const semaphore s = c.semaphore("x", 3);
  const std::int64_t before = wall_ms();
  lease held = s.acquire({.permits = 2});
  EXPECT_EQ(available(), "1");
  EXPECT_EQ(server().command({"TYPE", "x"}).text, "string");
  EXPECT_EQ(server().command({"PTTL", "x"}).number, -1);
  const auto entries = server().command({"ZRANGE", timeouts, "0", "-1", "WITHSCORES"}).items;
  ASSERT_EQ(entries.size(), 4u);
  for (const std::size_t i : {0u, 2u}) {
    EXPECT_EQ(entries[i].text.size(), 16u);
    const std::int64_t ends = std::stoll(entries[i + 1].text);
    EXPECT_GE(ends, before + 30'000);
    EXPECT_LE(ends, wall_ms() + 30'000);
  }
  held.release();
  EXPECT_EQ(available(), "3");
  EXPECT_EQ(server().command({"DBSIZE"}).number, 1) << "the count stays, as Redisson leaves it";
}

TEST_F(redis_redisson_permits, every_change_is_announced_with_the_new_value) {
  auto messages = server().link();
  messages.send({"SUBSCRIBE", channel});
  (void)messages.receive();
  const client c = client::open(url());
  const semaphore s = c.semaphore("x", 3);
  lease held = s.acquire({.permits = 2});
  EXPECT_EQ(payload_of_next(messages), "3") << "of a semaphore that was not there";
  held.release();
  EXPECT_EQ(payload_of_next(messages), "3");
}

TEST_F(redis_redisson_permits, permits_of_a_foreign_holder_are_honoured_and_taken_when_they_end) {
  put_foreign(wall_ms() + 3'600'000, "0");
  const client c = client::open(url());
  const semaphore s = c.semaphore("x", 1);
  EXPECT_FALSE(s.try_acquire());
  put_foreign(wall_ms() + 700, "0");
  EXPECT_TRUE(s.try_acquire_for(20s)) << "the nap ends with the permit";
  EXPECT_TRUE(server().command({"ZSCORE", timeouts, foreign_permit}).text.empty());
}

TEST_F(redis_redisson_permits, a_foreign_release_wakes_a_waiter) {
  put_foreign(wall_ms() + 3'600'000, "0");
  const client c = client::open(url());
  other_process waiter([&](const other_process::line& l) {
    const client mine = client::open(url());
    l.say("open");
    l.say(mine.semaphore("x", 1).try_acquire_for(60s) ? "held" : "busy");
  });
  ASSERT_EQ(waiter.hear(), "open");
  EXPECT_TRUE(eventually([&] {
    return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).number == 1;
  }));
  // One script, as Redisson's: whoever looks between the steps would see a semaphore of no permits.
  const std::string release = "redis.call('ZREM', KEYS[2], ARGV[1]) redis.call('INCR', KEYS[1]) "
                              "return redis.call('PUBLISH', KEYS[3], '1')";
  server().command({"EVAL", release, "3", "x", timeouts, channel, foreign_permit});
  EXPECT_EQ(waiter.hear(), "held");
}

TEST_F(redis_redisson_permits, messages_that_are_no_numbers_harm_nothing) {
  put_foreign(wall_ms() + 3'600'000, "0");
  const client c = client::open(url());
  std::jthread noise([&](const std::stop_token& stop) {
    auto link = server().link();
    while (!stop.stop_requested()) {
      for (const char* text : {"", "x", "-9", "99999999999999999999"}) {
        link.send({"PUBLISH", channel, text});
        (void)link.receive();
      }
    }
  });
  EXPECT_FALSE(c.semaphore("x", 1).try_acquire_for(200ms));
  EXPECT_EQ(server().command({"ZCARD", timeouts}).number, 1);
}

TEST_F(redis_redisson_permits, all_permits_or_none_are_had) {
  const client a = client::open(url()), b = client::open(url());
  const semaphore of_a = a.semaphore("x", 3), of_b = b.semaphore("x", 3);
  const lease two = of_a.acquire({.permits = 2});
  EXPECT_FALSE(of_b.try_acquire({.permits = 2}));
  EXPECT_EQ(available(), "1");
  EXPECT_TRUE(of_b.try_acquire({.permits = 1}));
}

TEST_F(redis_redisson_permits, an_ended_permit_returns_to_the_pool_and_its_release_says_so) {
  const client a = client::open(url("ttl=200ms&renew=0")), b = client::open(url());
  lease late = a.semaphore("x", 1).acquire();
  const lease next = b.semaphore("x", 1).acquire();
  std::error_code ec;
  late.release(ec);
  EXPECT_TRUE(ec == outcome::lost) << ec.message();
  EXPECT_TRUE(next.held());
  EXPECT_EQ(server().command({"ZCARD", timeouts}).number, 1);
  EXPECT_EQ(available(), "0");
}

TEST_F(redis_redisson_permits, a_lost_permit_is_a_lost_lease_and_the_others_come_back) {
  const client c = client::open(url("ttl=6s"));
  const lease held = c.semaphore("x", 2).acquire({.permits = 2});
  const auto first = server().command({"ZRANGE", timeouts, "0", "0"}).items.at(0).text;
  server().command({"ZREM", timeouts, first});
  server().command({"INCR", "x"});
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return available() == "2"; }));
  EXPECT_EQ(server().command({"ZCARD", timeouts}).number, 0);
}

TEST_F(redis_redisson_permits, foreign_permits_are_never_renewed) {
  const client c = client::open(url("ttl=6s"));
  const std::int64_t ends = wall_ms() + 3'600'000;
  put_foreign(ends, "1");
  const lease held = c.semaphore("x", 2).acquire();
  const auto deadline = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > deadline + 200ms; }));
  EXPECT_EQ(server().command({"ZSCORE", timeouts, foreign_permit}).text, std::to_string(ends));
}

TEST_F(redis_redisson_permits, another_total_is_a_mismatch) {
  put_foreign(wall_ms() + 3'600'000, "1");
  const client c = client::open(url());
  for (const std::uint32_t total : {1u, 3u}) {
    const auto t = told_by([&] { (void)c.semaphore("x", total).try_acquire(); });
    EXPECT_EQ(t.code, errc::mismatch);
    EXPECT_NE(t.text.find("has 2 permits, not " + std::to_string(total)), t.text.npos) << t.text;
  }
  EXPECT_TRUE(c.semaphore("x", 2).try_acquire());
}

TEST_F(redis_redisson_permits, a_name_of_another_lock_is_a_mismatch_and_stays) {
  const client c = client::open(url());
  server().command({"HSET", "x", "somebody", "1"});
  for (int i = 0; i < 2; ++i) {
    const auto t = told_by([&] { (void)c.semaphore("x", 1).acquire(); });
    EXPECT_EQ(t.code, errc::mismatch) << t.text;
  }
  EXPECT_EQ(server().command({"HGET", "x", "somebody"}).text, "1");
}

TEST_F(redis_redisson_permits, a_name_whose_keys_would_not_lie_together_is_refused) {
  const client c = client::open(url());
  EXPECT_EQ(told_by([&] { (void)c.semaphore("a}b", 1); }).code, errc::bad_name);
  EXPECT_TRUE(c.semaphore("jobs:{a}b", 1).try_acquire());
  EXPECT_EQ(server().command({"EXISTS", "jobs:{a}b"}).number, 1);
}

TEST_F(redis_redisson_permits, holders_are_shown_and_broken_by_their_ids) {
  const client c = client::open(url("ttl=30s"));
  lease held = c.semaphore("x", 4).acquire({.permits = 2});
  put_foreign(wall_ms() + 3'600'000, "1");
  auto found = c.holders("x");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].owner, held.owner());
  EXPECT_EQ(found[0].permits, 2u);
  EXPECT_EQ(found[0].total_permits, 4u);
  EXPECT_EQ(found[1].owner, foreign_id);
  EXPECT_EQ(c.list("").size(), 2u);
  EXPECT_FALSE(c.break_lock("x", "nobody"));
  EXPECT_TRUE(c.break_lock("x", foreign_id));
  EXPECT_TRUE(c.break_lock("x", held.owner()));
  EXPECT_EQ(available(), "4");
  EXPECT_TRUE(c.holders("x").empty());
}

TEST_F(redis_redisson_permits, the_rights_in_the_documents_are_enough_and_none_is_too_many) {
  // docs/backends/redisson.md
  redis_server limited(
      {.acl = "lock on >secret resetkeys resetchannels ~jobs/* ~{jobs/* &redisson_sc:{jobs/* -@all "
              "+evalsha +eval +script|load +ping +time +select +client|setname +client|id "
              "+client|kill +info +type +get +set +exists +incrby +zadd +zrem +zrange +zscore "
              "+zcard +pttl +pexpire +publish +subscribe +scan",
       .default_user = false});
  const std::string where = "redis://lock:secret@127.0.0.1:" + std::to_string(limited.port()) +
                            quick_with("layout=redisson-permits&ttl=6s");
  const client a = client::open(where), b = client::open(where);
  lease held = a.semaphore("jobs/x", 2).acquire({.permits = 2});
  const auto deadline = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > deadline; }));
  EXPECT_FALSE(b.semaphore("jobs/x", 2).try_acquire_for(100ms));
  EXPECT_EQ(b.list("jobs/").size(), 1u);
  held.release();
  EXPECT_TRUE(b.semaphore("jobs/x", 2).try_acquire());
  EXPECT_EQ(told_by([&] { (void)a.semaphore("else", 1).try_acquire(); }).code, errc::refused);
}

TEST_F(redis_redisson_permits, permits_are_counted_once_though_a_reply_was_lost) {
  tcp_proxy between(server().port());
  const client c = client::open(between.url() + quick_with("layout=redisson-permits&ttl=30s"));
  const semaphore s = c.semaphore("x", 4);
  s.acquire().release();
  between.cut_after(direction::to_client, 0);
  lease held = s.acquire({.permits = 2});
  EXPECT_EQ(available(), "2");
  EXPECT_EQ(server().command({"ZCARD", timeouts}).number, 2);
  between.cut_after(direction::to_client, 0);
  held.release();
  EXPECT_TRUE(eventually([&] { return available() == "4"; }));
  EXPECT_EQ(server().command({"ZCARD", timeouts}).number, 0);
}

}  // namespace
}  // namespace holdfast::redis_test
