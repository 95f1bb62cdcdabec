// Layout `getset`: what it does, and schedules in which it fails as
// docs/backends/redis-documentation.md says.
#include "claims.hpp"
#include "every_byte.hpp"

namespace holdfast::redis_test {
namespace {

class redis_study_getset : public on_redis {};

const std::string of_getset = quick_with("layout=getset&unsafe=1&stale-after=10m&ttl=10m");
const std::string key = "x.lock";

std::int64_t unix_ms() {
  using namespace std::chrono;
  return floor<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// A machine whose wall clock shows another time, or stands still.
class other_clock final : public base::environment {
 public:
  explicit other_clock(std::chrono::microseconds ahead) : ahead_(ahead) {}
  void stop() { stopped_at_ = real_.wall() + ahead_; }

  base::time_point now() noexcept override { return real_.now(); }
  base::duration ahead() noexcept override { return real_.ahead(); }
  std::chrono::microseconds wall() noexcept override {
    return stopped_at_.count() != 0 ? stopped_at_ : real_.wall() + ahead_;
  }
  void random(std::span<std::byte> to) noexcept override { real_.random(to); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* name) override {
    return real_.make_alarm(t, name);
  }
  std::unique_ptr<base::worker> make_worker(const char* name) override {
    return real_.make_worker(name);
  }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& u, base::driven_by how,
                                              const char* name) override {
    return real_.make_loop(u, how, name);
  }

 private:
  base::environment& real_ = io::real_environment();
  const std::chrono::microseconds ahead_;
  std::chrono::microseconds stopped_at_{};
};

struct getset_behind_proxy {
  redis_server server;
  tcp_proxy proxy{server.port()};
  testkit::redis_link meddler = server.link();

  std::string stamp() { return server.command({"GET", key}).text; }
  bool is_free() { return server.command({"EXISTS", key}).number == 0; }
  void put_dead_stamp() { server.command({"SET", key, "1700000000000"}); }
  // Something is done before the first of our commands that has this word.
  void before(std::string word, std::function<void()> something) {
    auto act = [word = std::move(word), something = std::move(something),
                done = false](std::string& bytes) mutable {
      if (done || bytes.find("\r\n" + word + "\r\n") == bytes.npos) return;
      done = true;
      something();
    };
    proxy.set(direction::to_server, {.mutate = std::move(act)});
  }
};

TEST_F(redis_study_getset, is_one_key_with_the_time_of_its_acquire_and_no_end) {
  redis_server server;
  const client c = client::open(server.url() + of_getset);
  const std::int64_t before = unix_ms();
  lease held = c.mutex("x").acquire();
  const std::int64_t stamp = std::stoll(server.command({"GET", key}).text);
  EXPECT_GE(stamp, before);
  EXPECT_LE(stamp, unix_ms());
  EXPECT_EQ(server.command({"PTTL", key}).number, -1);
  EXPECT_EQ(held.owner(), std::to_string(stamp));
  EXPECT_EQ(c.holders("x").at(0).owner, held.owner());
  EXPECT_EQ(c.list("").at(0).name, "x");
  EXPECT_FALSE(client::open(server.url() + of_getset).mutex("x").try_acquire());
  held.release();
  EXPECT_EQ(server.command({"DBSIZE"}).number, 0);
}

TEST_F(redis_study_getset, a_dead_holder_s_lock_is_taken_and_a_living_one_s_is_not) {
  getset_behind_proxy on;
  const client c = client::open(on.server.url() + of_getset);
  on.put_dead_stamp();
  lease taken = c.mutex("x").try_acquire();
  EXPECT_TRUE(taken);
  taken.release();
  on.server.command({"SET", key, std::to_string(unix_ms())});
  EXPECT_FALSE(c.mutex("x").try_acquire_for(200ms));
  on.server.command({"SET", key, std::to_string(unix_ms() - 600'000 + 500)});
  EXPECT_TRUE(c.mutex("x").try_acquire_for(20s)) << "a waiter waits until the stamp is dead";
}

TEST_F(redis_study_getset, what_is_no_stamp_is_waited_for) {
  getset_behind_proxy on;
  const client c = client::open(on.server.url() + of_getset);
  on.server.command({"SET", key, "somebody"});
  EXPECT_FALSE(c.mutex("x").try_acquire_for(100ms));
  EXPECT_EQ(on.stamp(), "somebody");
}

TEST_F(redis_study_getset, a_renewed_lock_has_a_newer_stamp_and_is_not_taken) {
  redis_server server;
  const std::string brief = quick_with("layout=getset&unsafe=1&stale-after=6s&ttl=6s");
  const client c = client::open(server.url() + brief);
  const client other = client::open(server.url() + brief);
  const lease held = c.mutex("x").acquire();
  const std::string first = held.owner();
  EXPECT_FALSE(other.mutex("x").try_acquire_for(7s));
  EXPECT_TRUE(held.held());
  EXPECT_GT(server.command({"GET", key}).text, first);
}

TEST_F(redis_study_getset, a_holder_re_reads_its_stamp_by_extend) {
  getset_behind_proxy on;
  const client c = client::open(on.server.url() + of_getset);
  lease held = c.mutex("x").acquire();
  held.extend(10min);
  EXPECT_TRUE(held.held());
  on.server.command({"SET", key, "1"});
  EXPECT_EQ(told_by([&] { held.extend(10min); }).code, outcome::lost);
  EXPECT_FALSE(held.held());
  EXPECT_EQ(on.stamp(), "1") << "and leaves the other one's alone";
}

// Known failure.
TEST_F(redis_study_getset, a_loser_overwrites_the_holder_s_stamp_whose_release_then_fails) {
  getset_behind_proxy on;
  other_clock ahead(1s);  // so that the two never write the same millisecond
  peer a(on.server.url() + of_getset), b(on.proxy.url() + of_getset, ahead);
  test_claim holder(a, "x"), loser(b, "x");
  on.put_dead_stamp();
  // Both have read the dead stamp; the holder's GETSET comes first.
  on.before("GETSET", [&] { EXPECT_TRUE(holder.get(once(alone(10min)))); });
  EXPECT_FALSE(loser.get(once(alone(10min))));
  EXPECT_NE(on.stamp(), holder.owner());
  EXPECT_FALSE(holder.release());
  EXPECT_FALSE(on.is_free()) << "the lock is nobody's until its stamp is dead";
}

// Known failure.
TEST_F(redis_study_getset, a_client_whose_clock_is_ahead_takes_a_lock_that_is_held) {
  redis_server server;
  other_clock ahead(1h);
  peer a(server.url() + of_getset), b(server.url() + of_getset, ahead);
  test_claim holder(a, "x"), thief(b, "x");
  ASSERT_TRUE(holder.get(alone(10min)));
  EXPECT_TRUE(thief.get(once(alone(10min)))) << "two hold it";
  EXPECT_FALSE(holder.renew(10min)) << "and the first of them learns it with its next renewal";
}

// Known failure.
TEST_F(redis_study_getset, of_two_clients_with_one_stamp_each_takes_the_other_s_for_its_own) {
  getset_behind_proxy on;
  other_clock still(0us);
  still.stop();
  peer a(on.server.url() + of_getset, still), b(on.proxy.url() + of_getset, still);
  test_claim holder(a, "x"), other(b, "x"), first(b, "y");
  ASSERT_TRUE(first.get(once(alone(10min))));
  ASSERT_TRUE(holder.get(alone(10min)));
  // Its SETNX was answered with 0, which is lost; it reads the stamp to learn what became of it.
  on.proxy.cut_after(direction::to_client, 0);
  EXPECT_TRUE(other.get(alone(10min))) << "two hold it";
  EXPECT_EQ(other.owner(), holder.owner());
  EXPECT_TRUE(other.release());
  EXPECT_TRUE(on.is_free()) << "and one release frees both";
}

// Known failure.
TEST_F(redis_study_getset, a_lock_taken_between_the_reading_and_the_deleting_is_deleted) {
  getset_behind_proxy on;
  peer a(on.proxy.url() + of_getset);
  test_claim late(a, "x");
  ASSERT_TRUE(late.get(alone(10min)));
  on.before("DEL", [&] {
    (void)on.meddler.command({"GETSET", key, std::to_string(unix_ms() + 1)});
  });
  EXPECT_TRUE(late.release());
  EXPECT_TRUE(on.is_free());
}

void getset_leaves_no_ghost(direction d) {
  getset_behind_proxy on;
  const client c = client::open(on.proxy.url() + of_getset);
  at_every_byte(on.proxy, d, [&](auto cut) {
    on.put_dead_stamp();
    cut();
    std::error_code ec;
    if (auto held = c.mutex("x").acquire({}, {}, ec)) {
      EXPECT_EQ(on.stamp(), held.owner());
      held.release(ec);
    }
    EXPECT_TRUE(eventually([&] { return on.is_free() || on.stamp() == "1700000000000"; }));
  });
}

TEST_F(redis_study_getset, a_takeover_whose_reply_is_lost_leaves_no_ghost) {
  getset_leaves_no_ghost(direction::to_client);
}
TEST_F(redis_study_getset, or_whose_request_is_lost) {
  getset_leaves_no_ghost(direction::to_server);
}

TEST_F(redis_study_getset, its_option_is_of_no_other_layout) {
  redis_server server;
  for (const char* other : {"layout=setnx&unsafe=1&", "", "layout=redisson&"}) {
    const auto t =
        told_by([&] { (void)client::open(server.url() + "?" + other + "stale-after=1s"); });
    EXPECT_EQ(t.code, errc::bad_option);
    EXPECT_NE(t.text.find("layout=getset"), t.text.npos) << t.text;
  }
}

}  // namespace
}  // namespace holdfast::redis_test
