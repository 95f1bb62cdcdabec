// The commands of layouts `setnx` and `setnx-exists` on the model of Redis, and what their replies
// mean.
#include "backend/redis/layouts/setnx/codec.hpp"

#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::setnx {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

constexpr std::string_view ours = "hfx:1", theirs = "hfx:2";

struct setnx_on_model {
  explicit setnx_on_model(acquired_by how) : tested(how) {}
  codec tested;
  codec_on_model on{tested};

  // One command; `seen` plays no part.
  retrying_reply step(operation what, std::uint8_t n, std::string_view owner = ours) {
    return on.ask(what, {.key = "job", .owner = owner, .ttl = 10s, .step = n});
  }
  // All commands of it.
  verdict all(operation what, std::string_view owner = ours) {
    for (std::uint8_t n = 0;; ++n)
      if (const verdict v = step(what, n, owner).what; v != verdict::next_step) return v;
  }
  std::string owner() { return on.command({"GET", "job"}); }
};

struct redis_setnx_codec : testing::Test, setnx_on_model {
  redis_setnx_codec() : setnx_on_model(acquired_by::setnx) {}
};

TEST_F(redis_setnx_codec, an_acquire_is_two_commands_and_between_them_the_key_has_no_end) {
  EXPECT_EQ(step(operation::try_lock, 0).what, verdict::next_step);
  EXPECT_EQ(on.command({"PTTL", "job"}), ":-1\r\n");
  EXPECT_EQ(owner(), "$5\r\nhfx:1\r\n");
  EXPECT_EQ(step(operation::try_lock, 1).what, verdict::granted);
  EXPECT_EQ(on.command({"PTTL", "job"}), ":10000\r\n");
  EXPECT_EQ(all(operation::try_lock, theirs), verdict::busy);
}

TEST_F(redis_setnx_codec, a_key_that_went_between_the_commands_is_not_ours) {
  step(operation::try_lock, 0);
  on.command({"DEL", "job"});
  EXPECT_EQ(step(operation::try_lock, 1).what, verdict::busy);
}

TEST_F(redis_setnx_codec, a_second_command_that_is_refused_has_left_the_first) {
  step(operation::try_lock, 0);
  on.model.forbid("pexpire");
  const retrying_reply r = step(operation::try_lock, 1);
  EXPECT_EQ(r.what, verdict::failed);
  EXPECT_TRUE(r.left);
  on.model.forbid("setnx");
  EXPECT_FALSE(step(operation::try_lock, 0).left);
}

TEST_F(redis_setnx_codec, an_attempt_without_a_reply_is_resolved_by_reading_the_owner) {
  EXPECT_EQ(all(operation::resolve), verdict::busy);
  step(operation::try_lock, 0);
  EXPECT_EQ(step(operation::resolve, 0).what, verdict::next_step);
  EXPECT_EQ(step(operation::resolve, 1).what, verdict::granted);
  EXPECT_EQ(on.command({"PTTL", "job"}), ":10000\r\n");
  EXPECT_EQ(all(operation::resolve, theirs), verdict::busy);
}

TEST_F(redis_setnx_codec, a_release_deletes_whatever_lock_there_is) {
  all(operation::try_lock, theirs);
  EXPECT_EQ(all(operation::release, ours), verdict::done);
  EXPECT_EQ(owner(), "$-1\r\n") << "known failure";
  EXPECT_EQ(all(operation::release, ours), verdict::not_owner);
}

TEST_F(redis_setnx_codec, a_withdrawal_compares_the_owner_first) {
  all(operation::try_lock, theirs);
  EXPECT_EQ(all(operation::withdraw, ours), verdict::not_owner);
  EXPECT_EQ(owner(), "$5\r\nhfx:2\r\n");
  EXPECT_EQ(all(operation::withdraw, theirs), verdict::done);
  EXPECT_EQ(owner(), "$-1\r\n");
}

TEST_F(redis_setnx_codec, renewals_notice_another_owner_and_have_lengthened_its_lease) {
  all(operation::try_lock);
  on.command({"SET", "other", theirs, "PX", "1000"});
  std::vector<lock_request> locks;
  for (const std::string_view key : {"job", "other", "none"})
    locks.push_back({.key = key, .owner = ours, .ttl = 20s});
  std::string bytes;
  script_cache none({});
  command_writer out(bytes, none);
  tested.append_renewals(out, locks);
  const auto replies = on.last_of(bytes, tested.renewal_replies(3), [&](const value& v) {
    std::vector<retrying_reply> read;
    for (std::size_t i = 0; i < 4; ++i) read.push_back(tested.read_renewal(v, i, {}));
    return read;
  });
  EXPECT_EQ(replies[0].what, verdict::done);
  EXPECT_EQ(replies[1].what, verdict::not_owner);
  EXPECT_EQ(replies[1].why, errc{});
  EXPECT_EQ(replies[2].why, errc::not_held);
  EXPECT_EQ(replies[3].what, verdict::failed) << "no such reply";
  EXPECT_EQ(on.command({"PTTL", "other"}), ":20000\r\n") << "known failure";
}

TEST_F(redis_setnx_codec, a_holder_is_shown_and_broken_by_its_owner) {
  all(operation::try_lock);
  ASSERT_EQ(on.look("job").size(), 1u);
  EXPECT_EQ(on.look("job")[0].owner, ours);
  EXPECT_EQ(on.look("job")[0].expires_in, 10s);
  EXPECT_FALSE(on.break_lock("job", theirs));
  EXPECT_TRUE(on.break_lock("job", ours));
  on.command({"HSET", "job", "a", "b"});
  EXPECT_EQ(on.look("job").size(), 1u);
  EXPECT_EQ(all(operation::try_lock), verdict::busy) << "a key of another type is somebody's";
}

struct redis_setnx_exists_codec : testing::Test, setnx_on_model {
  redis_setnx_exists_codec() : setnx_on_model(acquired_by::exists) {}
};

TEST_F(redis_setnx_exists_codec, two_that_see_no_lock_both_have_it) {
  EXPECT_EQ(step(operation::try_lock, 0, ours).what, verdict::next_step);
  EXPECT_EQ(step(operation::try_lock, 0, theirs).what, verdict::next_step);
  for (const std::string_view owner : {ours, theirs}) {
    EXPECT_EQ(step(operation::try_lock, 1, owner).what, verdict::next_step);
    EXPECT_EQ(step(operation::try_lock, 2, owner).what, verdict::granted);
  }
  EXPECT_EQ(owner(), "$5\r\nhfx:1\r\n");
}

TEST_F(redis_setnx_exists_codec, a_withdrawal_deletes_whatever_lock_there_is) {
  EXPECT_EQ(all(operation::try_lock, theirs), verdict::granted);
  EXPECT_EQ(all(operation::try_lock, ours), verdict::busy);
  EXPECT_EQ(all(operation::withdraw, ours), verdict::done);
  EXPECT_EQ(owner(), "$-1\r\n");
  EXPECT_TRUE(tested.facts().rules.withdraws_always);
}

}  // namespace
}  // namespace holdfast::redis::setnx
