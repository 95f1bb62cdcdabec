#include "behaviour.hpp"

namespace contract {
namespace {

void a_free_lock_is_granted(fixture& on) {
  const auto client = on.client();
  const auto lock = on.lock(client);
  const auto lease = lock.acquire();
  EXPECT_TRUE(lease);
  EXPECT_TRUE(lease.held());
  EXPECT_NO_THROW(lease.check());
  EXPECT_FALSE(lease.status());
  EXPECT_TRUE(on.is_later(lease.token(), 0));
  EXPECT_FALSE(lease.loss_token().stop_requested());
  if (on.has_deadlines())
    EXPECT_LE(lease.expires(), holdfast::lease_clock::now() + std::chrono::seconds(30));
  else
    EXPECT_EQ(lease.expires(), holdfast::lease_clock::time_point::max());
}

void a_released_lock_is_granted_again(fixture& on) {
  const auto client = on.client();
  const auto lock = on.lock(client);
  for (int times = 0; times < 3; ++times) {
    auto lease = lock.try_acquire();
    ASSERT_TRUE(lease);
    lease.release();
    EXPECT_FALSE(lease);
  }
}

void a_held_lock_is_busy_for_others(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(client).acquire();
  EXPECT_EQ(other->ask("try job"), "busy");
  EXPECT_FALSE(on.rival(client).try_acquire()) << "nor is it granted twice to one client";
  EXPECT_TRUE(lease.held());
  lease.release();
  EXPECT_NE(token_of(other->ask("try job")), 0);
  EXPECT_FALSE(on.lock(client).try_acquire());
}

void busy_is_not_an_error(fixture& on) {
  const auto holder = on.client();
  const auto client = on.client();
  const auto lease = on.lock(holder).acquire();
  auto lock = on.rival(client);
  auto ec = make_error_code(holdfast::errc::lost);
  EXPECT_FALSE(lock.try_acquire({}, ec));
  EXPECT_FALSE(ec) << ec.message();
  ec = make_error_code(holdfast::errc::lost);
  EXPECT_FALSE(lock.try_acquire_for(std::chrono::milliseconds(5), {}, {}, ec));
  EXPECT_FALSE(ec) << ec.message();
  if (!lock.is_lockable()) return;
  EXPECT_NO_THROW(EXPECT_FALSE(lock.try_lock()));
  EXPECT_NO_THROW(EXPECT_FALSE(lock.try_lock_for(std::chrono::milliseconds(5))));
}

void an_attempt_never_waits(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto waiting = on.other();
  auto lease = on.lock(client).acquire();
  EXPECT_EQ(other->ask("try job"), "busy");
  ASSERT_EQ(waiting->ask("acquire job"), "calling");
  ASSERT_TRUE(falls_asleep(waiting->process(), waiting->thread()));
  EXPECT_EQ(other->ask("try job"), "busy") << "nor behind somebody who waits";
  EXPECT_TRUE(lease.held());
}

void a_timed_wait_ends_while_the_lock_is_held(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto lease = on.lock(client).acquire();
  const auto start = holdfast::lease_clock::now();
  EXPECT_EQ(other->ask("acquire job 60"), "calling");
  EXPECT_EQ(other->receive(generous), "busy");
  EXPECT_GE(holdfast::lease_clock::now() - start, std::chrono::milliseconds(60));
  EXPECT_TRUE(lease.held());
}

void a_time_limit_in_the_past_is_one_attempt(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  const auto past = std::chrono::steady_clock::now() - std::chrono::hours(1);
  auto lease = on.lock(client).try_acquire_until(past);
  EXPECT_TRUE(lease);
  EXPECT_FALSE(on.rival(other).try_acquire_until(past));
  EXPECT_FALSE(on.rival(other).try_acquire_for(std::chrono::seconds(-1)));
  auto rival = on.rival(other);
  if (rival.is_lockable()) {
    EXPECT_FALSE(rival.try_lock_for(std::chrono::seconds(0)));
  }
  lease.release();
  EXPECT_TRUE(on.rival(other).try_acquire_for(std::chrono::seconds(0)));
}

void different_locks_do_not_meet(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto lease = on.lock(client).acquire();
  EXPECT_NE(token_of(other->ask("try Job")), 0);
  EXPECT_NE(token_of(other->ask("try job2")), 0);
  EXPECT_TRUE(on.lock(client, "another").try_acquire());
}

void a_lease_out_of_scope_is_released(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  try {
    const auto lease = on.lock(client).acquire();
    throw std::runtime_error("work failed");
  } catch (const std::runtime_error&) {}
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void a_release_is_done_when_it_returns(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  for (int times = 0; times < 5; ++times) {
    on.lock(client).acquire().release();
    EXPECT_NE(token_of(other->ask("try job")), 0);
    EXPECT_EQ(other->ask("release job"), "ok");
  }
}

}  // namespace

behaviours granting() {
  return {
      CONTRACT_BEHAVIOUR(1, a_free_lock_is_granted, in_threads, in_every_mode, nothing),
      CONTRACT_BEHAVIOUR(2, a_released_lock_is_granted_again, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(3, a_held_lock_is_busy_for_others, in_both, in_every_mode, nothing),
      CONTRACT_BEHAVIOUR(4, busy_is_not_an_error, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(5, an_attempt_never_waits, in_both, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(6, a_timed_wait_ends_while_the_lock_is_held, in_both, on_both_sides,
                         nothing),
      CONTRACT_BEHAVIOUR(7, a_time_limit_in_the_past_is_one_attempt, in_threads, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(8, different_locks_do_not_meet, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(9, a_lease_out_of_scope_is_released, in_both, in_every_mode, nothing),
      CONTRACT_BEHAVIOUR(10, a_release_is_done_when_it_returns, in_both, at_the_store, nothing),
  };
}

}  // namespace contract
