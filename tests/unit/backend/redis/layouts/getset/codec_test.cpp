// The commands of layout `getset` on the model of Redis, and what their replies mean.
#include "backend/redis/layouts/getset/codec.hpp"

#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::getset {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

constexpr std::string_view key = "job.lock", now_stamp = "1700000000000";

struct redis_getset_codec : testing::Test {
  const codec tested{10s};
  codec_on_model on{tested};
  std::string seen;

  retrying_reply step(operation what, std::uint8_t n, std::string_view owner,
                      std::chrono::microseconds ahead = {}) {
    return on.ask(
        what,
        {.key = key, .owner = owner, .ttl = 10s, .step = n, .wall = on.now + ahead, .seen = seen});
  }
  void put(std::string_view stamp) { on.command({"SET", key, stamp}); }
  std::string stored() { return on.command({"GET", key}); }
};

TEST_F(redis_getset_codec, a_free_lock_is_one_command_and_a_stamp_without_an_end) {
  EXPECT_EQ(step(operation::try_lock, 0, now_stamp).what, verdict::granted);
  EXPECT_EQ(stored(), "$13\r\n1700000000000\r\n");
  EXPECT_EQ(on.command({"PTTL", key}), ":-1\r\n");
}

TEST_F(redis_getset_codec, a_stamp_is_the_time_of_the_acquire_when_the_lease_is_as_long) {
  EXPECT_EQ(tested.text_of({.drawn = tested.stamp_at(on.now, 10s)}), now_stamp);
  EXPECT_EQ(tested.text_of({.drawn = tested.stamp_at(on.now, 4s)}), "1699999994000");
  EXPECT_EQ(tested.text_of({.drawn = tested.stamp_at(on.now, 1h)}), "1700003590000");
}

TEST_F(redis_getset_codec, a_living_stamp_is_busy_until_it_is_dead) {
  put("1699999997000");
  EXPECT_EQ(step(operation::try_lock, 0, now_stamp).what, verdict::next_step);
  const retrying_reply r = step(operation::try_lock, 1, now_stamp);
  EXPECT_EQ(r.what, verdict::busy);
  EXPECT_EQ(r.rest, 7s);
}

TEST_F(redis_getset_codec, a_dead_stamp_is_taken_over_by_who_saw_it_last) {
  put("1699999990000");
  EXPECT_EQ(step(operation::try_lock, 1, now_stamp).what, verdict::next_step);
  seen = "1699999990000";
  EXPECT_EQ(step(operation::try_lock, 2, now_stamp).what, verdict::granted);
  EXPECT_EQ(stored(), "$13\r\n1700000000000\r\n");
  const retrying_reply late = step(operation::try_lock, 2, "1700000000001");
  EXPECT_EQ(late.what, verdict::busy) << "the other one was first";
  EXPECT_EQ(late.rest, 10s);
  EXPECT_EQ(stored(), "$13\r\n1700000000001\r\n") << "known failure: the stamp is overwritten";
}

TEST_F(redis_getset_codec, a_lock_that_went_meanwhile_is_free) {
  EXPECT_EQ(step(operation::try_lock, 1, now_stamp).rest, 0s);
  EXPECT_EQ(step(operation::try_lock, 1, now_stamp).what, verdict::busy);
  seen = "1";
  EXPECT_EQ(step(operation::try_lock, 2, now_stamp).what, verdict::granted);
}

TEST_F(redis_getset_codec, a_clock_that_is_ahead_sees_dead_stamps) {
  put("1699999997000");
  EXPECT_EQ(step(operation::try_lock, 1, now_stamp, 7s).what, verdict::next_step);
}

TEST_F(redis_getset_codec, what_is_no_stamp_is_somebody_s_and_never_taken) {
  for (const std::string_view odd :
       {"", "hfl:1", "-5", "17e11", "9007199254740992", "99999999999999999999", "1 "}) {
    put(odd);
    const retrying_reply r = step(operation::try_lock, 1, now_stamp);
    EXPECT_EQ(r.what, verdict::busy) << odd;
    EXPECT_EQ(r.rest, duration::max()) << odd;
    EXPECT_EQ(step(operation::release, 0, now_stamp).what, verdict::not_owner) << odd;
  }
  on.command({"DEL", key});
  on.command({"HSET", key, "a", "b"});
  EXPECT_EQ(step(operation::try_lock, 0, now_stamp).what, verdict::next_step);
  EXPECT_EQ(step(operation::try_lock, 1, now_stamp).why, errc::mismatch);
  EXPECT_TRUE(on.look(key).empty());
}

TEST_F(redis_getset_codec, a_release_reads_its_stamp_and_deletes_in_two_commands) {
  put(now_stamp);
  for (const operation what : {operation::release, operation::withdraw}) {
    EXPECT_EQ(step(what, 0, "1700000000001").what, verdict::not_owner);
    EXPECT_EQ(step(what, 0, now_stamp).what, verdict::next_step);
  }
  lock_request renewed{.key = key, .owner = "1700000000001", .ttl = 10s, .wall = on.now};
  renewed.renewed = 1'700'000'000'002ms;
  EXPECT_EQ(on.ask(operation::release, renewed).what, verdict::not_owner) << "neither stamp";
  renewed.renewed = 1'700'000'000'000ms;
  EXPECT_EQ(on.ask(operation::release, renewed).what, verdict::next_step);
  put("1700000000005");
  EXPECT_EQ(step(operation::release, 1, now_stamp).what, verdict::done) << "known failure";
  EXPECT_EQ(stored(), "$-1\r\n");
  EXPECT_EQ(step(operation::release, 1, now_stamp).what, verdict::not_owner);
}

TEST_F(redis_getset_codec, an_attempt_without_a_reply_is_resolved_by_its_stamp) {
  EXPECT_EQ(step(operation::resolve, 0, now_stamp).what, verdict::busy);
  put(now_stamp);
  EXPECT_EQ(step(operation::resolve, 0, now_stamp).what, verdict::granted);
  EXPECT_EQ(step(operation::resolve, 0, "1700000000001").what, verdict::busy);
}

TEST_F(redis_getset_codec, a_renewal_writes_a_newer_stamp_over_its_own_alone) {
  put(now_stamp);
  on.command({"SET", "other.lock", "1700000000009"});
  on.command({"SET", "late.lock", "1700000000001"});
  on.now += 3s;
  std::vector<lock_request> all;
  for (const std::string_view k : {"job.lock", "other.lock", "none.lock", "late.lock"})
    all.push_back({.key = k, .owner = now_stamp, .ttl = 10s, .wall = on.now});
  all[1].renewed = all.back().renewed = std::chrono::milliseconds{1'700'000'000'001};
  const auto replies = on.renew(all);
  EXPECT_EQ(replies[0].what, verdict::done);
  EXPECT_EQ(replies[1].what, verdict::not_owner);
  EXPECT_EQ(replies[2].why, errc::not_held);
  EXPECT_EQ(replies[3].what, verdict::done) << "a renewal that was not answered";
  EXPECT_EQ(stored(), "$13\r\n1700000003000\r\n");
  EXPECT_EQ(on.command({"GET", "other.lock"}), "$13\r\n1700000000009\r\n");
}

TEST_F(redis_getset_codec, a_holder_is_shown_by_its_stamp_and_broken_by_it) {
  put("1699999997000");
  ASSERT_EQ(on.look(key).size(), 1u);
  EXPECT_EQ(on.look(key)[0].owner, "1699999997000");
  EXPECT_EQ(on.look(key)[0].expires_in, 7s);
  EXPECT_FALSE(on.break_lock(key, now_stamp));
  EXPECT_TRUE(on.break_lock(key, "1699999997000"));
  put("1");
  EXPECT_EQ(on.look(key)[0].expires_in, 0s);
}

}  // namespace
}  // namespace holdfast::redis::getset
