// The scripts of layout `redisson-permits` on the model of Redis, and what its replies mean.
#include "backend/redis/layouts/redisson_permits/codec.hpp"

#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::redisson_permits {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

constexpr std::string_view timeouts = "{job}:timeout", channel = "redisson_sc:{job}";
constexpr retrying_owner ours{.high = 0x6162636465666768, .low = 0x696a6b6c00000001};
constexpr retrying_owner theirs{.high = 0x4142434445464748, .low = 0x494a4b4c00000001};
const std::string first_of_ours("abcdefghijkl\0\0\0\0", 16);
const std::string second_of_ours("abcdefghijkl\0\0\0\1", 16);

struct redis_permits_codec : testing::Test {
  const codec tested{};
  codec_on_model on{tested};

  lock_request request(const retrying_owner& o, std::uint32_t n, std::uint32_t total = 3) const {
    return {.key = "job",
            .id = o,
            .ttl = 10s,
            .mode = lock_mode::permit,
            .permits = n,
            .total_permits = total,
            .wall = on.now};
  }
  // What is heard on the channel while this is done.
  template <class Doing>
  std::string heard_in(Doing doing) {
    if (!std::exchange(listens_, true)) on.listen_to(channel);
    on.heard();
    doing();
    return on.heard();
  }
  retrying_reply try_lock(const retrying_owner& o, std::uint32_t n, std::uint32_t total = 3) {
    return on.ask(operation::try_lock, request(o, n, total));
  }
  retrying_reply release(const retrying_owner& o, std::uint32_t n) {
    return on.ask(operation::release, request(o, n));
  }
  std::vector<retrying_reply> renew(const std::vector<lock_request>& all) { return on.renew(all); }
  std::string available() { return on.command({"GET", "job"}); }
  std::string out() { return on.command({"ZCARD", timeouts}); }

 private:
  bool listens_ = false;
};

TEST_F(redis_permits_codec, permits_are_entries_of_sixteen_bytes_with_their_end) {
  EXPECT_EQ(try_lock(ours, 2).what, verdict::granted);
  EXPECT_EQ(available(), "$1\r\n1\r\n");
  EXPECT_EQ(out(), ":2\r\n");
  EXPECT_EQ(on.command({"ZSCORE", timeouts, first_of_ours}), "$13\r\n1700000010000\r\n");
  EXPECT_EQ(on.command({"ZSCORE", timeouts, second_of_ours}), "$13\r\n1700000010000\r\n");
  EXPECT_EQ(on.command({"PTTL", "job"}), ":-1\r\n");
}

TEST_F(redis_permits_codec, a_semaphore_that_is_not_there_is_made_and_announced) {
  const std::string heard = heard_in([&] { try_lock(ours, 1); });
  EXPECT_NE(heard.find("$1\r\n3\r\n"), heard.npos) << heard;
  on.command({"SET", "job", "0"});
  on.command({"DEL", timeouts});
  EXPECT_EQ(try_lock(theirs, 1).why, errc::mismatch) << "one without permits is there";
}

TEST_F(redis_permits_codec, permits_are_granted_all_or_none) {
  EXPECT_EQ(try_lock(theirs, 2).what, verdict::granted);
  on.now += 4s;
  const retrying_reply r = try_lock(ours, 2);
  EXPECT_EQ(r.what, verdict::busy);
  EXPECT_EQ(r.rest, 6s) << "then the first of the others ends";
  EXPECT_EQ(out(), ":2\r\n");
  EXPECT_EQ(available(), "$1\r\n1\r\n");
}

TEST_F(redis_permits_codec, a_permit_without_an_end_shows_none) {
  on.command({"SET", "job", "0"});
  on.command({"ZADD", timeouts, "922337203685477", "0123456789abcdef"});
  EXPECT_EQ(try_lock(ours, 1, 1).rest, duration::max());
  EXPECT_EQ(on.look("job").at(0).expires_in, std::chrono::milliseconds::max());
}

TEST_F(redis_permits_codec, a_claim_that_has_its_permits_is_granted_them_once) {
  try_lock(ours, 2);
  on.now += 2s;
  EXPECT_EQ(try_lock(ours, 2).what, verdict::granted);
  EXPECT_EQ(out(), ":2\r\n");
  EXPECT_EQ(available(), "$1\r\n1\r\n");
  EXPECT_EQ(on.command({"ZSCORE", timeouts, first_of_ours}), "$13\r\n1700000012000\r\n");
  on.command({"ZREM", timeouts, second_of_ours});
  on.command({"INCR", "job"});
  EXPECT_EQ(try_lock(ours, 2).what, verdict::granted) << "and anew where one was lost";
  EXPECT_EQ(out(), ":2\r\n");
  EXPECT_EQ(available(), "$1\r\n1\r\n");
}

TEST_F(redis_permits_codec, a_permit_that_has_ended_comes_back_with_any_request) {
  const auto lapse = [&] {
    on.command({"DEL", "job", timeouts});
    on.command({"SET", "job", "2"});
    on.command({"ZADD", timeouts, "1", "0123456789abcdef"});
  };
  for (const operation what : {operation::try_lock, operation::release, operation::withdraw}) {
    lapse();
    const std::string heard = heard_in([&] { on.ask(what, request(ours, 3)); });
    EXPECT_NE(heard.find("$1\r\n3\r\n"), heard.npos) << heard;
    EXPECT_EQ(on.command({"ZSCORE", timeouts, "0123456789abcdef"}), "$-1\r\n");
  }
  lapse();
  renew({request(ours, 1)});
  EXPECT_EQ(available(), "$1\r\n3\r\n");
}

TEST_F(redis_permits_codec, a_release_gives_the_permits_back_and_announces_the_new_value) {
  try_lock(ours, 2);
  const std::string heard = heard_in([&] { EXPECT_EQ(release(ours, 2).what, verdict::done); });
  EXPECT_NE(heard.find("$1\r\n3\r\n"), heard.npos) << heard;
  EXPECT_EQ(available(), "$1\r\n3\r\n");
  EXPECT_EQ(on.command({"EXISTS", timeouts}), ":0\r\n");
  EXPECT_EQ(release(ours, 2).what, verdict::not_owner);
  EXPECT_EQ(available(), "$1\r\n3\r\n") << "once only";
}

TEST_F(redis_permits_codec, the_release_of_an_ended_permit_counts_it_once_and_is_no_release) {
  try_lock(ours, 1);
  on.now += 10s;
  EXPECT_EQ(release(ours, 1).what, verdict::not_owner);
  EXPECT_EQ(available(), "$1\r\n3\r\n");
}

TEST_F(redis_permits_codec, a_renewal_moves_only_what_is_left_of_its_own) {
  try_lock(ours, 2);
  try_lock(theirs, 1);
  on.now += 5s;
  const lock_request other{.key = "none", .id = ours, .ttl = 10s, .wall = on.now};
  const auto replies = renew({request(ours, 2), request(theirs, 1), other});
  EXPECT_EQ(replies[0].what, verdict::done);
  EXPECT_EQ(replies[1].what, verdict::done);
  EXPECT_EQ(replies[2].what, verdict::not_owner);
  EXPECT_EQ(replies[2].why, errc::not_held) << "nobody has a permit of it";
  EXPECT_EQ(on.command({"ZSCORE", timeouts, first_of_ours}), "$13\r\n1700000015000\r\n");
  on.command({"ZREM", timeouts, first_of_ours});
  on.command({"INCR", "job"});
  EXPECT_EQ(renew({request(ours, 2)})[0].what, verdict::not_owner) << "one of two is lost";
  EXPECT_EQ(renew({request(ours, 2)})[0].why, errc{}) << "others have permits";
  EXPECT_EQ(out(), ":1\r\n") << "the other one was given back";
  EXPECT_EQ(available(), "$1\r\n2\r\n");
}

TEST_F(redis_permits_codec, a_request_that_arrives_late_shortens_no_lease) {
  try_lock(ours, 1);
  lock_request longer = request(ours, 1);
  longer.ttl = 60s;
  renew({longer});
  EXPECT_EQ(renew({request(ours, 1)})[0].what, verdict::done);
  EXPECT_EQ(try_lock(ours, 1).what, verdict::granted);
  EXPECT_EQ(on.command({"ZSCORE", timeouts, first_of_ours}), "$13\r\n1700000060000\r\n");
}

TEST_F(redis_permits_codec, a_permit_that_has_ended_is_not_renewed) {
  try_lock(ours, 1);
  on.now += 10s;
  EXPECT_EQ(renew({request(ours, 1)})[0].what, verdict::not_owner);
  EXPECT_EQ(available(), "$1\r\n3\r\n");
}

TEST_F(redis_permits_codec, another_total_is_a_mismatch_that_names_both) {
  try_lock(ours, 1, 3);
  const lock_request five = request(theirs, 1, 5);
  EXPECT_EQ(on.ask(operation::try_lock, five).why, errc::mismatch);
}

TEST_F(redis_permits_codec, a_key_of_another_type_is_a_mismatch_and_stays) {
  const auto expect_mismatch = [&](const char* what) {
    EXPECT_EQ(try_lock(ours, 1).why, errc::mismatch) << what;
    EXPECT_EQ(try_lock(ours, 1).what, verdict::failed) << what;
    EXPECT_EQ(release(ours, 1).what, verdict::not_owner) << what;
    EXPECT_EQ(renew({request(ours, 1)})[0].what, verdict::not_owner) << what;
    EXPECT_TRUE(on.look("job").empty()) << what;
    on.command({"DEL", "job", timeouts});
  };
  on.command({"HSET", "job", "a", "b"});
  expect_mismatch("a hash");
  on.command({"SET", "job", "hfl:1"});
  expect_mismatch("a lock");
  on.command({"SET", "job", "1e3"});
  expect_mismatch("no whole number");
  on.command({"SET", "job", "3"});
  on.command({"HSET", timeouts, "a", "b"});
  expect_mismatch("a hash for the permits");
}

TEST_F(redis_permits_codec, foreign_members_and_a_missing_count_harm_nothing) {
  on.command({"SET", "job", "1"});
  on.command({"ZADD", timeouts, "9700000000000", "short", "9700000000000", "0123456789abcdef"});
  EXPECT_EQ(try_lock(ours, 1).what, verdict::granted);
  EXPECT_EQ(on.look("job").size(), 2u) << "one is no permit";
  on.command({"DEL", "job"});
  EXPECT_EQ(try_lock(theirs, 1).what, verdict::busy);
  EXPECT_EQ(release(ours, 1).what, verdict::done);
  EXPECT_EQ(available(), "$1\r\n1\r\n");
}

TEST_F(redis_permits_codec, a_count_with_an_end_gives_it_to_the_permits) {
  on.command({"SET", "job", "3", "PX", "5000"});
  try_lock(ours, 1);
  EXPECT_EQ(on.command({"PTTL", timeouts}), ":5000\r\n");
}

TEST_F(redis_permits_codec, too_many_permits_at_once_are_refused) {
  EXPECT_EQ(try_lock(ours, 1001, 2000).why, errc::unsupported);
  EXPECT_EQ(on.command({"EXISTS", "job"}), ":0\r\n");
  EXPECT_EQ(release(ours, 1001).what, verdict::not_owner);
  EXPECT_EQ(try_lock(ours, 1000, 2000).what, verdict::granted);
  EXPECT_EQ(release(ours, 1000).what, verdict::done);
  EXPECT_EQ(available(), "$4\r\n2000\r\n");
}

TEST_F(redis_permits_codec, holders_are_shown_by_their_first_permit_and_broken_by_it) {
  try_lock(ours, 2, 4);
  on.command({"DECR", "job"});
  on.command({"ZADD", timeouts, "1700000020000", "0123456789abcdef"});
  const auto found = on.look("job");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].owner, tested.text_of(ours));
  EXPECT_EQ(found[0].permits, 2u);
  EXPECT_EQ(found[0].total_permits, 4u);
  EXPECT_EQ(found[0].expires_in, 10s);
  EXPECT_EQ(found[0].mode, lock_mode::permit);
  EXPECT_EQ(found[1].owner, "30313233343536373839616263646566");
  EXPECT_FALSE(on.break_lock("job", "somebody"));
  EXPECT_FALSE(on.break_lock("job", tested.text_of(theirs)));
  const std::string heard =
      heard_in([&] { EXPECT_TRUE(on.break_lock("job", tested.text_of(ours))); });
  EXPECT_NE(heard.find("$1\r\n3\r\n"), heard.npos) << heard;
  EXPECT_EQ(out(), ":1\r\n");
  EXPECT_TRUE(on.break_lock("job", found[1].owner));
  EXPECT_EQ(available(), "$1\r\n4\r\n");
}

TEST_F(redis_permits_codec, names_with_braces_keep_all_keys_together) {
  lock_request r = request(ours, 1);
  r.key = "a{b}c";
  EXPECT_EQ(on.ask(operation::try_lock, r).what, verdict::granted);
  EXPECT_EQ(on.command({"ZCARD", "a{b}c:timeout"}), ":1\r\n");
  EXPECT_EQ(tested.channel_of(r), "redisson_sc:a{b}c");
  EXPECT_NE(tested.name_fault("a}b"), "");
  EXPECT_EQ(tested.name_fault("a{b}"), "");
}

TEST_F(redis_permits_codec, owners_are_thirty_two_hexadecimal_digits) {
  EXPECT_EQ(tested.text_of(ours), "6162636465666768696a6b6c00000000");
  EXPECT_TRUE(tested.is_owner(tested.text_of(ours)));
  EXPECT_FALSE(tested.is_owner("6162636465666768696A6b6c00000000"));
  EXPECT_FALSE(tested.is_owner("61"));
}

}  // namespace
}  // namespace holdfast::redis::redisson_permits
