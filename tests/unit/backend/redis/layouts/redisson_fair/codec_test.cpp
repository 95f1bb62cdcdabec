// The scripts of layout `redisson-fair` on the model of Redis, and what their replies mean.
#include "tests/unit/backend/redis/layouts/redisson_fair/queue_on_model.hpp"

namespace holdfast::redis::redisson_fair {
namespace {

using redisson_fair_codec = queue_on_model;

TEST_F(redisson_fair_codec, a_free_lock_is_a_hash_of_its_owner_and_one_hold_with_a_number) {
  const retrying_reply r = try_lock(a);
  EXPECT_EQ(r.what, verdict::granted);
  EXPECT_EQ(r.number, 1);
  EXPECT_EQ(on.command({"HGETALL", "job"}), "*2\r\n$56\r\n" + a + "\r\n$1\r\n1\r\n");
  EXPECT_EQ(on.command({"PTTL", "job"}), ":30000\r\n");
  EXPECT_EQ(on.command({"DBSIZE"}), ":2\r\n") << "the counter, and no queue";
}

TEST_F(redisson_fair_codec, who_waits_stands_in_the_list_with_its_time_in_the_sorted_set) {
  try_lock(a);
  EXPECT_EQ(try_lock(b).what, verdict::busy);
  EXPECT_EQ(line(), (owners{b}));
  EXPECT_EQ(time_of(b), 30s + window) << "the lease, and its own window";
  try_lock(d);
  EXPECT_EQ(line(), (owners{b, d}));
  EXPECT_EQ(time_of(d), time_of(b) + window) << "the time of the one before, and its own window";
  EXPECT_EQ(on.command({"PTTL", "redisson_lock_queue:{job}"}), ":-1\r\n");
  EXPECT_EQ(on.command({"PTTL", "redisson_lock_timeout:{job}"}), ":-1\r\n");
}

TEST_F(redisson_fair_codec,
       a_waiter_that_asks_again_keeps_its_place_and_has_a_window_from_then_on) {
  try_lock(a);
  for (const std::string& each : {b, d, b, d}) EXPECT_EQ(again(each).what, verdict::busy);
  EXPECT_EQ(line(), (owners{b, d}));
  for (int i = 0; i < 5; ++i) {
    pass(5s);
    again(b);
    again(d);
    EXPECT_EQ(time_of(b), window);
    EXPECT_EQ(time_of(d), 2 * window) << "a grant to the one before takes one off";
  }
}

TEST_F(redisson_fair_codec, each_waiter_is_told_when_the_lease_ends) {
  try_lock(a);
  EXPECT_EQ(try_lock(b).rest, 30s);
  EXPECT_EQ(try_lock(d).rest, 30s) << "it may be the next before it asks again";
  on.command({"PERSIST", "job"});
  EXPECT_EQ(again(b).rest, duration::max()) << "a lock without an end";
}

TEST_F(redisson_fair_codec, the_lock_is_granted_in_the_order_of_arrival) {
  try_lock(a);
  try_lock(b);
  try_lock(d);
  release(a);
  EXPECT_EQ(again(d).what, verdict::busy);
  EXPECT_EQ(again(d).rest, window) << "until the head may be dead: not 0";
  EXPECT_EQ(again(b).what, verdict::granted);
  EXPECT_EQ(line(), (owners{d}));
  release(b);
  EXPECT_EQ(again(d).number, 3);
  EXPECT_EQ(line(), (owners{}));
  EXPECT_EQ(on.command({"EXISTS", "redisson_lock_timeout:{job}"}), ":0\r\n");
}

TEST_F(redisson_fair_codec, a_grant_takes_its_window_off_the_times_of_those_who_wait) {
  try_lock(a);
  try_lock(b);
  queued_by_redisson(theirs, time_of(b) + 300s);
  release(a);
  again(b);
  EXPECT_EQ(time_of(theirs), 30s + 300s) << "as if nobody had been before it";
}

TEST_F(redisson_fair_codec, a_try_that_arrives_twice_counts_once) {
  try_lock(a);
  const retrying_reply twice = try_lock(a);
  EXPECT_EQ(twice.what, verdict::granted);
  EXPECT_EQ(twice.number, 1);
  EXPECT_EQ(on.command({"HGET", "job", a}), "$1\r\n1\r\n");
  try_lock(b);
  try_lock(b);
  EXPECT_EQ(line(), (owners{b}));
  release(a);
  EXPECT_EQ(again(b).number, again(b).number);
}

TEST_F(redisson_fair_codec, one_attempt_neither_queues_nor_passes_anybody) {
  try_lock(a);
  EXPECT_EQ(attempt(b).what, verdict::busy);
  EXPECT_EQ(line(), (owners{}));
  try_lock(d);
  release(a);
  EXPECT_EQ(attempt(b).what, verdict::busy);
  pass(window + 1ms);
  EXPECT_EQ(attempt(b).what, verdict::granted) << "the head is dead";
}

TEST_F(redisson_fair_codec, a_dead_head_delays_the_next_by_its_own_window) {
  try_lock(a, 1h);
  try_lock(b);
  try_lock(d);
  release(a);
  EXPECT_EQ(again(d).rest, window) << "whatever the lease was that it waited for";
  pass(window - 1ms);
  EXPECT_EQ(again(d).rest, 1ms);
  pass(1ms);
  EXPECT_EQ(again(d).what, verdict::granted);
}

TEST_F(redisson_fair_codec, waiters_that_died_together_delay_others_by_one_window) {
  try_lock(a);
  for (const std::string& each : {b, d, e, f, b, d, e, f}) again(each);
  release(a);
  pass(window - 1s);
  EXPECT_EQ(again(f).what, verdict::busy);
  EXPECT_EQ(again(f).rest, 1s);
  pass(1s);
  EXPECT_EQ(again(f).what, verdict::granted);
}

TEST_F(redisson_fair_codec, a_living_waiter_is_never_removed_while_those_before_it_get_the_lock) {
  try_lock(a);
  for (const std::string& each : {b, d, e, f, b, d, e, f}) again(each);
  pass(window - 1ms);
  for (const std::string& each : {a, b, d, e}) release(each), try_next();
  EXPECT_EQ(on.command({"HEXISTS", "job", f}), ":1\r\n");
}

TEST_F(redisson_fair_codec, a_waiter_removed_while_it_lived_gets_its_place_back) {
  try_lock(a);
  for (const std::string& each : {b, d, e}) again(each);
  queued_by_redisson(theirs, 1h);
  on.command({"DEL", "redisson_lock_queue:{job}", "redisson_lock_timeout:{job}"});
  queued_by_redisson(theirs, 1h);
  EXPECT_EQ(try_lock(f).what, verdict::busy);
  for (const std::string& each : {d, e, b}) again(each);
  EXPECT_EQ(line(), (owners{b, d, e, theirs, f}));
  EXPECT_EQ(time_of(b), window);
  on.command({"DEL", "job"});
  on.command({"LPOP", "redisson_lock_queue:{job}"});
  EXPECT_EQ(again(b).what, verdict::granted) << "its place is the first";
}

TEST_F(redisson_fair_codec, a_waiter_behind_one_that_returned_does_not_count_as_dead) {
  listen_to({d});
  try_lock(a);
  for (const std::string& each : {d, d}) again(each);
  again(b);
  EXPECT_EQ(line(), (owners{b, d}));
  EXPECT_EQ(time_of(d), 2 * window) << "the grant to the one before takes one off";
  release(a);
  try_next();
  EXPECT_EQ(line(), (owners{d}));
  release(b);
  EXPECT_EQ(on.heard(), message_to(d));
}

TEST_F(redisson_fair_codec, behind_a_waiter_of_redisson_a_time_is_not_shortened) {
  try_lock(a);
  queued_by_redisson(theirs, 330s);
  try_lock(b);
  EXPECT_EQ(time_of(b), 330s + window);
  pass(3s);
  again(b);
  EXPECT_EQ(time_of(b), 327s + window);
  on.command({"ZADD", "redisson_lock_timeout:{job}", "1", b});
  again(b);
  EXPECT_EQ(time_of(b), 2 * window);
}

TEST_F(redisson_fair_codec, a_release_tells_the_head_alone) {
  listen_to({b, d});
  try_lock(a);
  try_lock(b);
  try_lock(d);
  EXPECT_EQ(release(b).what, verdict::not_owner);
  EXPECT_EQ(release(b).why, errc{});
  EXPECT_EQ(on.heard(), "");
  EXPECT_EQ(release(a).what, verdict::done);
  EXPECT_EQ(on.heard(), message_to(b));
  EXPECT_EQ(release(a).why, errc::not_held);
  EXPECT_EQ(on.heard(), message_to(b)) << "the lock had ended before";
}

// It knows the lease of the holder before: it would sleep beyond the end of this one.
TEST_F(redisson_fair_codec, a_grant_with_a_short_lease_wakes_the_next_waiter) {
  listen_to({b, d, e});
  try_lock(a);
  for (const std::string& each : {b, d, e}) again(each);
  release(a);
  on.heard();
  EXPECT_EQ(ask(operation::try_lock, b, 1s, true, true).what, verdict::granted);
  EXPECT_EQ(on.heard(), message_to(d));
  EXPECT_EQ(again(d).rest, 1s);
  release(b);
  on.heard();
  EXPECT_EQ(again(d).what, verdict::granted);
  EXPECT_EQ(on.heard(), "") << "the heartbeat of the next waiter comes before the end of 30 s";
}

TEST_F(redisson_fair_codec, a_release_passes_dead_heads_over) {
  listen_to({b, d});
  try_lock(a);
  try_lock(b);
  pass(5s);
  try_lock(d);
  on.command({"ZADD", "redisson_lock_timeout:{job}", "1", b});
  release(a);
  EXPECT_EQ(on.heard(), message_to(d));
  EXPECT_EQ(line(), (owners{d}));
}

TEST_F(redisson_fair_codec, who_removes_a_dead_head_tells_the_next) {
  listen_to({b, d, e});
  try_lock(a);
  for (const std::string& each : {b, d, e}) again(each);
  release(a);
  on.heard();
  on.command({"ZADD", "redisson_lock_timeout:{job}", "1", b});
  EXPECT_EQ(again(e).what, verdict::busy);
  EXPECT_EQ(on.heard(), message_to(d));
}

TEST_F(redisson_fair_codec, a_withdrawal_gives_up_the_place_and_its_window) {
  listen_to({b, d, e});
  try_lock(a);
  for (const std::string& each : {b, d, e}) again(each);
  const duration before = time_of(e);
  EXPECT_EQ(withdraw(d).what, verdict::done);
  EXPECT_EQ(line(), (owners{b, e}));
  EXPECT_EQ(time_of(e), before - window);
  EXPECT_EQ(on.command({"ZSCORE", "redisson_lock_timeout:{job}", d}), "$-1\r\n");
  EXPECT_EQ(withdraw(d).what, verdict::not_owner);
  EXPECT_EQ(on.heard(), "");
  release(a);
  on.heard();
  withdraw(b);
  EXPECT_EQ(on.heard(), message_to(e)) << "nobody else would tell it";
}

TEST_F(redisson_fair_codec, a_withdrawal_gives_up_the_lock_that_was_granted_meanwhile) {
  listen_to({b});
  try_lock(a);
  try_lock(b);
  EXPECT_EQ(withdraw(a).what, verdict::done);
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n");
  EXPECT_EQ(on.heard(), message_to(b));
}

TEST_F(redisson_fair_codec, a_lock_is_broken_for_the_owner_that_was_seen) {
  listen_to({b});
  held_by_redisson();
  try_lock(b);
  ASSERT_EQ(on.look("job").size(), 1u);
  EXPECT_EQ(on.look("job")[0].owner, theirs);
  EXPECT_EQ(on.look("job")[0].expires_in, 60s);
  EXPECT_EQ(on.look("job")[0].waiting, 1);
  EXPECT_FALSE(on.break_lock("job", b));
  EXPECT_EQ(on.heard(), "");
  EXPECT_TRUE(on.break_lock("job", theirs));
  EXPECT_EQ(on.heard(), message_to(b));
  EXPECT_EQ(line(), (owners{b})) << "the queue stays";
  EXPECT_TRUE(on.look("job").empty());
}

TEST_F(redisson_fair_codec, renewals_compare_the_owner_of_each_lock) {
  try_lock(a);
  on.command({"HSET", "other", theirs, "1"});
  on.command({"PEXPIRE", "other", "3000"});
  std::vector<lock_request> all;
  for (const std::string_view key : {"job", "other", "none"})
    all.push_back({.key = key, .owner = a, .ttl = 50s});
  const auto replies = on.renew(all);
  EXPECT_EQ(replies[0].what, verdict::done);
  EXPECT_EQ(replies[1].what, verdict::not_owner);
  EXPECT_EQ(replies[2].why, errc::not_held);
  EXPECT_EQ(on.command({"PTTL", "job"}), ":50000\r\n");
  EXPECT_EQ(on.command({"PTTL", "other"}), ":3000\r\n") << "a foreign hold";
}

TEST_F(redisson_fair_codec, what_is_no_such_lock_is_a_mismatch) {
  for (const std::string_view key :
       {"job", "redisson_lock_queue:{job}", "redisson_lock_timeout:{job}"}) {
    on.command({"SET", key, "7"});
    EXPECT_EQ(try_lock(a).why, errc::mismatch) << key;
    EXPECT_EQ(withdraw(a).what, verdict::not_owner) << key;
    EXPECT_EQ(on.command({"GET", key}), "$1\r\n7\r\n");
    on.command({"DEL", key});
  }
  on.command({"HSET", "job", "mode", "read", theirs, "1"});
  EXPECT_EQ(try_lock(a).why, errc::mismatch);
  EXPECT_TRUE(on.look("job").empty());
  on.command({"DEL", "job"});
  on.command({"SET", "redisson_lock_token:{job}", "many"});
  EXPECT_EQ(try_lock(a).why, errc::refused);
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n");
}

TEST_F(redisson_fair_codec, a_hash_of_somebody_elses_fields_is_a_busy_lock) {
  on.command({"HSET", "job", "name", "Smith"});
  EXPECT_EQ(try_lock(a).what, verdict::busy);
  EXPECT_EQ(line(), (owners{a}));
}

TEST_F(redisson_fair_codec, a_head_without_a_time_is_not_waited_for_for_ever) {
  on.command({"RPUSH", "redisson_lock_queue:{job}", theirs});
  EXPECT_EQ(try_lock(a, 1h).rest, 300s) << "what a waiter of Redisson has";
  EXPECT_EQ(try_lock(a).what, verdict::busy);
  pass(300s);
  EXPECT_EQ(try_lock(a).what, verdict::granted);
}

TEST_F(redisson_fair_codec, its_owners_are_none_of_redissons_threads) {
  const retrying_owner o{.high = 1, .low = 2, .drawn = 1'700'000'000'000'000us};
  EXPECT_EQ(tested.text_of(o), "00000000-0000-4001-8000-000000000002:8001700000000000000");
  EXPECT_TRUE(tested.is_owner(tested.text_of(o)));
  EXPECT_EQ(tested.channel_of({.key = "job", .owner = a}), "redisson_lock__channel:{job}:" + a);
  EXPECT_FALSE(tested.name_fault("a}b").empty());
}

}  // namespace
}  // namespace holdfast::redis::redisson_fair
