// The scripts of layout `lua` on the model of Redis, and what its replies mean.
#include "backend/redis/layouts/lua/codec.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::lua {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

constexpr std::string_view ours = "hfl:1", theirs = "hfl:2";

struct redis_lua_codec : testing::Test {
  retrying_reply ask(operation what, std::string_view owner, duration ttl = 10s,
                     script_form form = script_form::by_text) {
    return on.ask(what, {.key = "job", .owner = owner, .ttl = ttl}, form);
  }
  std::string command(std::initializer_list<std::string_view> argv) { return on.command(argv); }

  const codec of_lua{};
  codec_on_model on{of_lua};
};

TEST_F(redis_lua_codec, a_free_lock_is_one_key_with_its_owner_and_an_end) {
  EXPECT_EQ(ask(operation::try_lock, ours).what, verdict::granted);
  EXPECT_EQ(command({"GET", "job"}), "$5\r\nhfl:1\r\n");
  EXPECT_EQ(command({"PTTL", "job"}), ":10000\r\n");
}

TEST_F(redis_lua_codec, a_busy_lock_shows_what_is_left_of_the_lease) {
  ask(operation::try_lock, theirs, 3s);
  const retrying_reply r = ask(operation::try_lock, ours);
  EXPECT_EQ(r.what, verdict::busy);
  EXPECT_EQ(r.rest, 3s);
  command({"SET", "job", "somebody"});
  EXPECT_EQ(ask(operation::try_lock, ours).rest, duration::max()) << "a lock without an end";
}

TEST_F(redis_lua_codec, the_same_owner_is_not_granted_the_lock_twice) {
  ask(operation::try_lock, ours);
  EXPECT_EQ(ask(operation::try_lock, ours).what, verdict::busy);
}

TEST_F(redis_lua_codec, an_attempt_without_a_reply_is_resolved_by_reading_the_owner) {
  EXPECT_EQ(ask(operation::resolve, ours).what, verdict::busy);
  EXPECT_EQ(command({"GET", "job"}), "$-1\r\n") << "it acquires nothing";
  ask(operation::try_lock, ours, 3s);
  EXPECT_EQ(ask(operation::resolve, ours).what, verdict::granted);
  EXPECT_EQ(command({"PTTL", "job"}), ":10000\r\n") << "the lease begins now";
  EXPECT_EQ(ask(operation::resolve, theirs).what, verdict::busy);
}

TEST_F(redis_lua_codec, a_release_or_a_withdrawal_compares_the_owner) {
  for (const operation what : {operation::release, operation::withdraw}) {
    ask(operation::try_lock, theirs);
    EXPECT_EQ(ask(what, ours).what, verdict::not_owner);
    EXPECT_EQ(command({"GET", "job"}), "$5\r\nhfl:2\r\n");
    EXPECT_EQ(ask(what, theirs).what, verdict::done);
    EXPECT_EQ(command({"GET", "job"}), "$-1\r\n");
    EXPECT_EQ(ask(what, theirs).what, verdict::not_owner);
  }
}

TEST_F(redis_lua_codec, renewals_of_many_stand_each_for_itself) {
  ask(operation::try_lock, ours, 3s);
  command({"SET", "other", theirs});
  command({"HSET", "hash", "a", "b"});
  std::vector<lock_request> all;
  for (const std::string_view key : {"job", "other", "none", "hash"})
    all.push_back({.key = key, .owner = ours, .ttl = 20s});
  const auto replies = on.renew(all);
  EXPECT_EQ(replies[0].what, verdict::done);
  EXPECT_EQ(replies[1].what, verdict::not_owner);
  EXPECT_EQ(replies[1].why, errc{});
  EXPECT_EQ(replies[2].why, errc::not_held);
  EXPECT_EQ(replies[3].what, verdict::not_owner);
  EXPECT_EQ(command({"PTTL", "job"}), ":20000\r\n");
}

TEST_F(redis_lua_codec, a_renewal_that_arrives_late_shortens_no_lease) {
  ask(operation::try_lock, ours, 60s);
  const lock_request late[] = {{.key = "job", .owner = ours, .ttl = 20s}};
  EXPECT_EQ(on.renew(late)[0].what, verdict::done);
  EXPECT_EQ(ask(operation::resolve, ours, 20s).what, verdict::granted);
  EXPECT_EQ(command({"PTTL", "job"}), ":60000\r\n");
}

TEST_F(redis_lua_codec, a_look_finds_the_owner_and_what_is_left_of_its_lease) {
  const auto look = [&](std::string_view key) { return on.look(key); };
  ask(operation::try_lock, ours, 3s);
  ASSERT_EQ(look("job").size(), 1u);
  EXPECT_EQ(look("job")[0].owner, ours);
  EXPECT_EQ(look("job")[0].expires_in, 3s);
  command({"SET", "foreign", "somebody"});
  EXPECT_EQ(look("foreign")[0].expires_in, std::chrono::milliseconds::max());
  command({"HSET", "hash", "a", "b"});
  ASSERT_EQ(look("hash").size(), 1u) << "SETNX is refused by any key";
  EXPECT_EQ(look("hash")[0].owner, "hash");
  EXPECT_TRUE(look("none").empty());
}

TEST_F(redis_lua_codec, a_script_is_known_by_its_hash_once_it_is_loaded) {
  EXPECT_EQ(ask(operation::try_lock, ours, 10s, script_form::by_hash).what, verdict::failed);
  for (const script* const s : of_lua.facts().loaded) command({"SCRIPT", "LOAD", s->text});
  EXPECT_EQ(ask(operation::try_lock, ours, 10s, script_form::by_hash).what, verdict::granted);
}

TEST_F(redis_lua_codec, an_error_that_passes_is_to_be_sent_again) {
  on.model.set_readonly(true);
  EXPECT_EQ(ask(operation::try_lock, ours).what, verdict::not_now);
  on.model.set_readonly(false);
  on.model.forbid("eval");
  EXPECT_EQ(ask(operation::release, ours).what, verdict::failed);
  EXPECT_EQ(ask(operation::release, ours).why, errc::refused);
}

TEST_F(redis_lua_codec, a_script_that_stopped_where_it_was_may_have_left_something) {
  on.model.forbid("pexpire");
  EXPECT_TRUE(ask(operation::try_lock, ours).left);
  on.model.forbid("eval");
  EXPECT_FALSE(ask(operation::try_lock, ours).left);
}

TEST_F(redis_lua_codec, a_name_is_never_part_of_a_script) {
  const std::string odd = "')..redis.call('flushall')..('\r\n";
  EXPECT_EQ(on.ask(operation::try_lock, {.key = odd, .owner = ours, .ttl = 10s}).what,
            verdict::granted);
  EXPECT_EQ(command({"GET", odd}), "$5\r\nhfl:1\r\n");
}

}  // namespace
}  // namespace holdfast::redis::lua
