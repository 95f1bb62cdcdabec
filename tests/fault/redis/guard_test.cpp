// The guard at the resource: a holder that was paused, and a write that was under way.
#include <future>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_guarded : public on_redis {
 protected:
  // Who held the lock, lost it, and does not know; and who holds it now.
  void play(fencing how) {
    auto old_client = client::open(server_.url() + "?ttl=200ms&renew=0");
    old_ = old_client.mutex("job").acquire();
    token_ = old_.token();
    owner_ = old_.owner();
    new_client_.emplace(client::open(server_.url()));
    redis_guard first(*new_client_, "value", how);
    if (how == fencing::exact) first.set(owner_);
    EXPECT_TRUE(first.write(old_, "from the old holder"));
    now_ = new_client_->mutex("job").acquire();
    if (how == fencing::exact) first.set(now_.owner());
    EXPECT_GT(now_.token(), token_);
  }
  std::string value() { return server_.command({"GET", "value"}).text; }

  redis_server server_;
  std::optional<client> new_client_;
  lease old_, now_;
  std::int64_t token_ = 0;
  std::string owner_;
};

class redis_guarded_both : public redis_guarded, public testing::WithParamInterface<fencing> {};

TEST_P(redis_guarded_both, a_paused_holder_writes_nothing_after_its_successor) {
  play(GetParam());
  redis_guard guard(*new_client_, "value", GetParam());
  EXPECT_TRUE(guard.write(now_, "from the new holder"));
  EXPECT_FALSE(guard.write(token_, owner_, "stale"));
  EXPECT_EQ(value(), "from the new holder");
}

TEST_P(redis_guarded_both, a_write_under_way_lands_nowhere_once_a_successor_has_written) {
  play(GetParam());
  tcp_proxy slow(server_.port());
  const auto stale_client = client::open(slow.url());
  slow.set(direction::to_server, {.hold = true});
  auto stale = std::async(std::launch::async, [&] {
    return redis_guard(stale_client, "value", GetParam()).write(token_, owner_, "stale");
  });
  redis_guard guard(*new_client_, "value", GetParam());
  EXPECT_TRUE(guard.write(now_, "from the new holder"));
  slow.set(direction::to_server, {});
  EXPECT_FALSE(stale.get());
  EXPECT_EQ(value(), "from the new holder");
}

INSTANTIATE_TEST_SUITE_P(modes, redis_guarded_both,
                         testing::Values(fencing::ordered, fencing::exact));

TEST_F(redis_guarded, exact_alone_does_not_catch_a_late_set) {
  play(fencing::exact);
  redis_guard guard(*new_client_, "value", fencing::exact);
  guard.set(owner_);
  EXPECT_TRUE(guard.write(token_, owner_, "stale"));
}

TEST_F(redis_guarded, the_lua_text_serves_in_a_script_of_the_users_own) {
  play(fencing::ordered);
  const std::string script = std::string(redis_guard::lua()) +
                             "if not holdfast_admits(KEYS[1], ARGV[1], ARGV[2]) then return 0 end\n"
                             "redis.call('INCRBY', KEYS[2], ARGV[3]) return 1";
  const auto add = [&](std::int64_t token, const std::string& owner) {
    return server_
        .command({"EVAL", script, "2", "sum:guard", "sum", redis_guard::text_of(token), owner, "5"})
        .number;
  };
  EXPECT_EQ(add(token_, owner_), 1);
  EXPECT_EQ(add(now_.token(), now_.owner()), 1);
  EXPECT_EQ(add(token_, owner_), 0);
  EXPECT_EQ(server_.command({"GET", "sum"}).text, "10");
}

TEST_F(redis_guarded, an_empty_or_reserved_key_is_refused) {
  const client mine = client::open(server_.url());
  for (const char* const key : {"", "holdfast:{value}:value:g"})
    EXPECT_EQ(told_by([&] { redis_guard(mine, key); }).code, errc::bad_name) << key;
}

TEST_F(redis_guarded, another_kind_of_key_is_reported_and_left) {
  play(fencing::ordered);
  server_.command({"DEL", "holdfast:{value}:value:g"});
  server_.command({"SET", "holdfast:{value}:value:g", "text"});
  const auto told = told_by([&] { (void)redis_guard(*new_client_, "value").write(now_, "x"); });
  EXPECT_EQ(told.code, errc::mismatch) << told.text;
  EXPECT_EQ(value(), "from the old holder");
}

}  // namespace
}  // namespace holdfast::redis_test
