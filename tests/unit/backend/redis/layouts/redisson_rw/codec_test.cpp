// The scripts of layout `redisson-rw` on the model of Redis, and what their replies mean.
#include "backend/redis/layouts/redisson_rw/codec.hpp"

#include "tests/unit/backend/redis/layouts/redisson_rw/rw_on_model.hpp"

namespace holdfast::redis::redisson_rw {
namespace {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;

class redisson_rw_codec : public requests_on_model {};

TEST_F(redisson_rw_codec, a_writer_is_a_hash_with_its_mode_and_its_field) {
  on.listen_to("redisson_rwlock:{job}");
  const retrying_reply r = write(ours);
  EXPECT_EQ(r.what, verdict::granted);
  EXPECT_EQ(r.number, on.now.count());
  EXPECT_EQ(on.contents(), "a:write=1 mode=write 10000");
  EXPECT_EQ(release(ours).what, verdict::done);
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(on.messages(), "1");
}

TEST_F(redisson_rw_codec, a_reader_is_a_field_and_a_key_of_its_hold) {
  on.listen_to("redisson_rwlock:{job}");
  EXPECT_EQ(read(ours).what, verdict::granted);
  EXPECT_EQ(read(foreign, 20s).what, verdict::granted);
  EXPECT_EQ(on.contents(), "a=1 b=1 mode=read 20000 a:1=1 10000 b:1=1 20000");
  EXPECT_EQ(release(foreign).what, verdict::done);
  EXPECT_EQ(on.contents(), "a=1 mode=read 10000 a:1=1 10000");
  EXPECT_EQ(on.messages(), "0") << "who waits for the longest hold has less to wait for";
  EXPECT_EQ(release(ours).what, verdict::done);
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(on.messages(), "0");
}

TEST_F(redisson_rw_codec, readers_and_writers_exclude_each_other_in_both_directions) {
  read(ours);
  EXPECT_EQ(write(foreign).what, verdict::busy);
  release(ours);
  write(foreign, 3s);
  const retrying_reply r = read(ours);
  EXPECT_EQ(r.what, verdict::busy);
  EXPECT_EQ(r.rest, 3s);
  EXPECT_EQ(write(ours).rest, 3s);
}

TEST_F(redisson_rw_codec, what_redisson_writes_is_honoured) {
  on.command({"HSET", "job", "mode", "write", std::string(foreign) + ":write", "2"});
  on.command({"PEXPIRE", "job", "5000"});
  EXPECT_EQ(read(ours).rest, 5s);
  on.command({"DEL", "job"});
  on.read_by(foreign, 2, 5000);
  EXPECT_EQ(write(ours).rest, 5s);
  EXPECT_EQ(read(ours).what, verdict::granted);
  EXPECT_EQ(on.contents(), "a=1 b=2 mode=read 10000 a:1=1 10000 b:1=1 5000 b:2=1 5000");
  release(ours);
  EXPECT_EQ(on.contents(), "b=2 mode=read 5000 b:1=1 5000 b:2=1 5000");
}

TEST_F(redisson_rw_codec, a_try_that_arrives_twice_is_one_hold_with_one_number_and_one_lease) {
  const retrying_reply first = write(ours);
  pass(4s);
  EXPECT_EQ(write(ours).number, first.number);
  EXPECT_EQ(on.contents(), "a:write=1 mode=write 10000") << "its ttl is not added";
  EXPECT_EQ(read(ours).what, verdict::busy) << "no read hold beside it";
  release(ours);
  const auto number = read(ours).number;
  pass(4s);
  EXPECT_EQ(read(ours).number, number);
  EXPECT_EQ(on.contents(), "a=1 mode=read 10000 a:1=1 10000");
}

TEST_F(redisson_rw_codec, a_dead_reader_keeps_nobody_out) {
  read(ours, 2s);
  on.read_by(foreign, 2, 5000);
  EXPECT_EQ(write(third).rest, 5s) << "the longest hold of a living reader";
  pass(2500ms);
  EXPECT_EQ(write(third).rest, 2500ms);
  EXPECT_EQ(on.contents(), "b=2 mode=read 2500 b:1=1 2500 b:2=1 2500") << "ours was removed";
  on.command({"PEXPIRE", "job", "60000"});
  EXPECT_EQ(write(third).rest, 2500ms) << "not what is left of the hash";
  pass(2501ms);
  EXPECT_EQ(write(third).what, verdict::granted);
  EXPECT_EQ(on.contents(), "c:write=1 mode=write 10000");
}

TEST_F(redisson_rw_codec, dead_readers_go_with_the_next_reader_and_with_a_release) {
  on.command({"HSET", "job", "mode", "read", foreign, "1"});
  on.command({"PEXPIRE", "job", "60000"});
  EXPECT_EQ(read(ours).what, verdict::granted);
  EXPECT_EQ(on.contents(), "a=1 mode=read 10000 a:1=1 10000");
  on.command({"HSET", "job", foreign, "1"});
  on.listen_to("redisson_rwlock:{job}");
  release(ours);
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(on.messages(), "0");
}

TEST_F(redisson_rw_codec, a_release_compares_the_owner) {
  for (const lock_mode how : {lock_mode::exclusive, lock_mode::shared}) {
    on.ask(operation::try_lock, foreign, how);
    const std::string before = on.contents();
    EXPECT_EQ(release(ours).what, verdict::not_owner);
    EXPECT_EQ(on.ask(operation::withdraw, ours).what, verdict::not_owner);
    EXPECT_EQ(on.contents(), before);
    EXPECT_EQ(on.ask(operation::withdraw, foreign).what, verdict::done);
    EXPECT_EQ(release(foreign).why, errc::not_held);
  }
}

TEST_F(redisson_rw_codec, a_downgrade_leaves_a_read_hold_with_the_rest_of_the_lease) {
  on.listen_to("redisson_rwlock:{job}");
  const auto number = write(ours).number;
  pass(4s);
  EXPECT_EQ(on.ask(operation::downgrade, ours).what, verdict::done);
  EXPECT_EQ(on.contents(), "a=1 mode=read 6000 a:1=1 6000");
  EXPECT_EQ(on.messages(), "1") << "readers that wait come in";
  EXPECT_EQ(on.ask(operation::downgrade, ours).what, verdict::done) << "it may arrive twice";
  EXPECT_EQ(on.messages(), "");
  EXPECT_EQ(read(third).number, number);
  EXPECT_EQ(on.renew(ours, 20s).what, verdict::done);
  EXPECT_EQ(on.contents(), "a=1 c=1 mode=read 20000 a:1=1 20000 c:1=1 10000");
  release(third);
  release(ours);
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(on.messages(), "0");
  EXPECT_EQ(on.ask(operation::downgrade, ours).why, errc::not_held);
  write(foreign);
  EXPECT_EQ(on.ask(operation::downgrade, ours).what, verdict::not_owner);
}

TEST_F(redisson_rw_codec, a_renewal_extends_its_own_hold_and_no_other) {
  read(ours, 5s);
  on.read_by(foreign, 1, 3000);
  EXPECT_EQ(on.renew(ours, 20s).what, verdict::done);
  EXPECT_EQ(on.contents(), "a=1 b=1 mode=read 20000 a:1=1 20000 b:1=1 3000");
  EXPECT_EQ(on.renew(third, 8s).what, verdict::not_owner);
  pass(21s);
  EXPECT_EQ(on.renew(ours, 8s).why, errc::not_held) << "a hold that has ended stays ended";
  EXPECT_EQ(write(third).what, verdict::granted);
  EXPECT_EQ(on.renew(third, 30s).what, verdict::done);
  EXPECT_EQ(on.contents(), "c:write=1 mode=write 30000");
  EXPECT_EQ(on.renew(ours, 8s).why, errc{}) << "another has it";
}

TEST_F(redisson_rw_codec, a_request_that_arrives_late_shortens_no_lease) {
  read(ours, 60s);
  EXPECT_EQ(on.renew(ours, 20s).what, verdict::done);
  EXPECT_EQ(read(ours, 20s).what, verdict::granted);
  EXPECT_EQ(on.contents(), "a=1 mode=read 60000 a:1=1 60000");
  release(ours);
  on.ask(operation::try_lock, third, lock_mode::exclusive, 60s);
  EXPECT_EQ(on.renew(third, 20s).what, verdict::done);
  EXPECT_EQ(on.ask(operation::try_lock, third, lock_mode::exclusive, 20s).what, verdict::granted);
  EXPECT_EQ(on.contents(), "c:write=1 mode=write 60000");
}

TEST_F(redisson_rw_codec, readers_that_leave_before_a_longer_hold_wake_nobody) {
  on.listen_to("redisson_rwlock:{job}");
  read(ours, 5s);
  read(third, 10s);
  release(ours);
  EXPECT_EQ(on.messages(), "");
  EXPECT_EQ(write(foreign).rest, 10s);
}

TEST_F(redisson_rw_codec, a_short_lease_of_a_reader_shortens_no_other) {
  read(ours, 10s);
  read(third, 3s);
  EXPECT_EQ(on.contents(), "a=1 c=1 mode=read 10000 a:1=1 10000 c:1=1 3000");
  pass(4s);
  EXPECT_EQ(write(foreign).rest, 6s);
  EXPECT_EQ(on.renew(ours, 10s).what, verdict::done);
}

TEST_F(redisson_rw_codec, readers_of_holdfast_that_hold_together_share_a_number) {
  const auto first = read(ours).number;
  EXPECT_EQ(read(third).number, first);
  release(ours);
  EXPECT_EQ(read(ours).number, first);
  on.read_by(foreign, 1, 60'000);
  release(ours);
  release(third);
  EXPECT_GT(read(ours).number, first) << "nobody was left who had the number";
  release(ours);
  on.command({"DEL", "job"});
  const auto last = write(ours).number;
  EXPECT_GT(last, first);
  release(ours);
  on.command({"DEL", counter});
  pass(1ms);
  EXPECT_GT(write(ours).number, last) << "also when the counter is lost";
}

TEST_F(redisson_rw_codec, holders_are_shown_each_with_its_side_and_its_lease) {
  read(ours, 5s);
  on.read_by(foreign, 1, 3000);
  on.command({"HSET", "job", third, "1"});
  const auto readers = on.look("job");
  ASSERT_EQ(readers.size(), 2u) << "not the dead one";
  EXPECT_EQ(readers[0].owner, ours);
  EXPECT_EQ(readers[0].mode, lock_mode::shared);
  EXPECT_EQ(readers[0].expires_in, 5s);
  EXPECT_EQ(readers[1].expires_in, 3s);
  EXPECT_TRUE(on.look("{job}:" + std::string(ours) + ":rwlock_timeout:1").empty());
  EXPECT_TRUE(on.look("none").empty());
  on.command({"DEL", "job"});
  write(ours, 7s);
  ASSERT_EQ(on.look("job").size(), 1u);
  EXPECT_EQ(on.look("job")[0].owner, std::string(ours) + ":write");
  EXPECT_EQ(on.look("job")[0].mode, lock_mode::exclusive);
  EXPECT_EQ(on.look("job")[0].expires_in, 7s);
}

TEST_F(redisson_rw_codec, a_break_ends_the_side_that_was_seen_and_wakes_those_who_wait) {
  on.listen_to("redisson_rwlock:{job}");
  write(ours);
  EXPECT_FALSE(on.break_lock("job", ours)) << "the writer's side was not seen";
  EXPECT_FALSE(on.break_lock("job", "mode"));
  EXPECT_TRUE(on.break_lock("job", std::string(ours) + ":write"));
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(on.messages(), "1");
  on.read_by(foreign, 2, 9000);
  read(ours);
  EXPECT_FALSE(on.break_lock("job", std::string(foreign) + ":write"));
  EXPECT_TRUE(on.break_lock("job", foreign));
  EXPECT_EQ(on.contents(), "a=1 mode=read 10000 a:1=1 10000");
  EXPECT_EQ(on.messages(), "1");
  EXPECT_TRUE(on.break_lock("job", ours));
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(on.messages(), "1");
}

TEST_F(redisson_rw_codec, a_break_of_a_writer_that_also_reads_leaves_it_a_reader) {
  on.command({"HSET", "job", "mode", "write", std::string(foreign) + ":write", "1"});
  on.read_by(foreign, 1, 9000, "write");
  EXPECT_TRUE(on.break_lock("job", std::string(foreign) + ":write"));
  EXPECT_EQ(on.contents(), "b=1 mode=read 9000 b:1=1 9000");
  EXPECT_EQ(read(ours).what, verdict::granted);
}

TEST_F(redisson_rw_codec, a_break_by_the_number_of_a_group_ends_all_readers_that_have_it) {
  const auto number = std::to_string(read(ours).number);
  read(third);
  on.read_by(foreign, 1, 9000);
  EXPECT_FALSE(on.break_lock("job", "readers:1"));
  EXPECT_TRUE(on.break_lock("job", "readers:" + number));
  EXPECT_EQ(on.contents(), "b=1 mode=read 9000 b:1=1 9000");
}

TEST_F(redisson_rw_codec, an_owner_is_a_thread_that_redisson_cannot_have) {
  const codec& c = on.tested;
  const std::string owner = c.text_of({.high = 1, .low = 1});
  EXPECT_EQ(owner.size(), ours.size());
  EXPECT_TRUE(c.is_owner(owner));
  EXPECT_EQ(c.text_of({.high = 1, .low = ~std::uint64_t{0}}).size(), ours.size());
  EXPECT_EQ(c.guarded_owner({.high = 1, .low = 1}, {lock_mode::exclusive, 7}), owner + ":write");
  EXPECT_EQ(c.guarded_owner({.high = 1, .low = 1}, {lock_mode::shared, 7}), "readers:7");
  EXPECT_TRUE(c.is_owner(owner + ":write"));
  EXPECT_NE(c.name_fault("a}b"), "");
}

TEST_F(redisson_rw_codec, a_name_with_braces_has_no_more_of_them) {
  on.key = "{t}:job";
  on.listen_to("redisson_rwlock:{t}:job");
  read(ours);
  EXPECT_EQ(on.command({"PTTL", "{t}:job:" + std::string(ours) + ":rwlock_timeout:1"}),
            ":10000\r\n");
  EXPECT_EQ(on.command({"EXISTS", "redisson_lock_token:{t}:job"}), ":1\r\n");
  release(ours);
  EXPECT_EQ(on.messages(), "0");
}

}  // namespace
}  // namespace holdfast::redis::redisson_rw
