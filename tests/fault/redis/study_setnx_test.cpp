// Layouts `setnx` and `setnx-exists`: what they do, and schedules in which they fail as
// docs/backends/redis-documentation.md says.
#include <holdfast/guard.hpp>

#include "claims.hpp"
#include "every_byte.hpp"
#include "testkit/heard_warnings.hpp"

namespace holdfast::redis_test {
namespace {

class redis_study_setnx : public on_redis {};

const std::string of_setnx = quick_with("layout=setnx&unsafe=1&ttl=10m");
const std::string of_exists = quick_with("layout=setnx-exists&unsafe=1&ttl=10m");

struct setnx_behind_proxy {
  redis_server server;
  tcp_proxy proxy{server.port()};
  testkit::redis_link meddler = server.link();

  bool is_free() { return server.command({"EXISTS", "x"}).number == 0; }
  // Before the first of our commands that has this word, somebody else's is executed.
  void put_before(std::string word, std::vector<std::string> theirs) {
    auto act = [this, word = std::move(word), theirs = std::move(theirs),
                done = false](std::string& bytes) mutable {
      if (done || bytes.find("\r\n" + word + "\r\n") == bytes.npos) return;
      done = true;
      (void)meddler.command(theirs);
    };
    proxy.set(direction::to_server, {.mutate = std::move(act)});
  }
};

TEST_F(redis_study_setnx, is_one_key_with_an_owner_and_an_end) {
  redis_server server;
  const client c = client::open(server.url() + of_setnx);
  lease held = c.mutex("x").acquire();
  EXPECT_EQ(server.command({"GET", "x"}).text, held.owner());
  EXPECT_GT(server.command({"PTTL", "x"}).number, 0);
  expect_safe(held, server, "x");
  EXPECT_FALSE(client::open(server.url() + of_setnx).mutex("x").try_acquire());
  held.release();
  EXPECT_EQ(server.command({"DBSIZE"}).number, 0);
}

TEST_F(redis_study_setnx, warns_once_is_unsafe_and_has_no_tokens) {
  redis_server server;
  for (const char* name : {"setnx", "setnx-exists", "getset"}) {
    const std::string layout = std::string("layout=") + name;
    testkit::heard_warnings warnings;
    const client c = client::open(server.url() + "?unsafe=1&" + layout);
    const lease one = c.mutex("a").acquire(), other = c.mutex("b").acquire();
    EXPECT_EQ(warnings.that_mention(layout + " "), 1u);
    EXPECT_FALSE(c.features().tokens);
    EXPECT_TRUE(c.features().unsafe);
    EXPECT_EQ(one.token(), 0);
    EXPECT_FALSE(fencing_guard().admit(one));
    EXPECT_FALSE(redis_guard(c, "value").write(one, "v"));
    EXPECT_EQ(told_by([&] { redis_guard(c, "value", fencing::exact).set(one.owner()); }).code,
              errc::unsupported);
  }
}

// Known failure.
TEST_F(redis_study_setnx, a_crash_between_setnx_and_expire_leaves_the_lock_for_ever) {
  setnx_behind_proxy on;
  other_process holder([&](const other_process::line& l) {
    const client c = client::open(on.proxy.url() + of_setnx);
    l.say("open");
    l.hear();
    const lease held = c.mutex("x").acquire();
    l.say("held");
  });
  ASSERT_EQ(holder.hear(), "open");
  on.proxy.set(direction::to_client, {.hold = true});
  holder.say("acquire");
  ASSERT_TRUE(eventually([&] { return !on.is_free(); }));
  holder.kill();
  EXPECT_EQ(on.server.command({"PTTL", "x"}).number, -1) << "it has no end";
  const client other = client::open(on.server.url() + of_setnx);
  EXPECT_FALSE(other.mutex("x").try_acquire_for(300ms));
  EXPECT_TRUE(other.break_lock("x", other.holders("x").at(0).owner)) << "the remedy";
  EXPECT_TRUE(other.mutex("x").try_acquire());
}

// Known failure.
TEST_F(redis_study_setnx, a_release_after_the_lease_deletes_the_next_holder_s_lock) {
  redis_server server;
  peer a(server.url() + of_setnx), b(server.url() + of_setnx);
  test_claim late(a, "x"), next(b, "x"), third(a, "x");
  ASSERT_TRUE(late.get(alone(100ms)));
  ASSERT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  ASSERT_TRUE(next.get(alone()));
  EXPECT_TRUE(late.release());
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 0);
  EXPECT_TRUE(third.get(once(alone()))) << "two hold it";
  EXPECT_FALSE(next.renew(30s)) << "and the first of them learns it with its next renewal";
}

// Known failure.
TEST_F(redis_study_setnx, an_attempt_of_the_other_form_deletes_the_lock_that_it_finds) {
  redis_server server;
  const client a = client::open(server.url() + of_exists);
  const client b = client::open(server.url() + of_exists);
  const lease held = a.mutex("x").acquire();
  EXPECT_FALSE(b.mutex("x").try_acquire());
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(b.mutex("x").try_acquire()) << "two hold it";
}

// Known failure.
TEST_F(redis_study_setnx, who_ignores_the_answer_of_setnx_holds_what_another_has) {
  setnx_behind_proxy on;
  const client c = client::open(on.proxy.url() + of_exists);
  on.put_before("SETNX", {"SET", "x", "somebody"});
  const lease held = c.mutex("x").try_acquire();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(on.server.command({"GET", "x"}).text, "somebody");
}

TEST_F(redis_study_setnx, of_setnx_itself_somebody_who_came_between_is_honoured) {
  setnx_behind_proxy on;
  const client c = client::open(on.proxy.url() + of_setnx);
  on.put_before("SETNX", {"SET", "x", "somebody"});
  EXPECT_FALSE(c.mutex("x").try_acquire());
  EXPECT_EQ(on.server.command({"GET", "x"}).text, "somebody");
}

void setnx_leaves_no_ghost(direction d) {
  setnx_behind_proxy on;
  const client c = client::open(on.proxy.url() + of_setnx);
  at_every_byte(on.proxy, d, [&](auto cut) {
    cut();
    std::error_code ec;
    if (auto held = c.mutex("x").acquire({}, {}, ec)) {
      EXPECT_EQ(on.server.command({"GET", "x"}).text, held.owner());
      expect_safe(held, on.server, "x");
      held.release(ec);
    }
    EXPECT_TRUE(eventually([&] { return on.is_free(); }));
  });
}

TEST_F(redis_study_setnx, an_acquire_whose_reply_is_lost_leaves_no_ghost) {
  setnx_leaves_no_ghost(direction::to_client);
}
TEST_F(redis_study_setnx, or_whose_request_is_lost) { setnx_leaves_no_ghost(direction::to_server); }

TEST_F(redis_study_setnx, an_acquire_that_gives_up_between_its_commands_is_withdrawn) {
  setnx_behind_proxy on;
  const client c = client::open(on.proxy.url() + of_setnx);
  on.proxy.set(direction::to_client, {.hold = true});
  EXPECT_EQ(told_by([&] { (void)c.mutex("x").try_acquire(); }).code, errc::unavailable);
  EXPECT_FALSE(on.is_free());
  on.proxy.set(direction::to_client, {});
  EXPECT_TRUE(eventually([&] { return on.is_free(); }));
}

}  // namespace
}  // namespace holdfast::redis_test
