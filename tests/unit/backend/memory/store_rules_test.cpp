// The server as a passive object: its reply to each request.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/memory/store.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;

class memory_store_rules : public testing::Test {
 protected:
  using verdict = reply::verdict;
  memory_store_rules() {
    a.who = {1, 1};
    b.who = {2, 2};
    c.who = {3, 3};
    lock = &data.attach("x", env.now());
    for (push_target* const p : {&a, &b, &c}) data.add(*lock, *p);
  }
  reply send(operation what, const push_target& from, duration ttl = 10s,
             bool one_attempt = false) {
    request r;
    r.what = what;
    r.who = from.who;
    r.ttl = ttl;
    r.window = 250ms;
    r.one_attempt = one_attempt;
    r.sent = env.now();
    return data.apply(*lock, r, env.now(), env, pushed);
  }
  verdict attempt(const push_target& from) {
    return send(operation::acquire, from, 10s, true).what;
  }
  reply share(const push_target& from) {
    request_details details;
    details.mode = lock_mode::shared;
    request r;
    r.what = operation::acquire;
    r.who = from.who;
    r.ttl = 10s;
    r.window = 250ms;
    r.more = &details;
    return data.apply(*lock, r, env.now(), env, pushed);
  }
  std::vector<push::hint> news() {
    std::vector<push::hint> out;
    for (std::size_t i = 0; i < pushed.size(); ++i) out.push_back(pushed[i].what.what);
    pushed.clear();
    return out;
  }
  bool take_from(const holder_seen& seen) {
    return data.break_lock("x", seen, env.now(), env, pushed);
  }

  testkit::manual_environment env;
  store data;
  push_list pushed;
  entry* lock = nullptr;
  push_target a, b, c;
};

TEST_F(memory_store_rules, no_renewal_makes_a_lease_shorter) {
  send(operation::acquire, a, 10s);
  EXPECT_EQ(send(operation::renew, a, 1s).what, verdict::moved);
  env.advance(10s - 1ns);
  EXPECT_EQ(attempt(b), verdict::busy);
  env.advance(1ns);
  EXPECT_EQ(attempt(b), verdict::granted) << "it has expired exactly then";
}

TEST_F(memory_store_rules, a_renewed_lease_is_as_exclusive_as_before) {
  send(operation::acquire, a);
  EXPECT_EQ(send(operation::renew, a).what, verdict::moved);
  EXPECT_EQ(lock->holder, a.who);
  EXPECT_EQ(share(b).what, verdict::queued);
}

TEST_F(memory_store_rules, a_repeated_request_has_the_same_grant) {
  const reply first = send(operation::acquire, a, 10s);
  env.advance(5s);
  const reply again = send(operation::acquire, a, 10s);
  EXPECT_EQ(again.what, verdict::granted);
  EXPECT_EQ(again.number, first.number);
  env.advance(9s);
  EXPECT_EQ(attempt(b), verdict::busy) << "it counts from the repetition";
  send(operation::leave, a);
  const reply reader = share(a);
  EXPECT_EQ(share(a).number, reader.number);
  EXPECT_EQ(lock->more->members.size(), 1u);
}

TEST_F(memory_store_rules, the_reply_to_another_owner_shows_whether_the_lock_is_held) {
  EXPECT_FALSE(send(operation::renew, a).others_hold);
  send(operation::acquire, b);
  const reply gone = send(operation::renew, a);
  EXPECT_EQ(gone.what, verdict::not_owner);
  EXPECT_TRUE(gone.others_hold);
  send(operation::leave, b);
  share(b);
  EXPECT_TRUE(send(operation::renew, a).others_hold) << "by a reader";
  send(operation::leave, b);
  EXPECT_FALSE(send(operation::renew, a).others_hold);
}

TEST_F(memory_store_rules, the_reply_to_a_leave_shows_whether_the_sender_had_the_lock) {
  send(operation::acquire, a);
  EXPECT_EQ(send(operation::leave, b).what, verdict::not_owner);
  EXPECT_EQ(attempt(b), verdict::busy);
  EXPECT_EQ(send(operation::leave, a).what, verdict::left);
  EXPECT_EQ(send(operation::leave, a).what, verdict::not_owner);
  share(a);
  EXPECT_EQ(send(operation::leave, a).what, verdict::left);
}

TEST_F(memory_store_rules, the_reply_to_a_waiter_has_its_place_and_the_end_of_the_lease_before_it) {
  send(operation::acquire, a, 10s);
  env.advance(4s);
  const reply first = send(operation::acquire, b), second = send(operation::acquire, c);
  EXPECT_EQ(first.what, verdict::queued);
  EXPECT_TRUE(first.first);
  EXPECT_EQ(first.lapse, 6s);
  EXPECT_FALSE(second.first);
  EXPECT_TRUE(first.others_wait);
  EXPECT_EQ(news(), std::vector{push::hint::wanted}) << "the holder, once";
  send(operation::acquire, b);
  EXPECT_EQ(lock->more->queue.size(), 2u) << "a repeated request has the same place";
}

TEST_F(memory_store_rules, a_hand_over_that_is_not_confirmed_expires_with_its_window) {
  send(operation::acquire, a);
  send(operation::acquire, b);
  send(operation::acquire, c);
  news();
  send(operation::leave, a);
  EXPECT_EQ(news(), (std::vector{push::hint::handed, push::hint::look}));
  EXPECT_EQ(lock->holder, b.who);
  env.advance(250ms - 1ns);
  EXPECT_EQ(send(operation::acquire, c).what, verdict::queued);
  env.advance(1ns);
  EXPECT_EQ(send(operation::acquire, c).what, verdict::granted);
}

TEST_F(memory_store_rules, the_first_waiter_is_pointed_out_once) {
  send(operation::acquire, a, 10s);
  send(operation::acquire, b);
  send(operation::acquire, c);
  news();
  send(operation::leave, b);
  ASSERT_EQ(pushed.size(), 1u);
  EXPECT_EQ(pushed[0].what.what, push::hint::look);
  EXPECT_EQ(pushed[0].what.to, c.who);
  EXPECT_EQ(pushed[0].what.in, 10s);
  news();
  send(operation::renew, a);
  EXPECT_TRUE(news().empty());
}

TEST_F(memory_store_rules, a_waiter_without_an_endpoint_gets_nothing) {
  send(operation::acquire, a);
  send(operation::acquire, b);
  send(operation::acquire, c);
  data.remove(b);
  news();
  send(operation::leave, a);
  EXPECT_EQ(news(), std::vector{push::hint::handed});
  EXPECT_EQ(lock->holder, c.who);
}

TEST_F(memory_store_rules, the_earliest_lease_of_several_readers_counts) {
  share(a);
  env.advance(3s);
  share(b);
  const reply writer = send(operation::acquire, c);
  EXPECT_EQ(writer.lapse, 7s);
  EXPECT_EQ(news(), (std::vector{push::hint::wanted, push::hint::wanted}));
  env.advance(7s);
  EXPECT_EQ(send(operation::acquire, c).what, verdict::queued) << "b is there";
  env.advance(3s);
  EXPECT_EQ(send(operation::acquire, c).what, verdict::granted);
}

TEST_F(memory_store_rules, a_downgrade_keeps_the_number_and_the_lease) {
  const reply writer = send(operation::acquire, a, 10s);
  EXPECT_EQ(send(operation::share, b).what, verdict::not_owner);
  EXPECT_EQ(send(operation::share, a, 60s).what, verdict::shared);
  ASSERT_EQ(lock->more->members.size(), 1u);
  EXPECT_EQ(lock->more->members[0].number, writer.number);
  EXPECT_EQ(lock->more->members[0].lapses, env.now() + 10s) << "it is no renewal";
  EXPECT_FALSE(lock->holder);
  EXPECT_EQ(share(b).number, writer.number);
}

TEST_F(memory_store_rules, a_lock_is_taken_from_the_holder_that_was_seen) {
  EXPECT_FALSE(take_from({}));
  EXPECT_FALSE(data.break_lock("y", {}, env.now(), env, pushed)) << "no client ever used it";
  send(operation::acquire, a);
  EXPECT_FALSE(take_from({.who = b.who}));
  EXPECT_EQ(attempt(b), verdict::busy);
  EXPECT_TRUE(take_from({.who = a.who}));
  EXPECT_EQ(attempt(b), verdict::granted);
  EXPECT_TRUE(take_from({}));
  const std::int64_t group = share(a).number;
  share(b);
  EXPECT_FALSE(take_from({.who = {}, .group = group + 1}));
  EXPECT_EQ(lock->more->members.size(), 2u);
  EXPECT_TRUE(take_from({.who = a.who}));
  EXPECT_EQ(lock->more->members.size(), 1u);
  EXPECT_TRUE(take_from({.who = {}, .group = group}));
  EXPECT_TRUE(lock->more->members.empty());
  EXPECT_FALSE(take_from({.who = {}, .group = group}));
}

TEST_F(memory_store_rules, a_number_is_never_below_the_wall_clock) {
  const auto next = [&] {
    const std::int64_t number = send(operation::acquire, a).number;
    send(operation::leave, a);
    return number;
  };
  EXPECT_EQ(next(), env.wall().count());
  EXPECT_EQ(next(), env.wall().count() + 1);
  env.advance(1s);
  EXPECT_EQ(next(), env.wall().count());
  env.set_wall(env.wall() + 1h);
  EXPECT_LT(next(), env.wall().count()) << "it is read again after 10 ms";
  env.advance(10ms);
  EXPECT_EQ(next(), env.wall().count());
  data.restart_empty();
  EXPECT_EQ(next(), env.wall().count());
}

TEST_F(memory_store_rules, a_name_without_a_user_or_a_holder_leaves_nothing) {
  const auto use = [&](const std::string& name) {
    entry& e = data.attach(name, env.now());
    request r;
    r.what = operation::acquire;
    r.who = {9, 9};
    r.ttl = 1s;
    data.apply(e, r, env.now(), env, pushed);
    data.detach(e, env.now());
  };
  data.detach(data.attach("never held", env.now()), env.now());
  EXPECT_EQ(data.size(), 1u);
  for (int i = 0; i < 63; ++i) use("held/" + std::to_string(i));
  EXPECT_EQ(data.size(), 64u);
  env.advance(1s);
  use("one more");
  EXPECT_EQ(data.size(), 2u) << "those that have expired are swept away";
}

TEST_F(memory_store_rules, a_held_lock_stays_when_names_without_a_user_are_swept_away) {
  lock = &data.attach("held", env.now());
  send(operation::acquire, a, 1h);
  data.detach(*lock, env.now());
  for (int i = 0; i < 100; ++i) data.attach("used/" + std::to_string(i), env.now());
  lock = &data.attach("held", env.now());
  EXPECT_EQ(attempt(b), verdict::busy);
}

TEST_F(memory_store_rules, a_request_after_the_end_of_its_own_lease_has_a_new_grant) {
  const reply first = send(operation::acquire, a, 10s);
  send(operation::acquire, b);
  send(operation::leave, b);
  env.advance(10s);
  const reply again = send(operation::acquire, a, 10s);
  EXPECT_EQ(again.what, verdict::granted);
  EXPECT_GT(again.number, first.number);
}

}  // namespace
}  // namespace holdfast::memory
