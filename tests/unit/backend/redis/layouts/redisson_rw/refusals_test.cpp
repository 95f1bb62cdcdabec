// Layout `redisson-rw` and keys that are not its own, and with writes that are
// refused.
#include "tests/unit/backend/redis/layouts/redisson_rw/rw_on_model.hpp"

namespace holdfast::redis::redisson_rw {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

class redisson_rw_refusals : public requests_on_model {};

TEST_F(redisson_rw_refusals, a_counter_that_is_none_is_refused_before_anything_is_written) {
  for (const std::string_view bad : {"", "x", "1.5", "9007199254740991"}) {
    on.command({"SET", counter, bad});
    EXPECT_EQ(write(ours).what, verdict::failed) << bad;
    EXPECT_EQ(on.contents(), "") << bad;
  }
  on.command({"DEL", counter});
  on.command({"HSET", counter, "a", "b"});
  EXPECT_EQ(read(ours).why, errc::refused);
  on.command({"DEL", counter});
  on.command({"SET", counter, "9007199254740990"});
  EXPECT_EQ(write(ours).number, 9007199254740991);
}

TEST_F(redisson_rw_refusals, another_type_of_lock_is_refused_and_left_alone) {
  on.command({"SET", "job", "somebody"});
  EXPECT_EQ(write(ours).why, errc::mismatch);
  on.command({"DEL", "job"});
  on.command({"HSET", "job", foreign, "1"});  // an RLock
  for (const lock_mode how : {lock_mode::exclusive, lock_mode::shared})
    EXPECT_EQ(on.ask(operation::try_lock, ours, how).why, errc::mismatch);
  EXPECT_EQ(release(foreign).what, verdict::not_owner);
  EXPECT_EQ(on.renew(foreign, 9s).what, verdict::not_owner);
  EXPECT_EQ(on.ask(operation::downgrade, foreign).what, verdict::not_owner);
  EXPECT_TRUE(on.look("job").empty());
  EXPECT_FALSE(on.break_lock("job", foreign));
  EXPECT_EQ(on.contents(), "b=1 -1");
}

TEST_F(redisson_rw_refusals, what_is_no_hold_stays_as_long_as_the_lock) {
  on.command({"HSET", "job", "mode", "read", "odd", "many", "more", "1000000000", "none", "-1"});
  EXPECT_EQ(write(ours).rest, duration::max());
  on.command({"PEXPIRE", "job", "4000"});
  EXPECT_EQ(write(ours).rest, 4s);
  EXPECT_EQ(read(ours).what, verdict::granted);
  release(ours);
  pass(10'001ms);
  EXPECT_EQ(write(ours).what, verdict::granted);
}

TEST_F(redisson_rw_refusals, a_lock_without_an_end_gets_none) {
  on.command({"HSET", "job", "mode", "read", foreign, "1"});
  on.command({"SET", "{job}:" + std::string(foreign) + ":rwlock_timeout:1", "1"});
  EXPECT_EQ(read(ours).what, verdict::granted);
  EXPECT_EQ(on.renew(ours, 9s).what, verdict::done);
  EXPECT_EQ(release(ours).what, verdict::done);
  EXPECT_EQ(on.contents(), "b=1 mode=read -1 b:1=1 -1");
  EXPECT_EQ(write(ours).rest, duration::max());
}

TEST_F(redisson_rw_refusals, at_maxmemory_holds_are_renewed_and_end_and_none_begins) {
  read(ours);
  read(third);
  on.model.set_maxmemory_full(true);
  EXPECT_EQ(on.renew(ours, 20s).what, verdict::done);
  EXPECT_EQ(release(ours).what, verdict::done);
  EXPECT_EQ(release(third).what, verdict::done);
  EXPECT_EQ(write(ours).what, verdict::not_now);
  EXPECT_EQ(read(ours).what, verdict::not_now);
  EXPECT_EQ(on.contents(), "");
  on.model.set_maxmemory_full(false);
  write(ours);
  on.model.set_maxmemory_full(true);
  EXPECT_EQ(on.ask(operation::downgrade, ours).what, verdict::not_now);
  EXPECT_EQ(on.contents(), "a:write=1 mode=write 10000");
  EXPECT_EQ(release(ours).what, verdict::done);
  EXPECT_EQ(on.contents(), "");
}

TEST_F(redisson_rw_refusals, a_writer_that_was_refused_half_way_is_still_one) {
  for (const char* const right : {"hset", "set", "publish"}) {
    write(ours);
    on.model.forbid(right);
    EXPECT_EQ(on.ask(operation::downgrade, ours).what, verdict::failed) << right;
    EXPECT_EQ(write(foreign).what, verdict::busy) << right;
    EXPECT_EQ(on.renew(ours, 10s).what, verdict::done) << right;
    on.model.allow(right);
    EXPECT_EQ(release(ours).what, verdict::done) << right;
    EXPECT_EQ(release(ours).what, verdict::not_owner) << right;
    on.command({"DEL", "job"});
  }
}

TEST_F(redisson_rw_refusals, an_answer_that_is_none_of_a_script_is_no_grant) {
  on.model.set_readonly(true);
  EXPECT_EQ(write(ours).what, verdict::not_now);
  on.model.set_readonly(false);
  on.model.forbid("pexpire");
  EXPECT_TRUE(write(ours).left) << "it stopped where it was";
}

}  // namespace
}  // namespace holdfast::redis::redisson_rw
