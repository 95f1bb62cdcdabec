// The scripts of layout `lua` on the model of Redis, and what its replies mean.
#include "backend/redis/layouts/lua/codec.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::redis::lua {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

constexpr std::string_view ours = "hfl:1", theirs = "hfl:2";

class redis_lua_codec : public testing::Test, private sim::peer {
 protected:
  retrying_reply ask(operation what, std::string_view owner, duration ttl = 10s,
                     script_form form = script_form::by_text) {
    std::string bytes;
    command_writer out(bytes, scripts_in(form));
    const lock_request request{.key = "job", .owner = owner, .ttl = ttl};
    of_lua.append(out, what, request);
    retrying_reply r;
    r.to = what;
    with_reply(bytes, [&](const value& v) { r = of_lua.read(v, request, r); });
    return r;
  }
  // Each script is called in this form the next time.
  script_cache& scripts_in(script_form form) {
    cache_ = script_cache(of_lua.scripts());
    for (std::uint16_t i = 0; form == script_form::by_text && i < of_lua.scripts().size(); ++i)
      cache_.on_missing(i);
    return cache_;
  }
  template <class Handle>
  void with_reply(const std::string& bytes, Handle handle) {
    const int connection = model.connect(*this);
    model.receive(connection, bytes);
    model.disconnect(connection);
    reply_reader reader;
    const std::string arrived = std::exchange(arrived_, {});
    reader.feed(std::as_bytes(std::span(arrived)));
    int replies = 0;
    reader.for_each([&](const value& v) { return handle(v), ++replies, true; });
    EXPECT_EQ(replies, 1);
  }
  std::string command(std::initializer_list<std::string_view> argv) {
    const int connection = model.connect(*this);
    const std::string out = model.execute(connection, std::span(argv.begin(), argv.size()));
    model.disconnect(connection);
    return out;
  }
  std::chrono::microseconds now{1'700'000'000'000'000};
  sim::model_redis model{[this] { return now; }};
  const codec of_lua{};

 private:
  void deliver(std::string_view bytes) override { arrived_ += bytes; }
  void kicked() override {}
  std::string arrived_;
  script_cache cache_{{}};
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
  std::string bytes;
  command_writer out(bytes, scripts_in(script_form::by_text));
  of_lua.append_renewals(out, all);
  with_reply(bytes, [&](const value& v) {
    retrying_reply r;
    r.to = operation::renew;
    EXPECT_EQ(of_lua.read_renewal(v, 0, r).what, verdict::done);
    EXPECT_EQ(of_lua.read_renewal(v, 1, r).what, verdict::not_owner);
    EXPECT_EQ(of_lua.read_renewal(v, 1, r).why, errc{});
    EXPECT_EQ(of_lua.read_renewal(v, 2, r).why, errc::not_held);
    EXPECT_EQ(of_lua.read_renewal(v, 3, r).what, verdict::not_owner);
    EXPECT_EQ(of_lua.read_renewal(v, 4, r).what, verdict::failed) << "no such reply";
  });
  EXPECT_EQ(command({"PTTL", "job"}), ":20000\r\n");
}

TEST_F(redis_lua_codec, a_look_finds_the_owner_and_what_is_left_of_its_lease) {
  const auto look = [&](std::string_view key) {
    std::string bytes;
    of_lua.append_look(bytes, key);
    std::vector<holder> found;
    with_reply(bytes, [&](const value& v) { found = of_lua.read_look(v); });
    return found;
  };
  ask(operation::try_lock, ours, 3s);
  ASSERT_EQ(look("job").size(), 1u);
  EXPECT_EQ(look("job")[0].owner, ours);
  EXPECT_EQ(look("job")[0].left, 3s);
  command({"SET", "foreign", "somebody"});
  EXPECT_EQ(look("foreign")[0].left, std::chrono::milliseconds::max());
  command({"HSET", "hash", "a", "b"});
  EXPECT_TRUE(look("hash").empty());
  EXPECT_TRUE(look("none").empty());
}

TEST_F(redis_lua_codec, a_script_is_known_by_its_hash_once_it_is_loaded) {
  EXPECT_EQ(ask(operation::try_lock, ours, 10s, script_form::by_hash).what, verdict::failed);
  for (const script& s : of_lua.scripts()) command({"SCRIPT", "LOAD", s.text});
  EXPECT_EQ(ask(operation::try_lock, ours, 10s, script_form::by_hash).what, verdict::granted);
}

TEST_F(redis_lua_codec, an_error_that_passes_is_to_be_sent_again) {
  model.set_readonly(true);
  EXPECT_EQ(ask(operation::try_lock, ours).what, verdict::not_now);
  model.set_readonly(false);
  model.forbid("eval");
  EXPECT_EQ(ask(operation::release, ours).what, verdict::failed);
  EXPECT_EQ(ask(operation::release, ours).why, errc::refused);
}

TEST_F(redis_lua_codec, a_script_that_stopped_where_it_was_may_have_left_something) {
  model.forbid("pexpire");
  EXPECT_TRUE(ask(operation::try_lock, ours).left);
  model.forbid("eval");
  EXPECT_FALSE(ask(operation::try_lock, ours).left);
}

TEST_F(redis_lua_codec, a_name_is_never_part_of_a_script) {
  const std::string odd = "')..redis.call('flushall')..('\r\n";
  std::string bytes;
  command_writer out(bytes, scripts_in(script_form::by_text));
  of_lua.append(out, operation::try_lock, {.key = odd, .owner = ours, .ttl = 10s});
  with_reply(bytes, [&](const value& v) { EXPECT_EQ(v[0].integer(), 1); });
  EXPECT_EQ(command({"GET", odd}), "$5\r\nhfl:1\r\n");
}

}  // namespace
}  // namespace holdfast::redis::lua
