// The scripts of layouts `redisson` and `redisson-spin` on the model of Redis, and what their
// replies mean.
#include "backend/redis/layouts/redisson/codec.hpp"

#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::redisson {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

constexpr std::string_view client_id = "8743c9c0-0795-4907-87fd-6c719a6b4586";
constexpr std::string_view ours = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";
constexpr std::string_view theirs = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
constexpr std::string_view counter = "redisson_lock_token:{job}";
constexpr std::string_view channel = "redisson_lock__channel:{job}";

struct redisson_codec : testing::Test {
  codec tested{std::string(client_id), waiters::listen};
  codec_on_model on{tested};

  retrying_reply ask(operation what, std::string_view owner, duration ttl = 10s) {
    return on.ask(what, {.key = "job", .owner = owner, .ttl = ttl});
  }
  retrying_reply try_lock(std::string_view owner = ours, duration ttl = 10s) {
    return ask(operation::try_lock, owner, ttl);
  }
  void held_by(std::string_view owner, std::string_view holds, std::string_view ms) {
    on.command({"HSET", "job", owner, holds});
    on.command({"PEXPIRE", "job", ms});
  }
  std::string contents() { return on.command({"HGETALL", "job"}); }
};

TEST_F(redisson_codec, a_free_lock_is_a_hash_of_its_owner_and_one_hold_with_a_number) {
  const retrying_reply r = try_lock();
  EXPECT_EQ(r.what, verdict::granted);
  EXPECT_EQ(r.number, 1);
  EXPECT_EQ(contents(), "*2\r\n$38\r\n" + std::string(ours) + "\r\n$1\r\n1\r\n");
  EXPECT_EQ(on.command({"PTTL", "job"}), ":10000\r\n");
  EXPECT_EQ(on.command({"GET", counter}), "$1\r\n1\r\n");
  EXPECT_EQ(on.command({"PTTL", counter}), ":-1\r\n") << "the counter stays";
}

TEST_F(redisson_codec, a_try_that_arrives_twice_is_one_hold_with_one_number) {
  held_by(theirs, "1", "1");
  on.now += 1s;
  EXPECT_EQ(try_lock(ours, 3s).number, 1);
  const retrying_reply again = try_lock();
  EXPECT_EQ(again.what, verdict::granted);
  EXPECT_EQ(again.number, 1);
  EXPECT_EQ(on.command({"HGET", "job", ours}), "$1\r\n1\r\n");
  EXPECT_EQ(on.command({"PTTL", "job"}), ":10000\r\n") << "the lease begins now";
}

TEST_F(redisson_codec, the_counter_of_fenced_locks_is_counted_on) {
  on.command({"SET", counter, "41"});
  EXPECT_EQ(try_lock().number, 42);
  ask(operation::release, ours);
  EXPECT_EQ(try_lock(theirs).number, 43);
}

TEST_F(redisson_codec, a_counter_that_cannot_grow_is_an_error_and_leaves_no_lock) {
  for (const std::string_view bad : {"-1", "9007199254740991", "1e3", "abc", ""}) {
    on.command({"SET", counter, bad});
    const retrying_reply r = try_lock();
    EXPECT_EQ(r.what, verdict::failed) << bad;
    EXPECT_EQ(r.why, errc::refused) << bad;
    EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n") << bad;
    EXPECT_EQ(on.command({"GET", counter}),
              "$" + std::to_string(bad.size()) + "\r\n" + std::string(bad) + "\r\n");
  }
  on.command({"DEL", counter});
  on.command({"HSET", counter, "a", "b"});
  EXPECT_EQ(try_lock().why, errc::refused);
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n");
  held_by(theirs, "1", "3000");
  EXPECT_EQ(try_lock().what, verdict::busy) << "of no interest to who does not get the lock";
}

TEST_F(redisson_codec, the_largest_number_is_the_last) {
  on.command({"SET", counter, "9007199254740990"});
  EXPECT_EQ(try_lock().number, 9007199254740991);
  EXPECT_EQ(try_lock().number, 9007199254740991) << "the same grant";
  ask(operation::release, ours);
  EXPECT_EQ(try_lock().why, errc::refused) << "beyond what a script computes exactly";
}

TEST_F(redisson_codec, a_busy_lock_shows_what_is_left_of_the_lease) {
  held_by(theirs, "2", "3000");
  EXPECT_EQ(try_lock().what, verdict::busy);
  EXPECT_EQ(try_lock().rest, 3s);
  on.command({"PERSIST", "job"});
  EXPECT_EQ(try_lock().rest, duration::max()) << "a lock without an end";
  EXPECT_EQ(on.command({"EXISTS", counter}), ":0\r\n") << "only a grant counts";
}

TEST_F(redisson_codec, a_hash_of_somebody_elses_fields_is_a_busy_lock) {
  on.command({"HSET", "job", "name", "Smith", "age", "many"});
  EXPECT_EQ(try_lock().what, verdict::busy);
  EXPECT_EQ(on.command({"HLEN", "job"}), ":2\r\n");
}

TEST_F(redisson_codec, what_is_no_such_lock_is_a_mismatch) {
  const auto refused = [&] {
    const retrying_reply r = try_lock();
    EXPECT_EQ(r.what, verdict::failed);
    EXPECT_EQ(r.why, errc::mismatch);
    EXPECT_EQ(on.command({"EXISTS", counter}), ":0\r\n");
    EXPECT_EQ(ask(operation::withdraw, ours).what, verdict::not_owner);
    EXPECT_TRUE(on.look("job").empty());
    EXPECT_EQ(on.command({"EXISTS", "job"}), ":1\r\n");
    on.command({"DEL", "job"});
  };
  on.command({"SET", "job", "7"});
  refused();
  on.command({"RPUSH", "job", "a"});
  refused();
  on.command({"ZADD", "job", "1", "a"});
  refused();
  on.command({"HSET", "job", "mode", "read", theirs, "1"});
  refused();
}

TEST_F(redisson_codec, a_release_compares_the_owner_and_publishes_a_zero) {
  on.listen_to(channel);
  on.heard();
  for (const operation what : {operation::release, operation::withdraw}) {
    try_lock(theirs);
    EXPECT_EQ(ask(what, ours).what, verdict::not_owner);
    EXPECT_EQ(ask(what, ours).why, errc{}) << "another owner has it";
    EXPECT_EQ(on.heard(), "");
    EXPECT_EQ(ask(what, theirs).what, verdict::done);
    EXPECT_EQ(on.heard(),
              "*3\r\n$7\r\nmessage\r\n$28\r\nredisson_lock__channel:{job}\r\n$1\r\n0\r\n");
    EXPECT_EQ(ask(what, theirs).why, errc::not_held);
    EXPECT_EQ(on.heard(), "");
  }
  EXPECT_EQ(on.command({"DBSIZE"}), ":1\r\n") << "nothing is left but the counter";
}

TEST_F(redisson_codec, a_release_takes_no_foreign_hold_along) {
  on.listen_to(channel);
  on.heard();
  try_lock();
  on.command({"HSET", "job", theirs, "1"});
  EXPECT_EQ(ask(operation::release, ours).what, verdict::done);
  EXPECT_EQ(contents(), "*2\r\n$39\r\n" + std::string(theirs) + "\r\n$1\r\n1\r\n");
  EXPECT_EQ(on.heard(), "") << "the lock is not free";
}

TEST_F(redisson_codec, a_spin_lock_is_the_same_without_messages) {
  codec of_spin(std::string(client_id), waiters::poll);
  codec_on_model spins(of_spin);
  spins.listen_to(channel);
  spins.heard();
  const lock_request mine{.key = "job", .owner = ours, .ttl = 10s};
  EXPECT_EQ(spins.ask(operation::try_lock, mine).what, verdict::granted);
  EXPECT_EQ(spins.command({"HGET", "job", ours}), "$1\r\n1\r\n");
  EXPECT_EQ(spins.ask(operation::release, mine).what, verdict::done);
  EXPECT_EQ(spins.ask(operation::try_lock, mine).what, verdict::granted);
  EXPECT_TRUE(spins.break_lock("job", ours));
  EXPECT_EQ(spins.heard(), "");
  EXPECT_FALSE(of_spin.facts().rules.has_channel);
}

TEST_F(redisson_codec, renewals_compare_the_owner_of_each_lock) {
  try_lock(ours, 3s);
  on.command({"HSET", "other", theirs, "1"});
  on.command({"PEXPIRE", "other", "3000"});
  on.command({"SET", "text", "a"});
  std::vector<lock_request> all;
  for (const std::string_view key : {"job", "other", "none", "text"})
    all.push_back({.key = key, .owner = ours, .ttl = 20s});
  const auto replies = on.renew(all);
  EXPECT_EQ(replies[0].what, verdict::done);
  EXPECT_EQ(replies[1].what, verdict::not_owner);
  EXPECT_EQ(replies[1].why, errc{});
  EXPECT_EQ(replies[2].why, errc::not_held);
  EXPECT_EQ(replies[3].what, verdict::not_owner);
  EXPECT_EQ(on.command({"PTTL", "job"}), ":20000\r\n");
  EXPECT_EQ(on.command({"PTTL", "other"}), ":3000\r\n") << "a foreign hold";
}

TEST_F(redisson_codec, a_request_that_arrives_late_shortens_no_lease) {
  try_lock(ours, 60s);
  const lock_request late[] = {{.key = "job", .owner = ours, .ttl = 20s}};
  EXPECT_EQ(on.renew(late)[0].what, verdict::done);
  EXPECT_EQ(try_lock(ours, 20s).what, verdict::granted);
  EXPECT_EQ(on.command({"PTTL", "job"}), ":60000\r\n");
}

TEST_F(redisson_codec, a_lock_is_broken_for_the_owner_that_was_seen_and_wakes_waiters) {
  held_by(theirs, "2", "3000");
  ASSERT_EQ(on.look("job").size(), 1u);
  EXPECT_EQ(on.look("job")[0].owner, theirs);
  EXPECT_EQ(on.look("job")[0].expires_in, 3s);
  on.listen_to(channel);
  on.heard();
  EXPECT_FALSE(on.break_lock("job", ours));
  EXPECT_TRUE(on.break_lock("job", theirs));
  EXPECT_NE(on.heard(), "");
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n");
  EXPECT_FALSE(on.break_lock("job", theirs));
}

TEST_F(redisson_codec, an_error_that_passes_is_to_be_sent_again) {
  try_lock();
  on.model.set_readonly(true);
  EXPECT_EQ(ask(operation::release, ours).what, verdict::not_now);
  EXPECT_EQ(on.renew(std::vector{lock_request{.key = "job", .owner = ours, .ttl = 9s}})[0].what,
            verdict::not_now);
  on.model.set_readonly(false);
  ask(operation::release, ours);
  on.model.set_maxmemory_full(true);
  EXPECT_EQ(try_lock().what, verdict::not_now);
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n");
}

TEST_F(redisson_codec, a_right_that_is_missing_is_an_error_of_the_server) {
  for (const std::string command : {"pttl", "incr", "hset"}) {
    on.model.forbid(command);
    const retrying_reply r = try_lock();
    EXPECT_EQ(r.what, verdict::failed) << command;
    EXPECT_EQ(r.why, errc::refused) << command;
    on.model.allow(command);
  }
  EXPECT_EQ(try_lock().what, verdict::granted);
  on.model.forbid("hdel");
  EXPECT_EQ(ask(operation::release, ours).what, verdict::failed);
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":1\r\n");
}

TEST_F(redisson_codec, braces_of_a_name_are_its_slot) {
  const lock_request r{.key = "{t}:job", .owner = ours, .ttl = 10s};
  EXPECT_EQ(on.ask(operation::try_lock, r).what, verdict::granted);
  EXPECT_EQ(on.command({"GET", "redisson_lock_token:{t}:job"}), "$1\r\n1\r\n");
  EXPECT_EQ(tested.channel_of(r), "redisson_lock__channel:{t}:job");
  EXPECT_FALSE(tested.name_fault("a}b").empty());
}

TEST_F(redisson_codec, a_script_is_known_by_its_hash_once_it_is_loaded) {
  const lock_request r{.key = "job", .owner = ours, .ttl = 10s};
  EXPECT_EQ(on.ask(operation::try_lock, r, script_form::by_hash).what, verdict::failed);
  for (const script* const s : tested.facts().loaded) on.command({"SCRIPT", "LOAD", s->text});
  EXPECT_EQ(on.ask(operation::try_lock, r, script_form::by_hash).what, verdict::granted);
}

TEST_F(redisson_codec, its_owners_are_those_of_redisson) {
  const std::string owner = tested.text_of({.high = 1, .low = 23});
  EXPECT_EQ(owner, std::string(client_id) + ":23");
  EXPECT_TRUE(tested.is_owner(owner));
  EXPECT_FALSE(tested.is_owner("hfl:1"));
}

}  // namespace
}  // namespace holdfast::redis::redisson
