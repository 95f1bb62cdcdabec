#include <gtest/gtest.h>

#include "history/turns.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"
#include "tests/unit/history/recording_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

using holdfast::base::recorded_event;
using kind = recorded_event::kind;
using how = recorded_event::ending;

class recorded_events : public a_cohort {
 protected:
  recorded_events() { rules.recording = &recording; }

  std::vector<holdfast::history::client_event> events() {
    return recording.read(INT64_MAX / 2).events;
  }
  std::vector<kind> kinds() {
    std::vector<kind> out;
    for (const auto& e : events()) out.push_back(e.what());
    return out;
  }
  std::int64_t now() { return env.now().time_since_epoch().count(); }

  holdfast::history::recording_in_memory recording;
};

TEST_F(recorded_events, are_a_grant_and_its_end) {
  caller a;
  enter(a);
  env.freeze(1s);
  granted_claim();
  const std::int64_t granted = now();
  env.freeze(1s);
  leave(a);
  EXPECT_EQ(kinds(), (std::vector{kind::asked, kind::granted, kind::ended}));
  const auto all = events();
  EXPECT_EQ(all[1].time, granted);
  EXPECT_EQ(all[1].since, all[0].time);
  EXPECT_EQ(all[1].token, 7 * 1024);
  EXPECT_EQ(all[1].deadline, granted + std::chrono::nanoseconds(30s).count());
  EXPECT_GE(all[2].since, granted);
  EXPECT_LE(all[2].since, granted + std::chrono::nanoseconds(1ms).count());
  EXPECT_EQ(all[2].reason(), static_cast<unsigned>(how::released));
  EXPECT_EQ(recording.read(INT64_MAX / 2).locks.at(all[2].lock).name, "x");
}

TEST_F(recorded_events, end_before_the_release_is_sent) {
  caller a;
  enter(a);
  granted_claim();
  machine.leave(*a.granted, nullptr, env.now());
  EXPECT_EQ(kinds().back(), kind::ended);
  said(claim_record::release);
}

TEST_F(recorded_events, are_a_thread_that_waits_behind_a_request_or_a_holder) {
  base::parker sleeper;
  base::follower thread(sleeper);
  caller a, b, c;
  for (caller* const one : {&a, &b, &c}) one->thread = &thread;
  const auto waiting = [&] { return std::ranges::count(kinds(), kind::asked); };
  enter(a);
  const auto requested = waiting();
  enter(b);
  EXPECT_EQ(waiting(), requested + 1) << "behind the request";
  granted_claim();
  enter(c);
  EXPECT_EQ(waiting(), requested + 2) << "behind the holder";
  leave(a);
  leave(b);
  leave(c);
}

// Its thread records the wait when the store does not answer at once.
TEST_F(recorded_events, are_no_wait_of_a_thread_that_finds_the_lock_idle) {
  base::parker sleeper;
  base::follower thread(sleeper);
  caller a;
  a.thread = &thread;
  enter(a);
  granted_claim();
  EXPECT_EQ(kinds(), std::vector{kind::granted});
  leave(a);
}

TEST_F(recorded_events, name_the_mode_and_the_permits_of_their_turn) {
  reading_caller reader;
  enter(reader);
  granted_claim();
  EXPECT_EQ(events().back().mode(), static_cast<unsigned>(lock_mode::shared));
  leave(reader);
  detail::local_lock& pool =
      client_access::impl(door).local_lock_for("pool", lock_kind::semaphore, 10);
  {
    cohort of_pool{pool, rules, client_access::impl(door).connection()};
    permit_caller three(3);
    of_pool.enter(three, env.now());
    of_pool.on_granted(*of_pool.effects().take_scheduled(),
                       grant{8, env.now() + 30s, env.now(), false});
    const auto granted = events().back();
    EXPECT_EQ(granted.mode(), static_cast<unsigned>(lock_mode::permit));
    EXPECT_EQ(granted.permits(), 3u);
    of_pool.leave(*three.granted, nullptr, env.now());
    EXPECT_EQ(events().back().since, 0) << "of several grants it is not known which was its own";
  }
  pool.drop_user();
}

TEST_F(recorded_events, are_a_loss_and_the_doubt_before_it) {
  caller a;
  enter(a);
  granted_claim();
  env.freeze(28s);
  tick();
  EXPECT_EQ(kinds().back(), kind::doubted);
  env.freeze(3s);
  tick();
  EXPECT_EQ(events().back().what(), kind::ended);
  EXPECT_EQ(events().back().reason(), static_cast<unsigned>(how::ran_out));
  leave(a);
  EXPECT_EQ(std::ranges::count(kinds(), kind::ended), 1);
}

TEST_F(recorded_events, are_a_loss_that_no_timer_has_seen) {
  caller a;
  enter(a);
  granted_claim();
  env.freeze(31s);
  leave(a);
  EXPECT_EQ(events().back().reason(), static_cast<unsigned>(how::ran_out));
}

TEST_F(recorded_events, are_a_refusal_with_its_reason) {
  caller a;
  a.request.one_attempt = true;
  enter(a);
  machine.on_refused(*said(claim_record::acquire), {holdfast::errc::timed_out, {}});
  complete_answered();
  EXPECT_EQ(kinds(), (std::vector{kind::asked, kind::refused}));
  EXPECT_EQ(events().back().reason(), static_cast<unsigned>(holdfast::errc::timed_out));
  EXPECT_EQ(events().back().since, events().front().time);
}

TEST_F(recorded_events, are_one_confirmation_each_second) {
  caller a;
  enter(a);
  claim_record* const c = granted_claim();
  for (int i = 0; i < 10; ++i) {
    env.freeze(250ms);
    machine.on_extended(*c, env.now() + 30s, 0, env.now());
  }
  EXPECT_EQ(std::ranges::count(kinds(), kind::confirmed), 3);
  leave(a);
}

TEST_F(recorded_events, are_one_standstill_of_the_process) {
  caller a;
  enter(a);
  granted_claim();
  const std::int64_t due = machine.next_tick().time_since_epoch().count();
  env.freeze(25s);
  tick();
  tick();
  const auto all = events();
  leave(a);
  ASSERT_EQ(std::ranges::count_if(all, [](const auto& e) { return e.what() == kind::late; }), 1);
  EXPECT_EQ(all.at(2).since, due);
  EXPECT_EQ(all.at(2).time, now());
}

TEST_F(recorded_events, are_one_standstill_for_all_locks_of_the_process) {
  cohort other{home, rules, client_access::impl(door).connection()};
  caller a, b;
  enter(a);
  granted_claim();
  other.enter(b, env.now());
  other.on_granted(*other.effects().take_scheduled(), grant{8, env.now() + 30s, env.now(), false});
  env.freeze(25s);
  tick();
  other.tick(env.now());
  EXPECT_EQ(std::ranges::count(kinds(), kind::late), 1);
  leave(a);
  other.leave(*b.granted, nullptr, env.now());
}

TEST_F(recorded_events, are_no_standstill_while_a_timer_is_less_than_half_a_second_late) {
  caller a;
  enter(a);
  granted_claim();
  env.freeze(machine.next_tick() - env.now() + 500ms - 1ns);
  tick();
  EXPECT_EQ(std::ranges::count(kinds(), kind::late), 0);
  env.freeze(machine.next_tick() - env.now() + 500ms);
  tick();
  EXPECT_EQ(std::ranges::count(kinds(), kind::late), 1);
  leave(a);
}

TEST_F(recorded_events, are_one_refusal_each_second_of_a_program_that_polls) {
  caller a;
  enter(a);
  granted_claim();
  for (int i = 0; i < 5; ++i) {
    caller attempt;
    attempt.request.one_attempt = true;
    enter(attempt);
    EXPECT_EQ(attempt.why.code, errc::timed_out);
    env.freeze(250ms);
  }
  EXPECT_EQ(std::ranges::count(kinds(), kind::refused), 2);
  leave(a);
}

TEST_F(recorded_events, are_the_wait_of_a_caller_before_its_turn) {
  caller a, b;
  enter(a);
  granted_claim();
  env.freeze(1s);
  enter(b);
  const std::int64_t asked = now();
  env.freeze(1s);
  leave(a);
  ASSERT_TRUE(b.granted);
  EXPECT_EQ(events().back().what(), kind::granted);
  EXPECT_EQ(events().back().since, asked);
  leave(b);
}

TEST_F(recorded_events, are_a_downgrade_and_the_end_of_a_shared_turn) {
  caller writer;
  enter(writer);
  granted_claim();
  EXPECT_FALSE(machine.downgrade(*writer.granted, env.now()).code);
  EXPECT_EQ(kinds().back(), kind::downgraded);
  leave(writer);
  EXPECT_EQ(kinds().back(), kind::ended);
  EXPECT_EQ(events().back().since, 0) << "it is not known which grant was its own";
}

}  // namespace
}  // namespace holdfast::cohort_tests
