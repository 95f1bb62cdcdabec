// Waits that end without the lock.
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;
using acquiring = caller<std::int64_t>;  // the token that was granted, 0 for none

std::unique_ptr<acquiring> acquire_in_a_thread(const any_lock& lock, std::stop_token stop = {}) {
  return std::make_unique<acquiring>([&lock, stop] { return lock.acquire({}, stop).token(); });
}

void a_stop_ends_a_wait(fixture& on) {
  const auto holder = on.client();
  const auto client = on.client();
  const auto lease = on.lock(holder).acquire();
  const auto lock = on.rival(client);
  std::stop_source stop;
  const auto forever = acquire_in_a_thread(lock, stop.get_token());
  acquiring timed(
      [&] { return lock.try_acquire_for(std::chrono::hours(1), {}, stop.get_token()).token(); });
  ASSERT_TRUE(forever->waits());
  ASSERT_TRUE(timed.waits());
  stop.request_stop();
  ASSERT_TRUE(forever->comes_back());
  ASSERT_TRUE(timed.comes_back());
  EXPECT_TRUE(lease.held());
  EXPECT_EQ(thrown_by([&] { forever->result(); }), errc::canceled);
  EXPECT_EQ(timed.result(), 0) << "a try_ verb comes back empty";
}

void a_stop_before_the_call_leaves_one_attempt(fixture& on) {
  const auto client = on.client();
  const auto lock = on.lock(client);
  const auto other = on.client();
  const auto rival = on.rival(other);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(lock.acquire({}, stop.get_token()).held());
  EXPECT_TRUE(lock.try_acquire_for(std::chrono::hours(1), {}, stop.get_token()).held());
  const auto held = rival.acquire();
  EXPECT_EQ(thrown_by([&] { (void)lock.acquire({}, stop.get_token()); }), errc::canceled);
  EXPECT_FALSE(lock.try_acquire_for(std::chrono::hours(1), {}, stop.get_token()));
}

void a_stopped_wait_leaves_no_trace(fixture& on) {
  const auto holder = on.client();
  const auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(holder).acquire();
  const auto lock = on.rival(client);
  std::stop_source stop;
  const auto waiter = acquire_in_a_thread(lock, stop.get_token());
  ASSERT_TRUE(waiter->waits());
  stop.request_stop();
  ASSERT_TRUE(waiter->comes_back());
  EXPECT_EQ(thrown_by([&] { waiter->result(); }), errc::canceled);
  lease.release();
  EXPECT_TRUE(becomes([&] { return token_of(other->ask("try job")) != 0; }));
  EXPECT_EQ(other->ask("release job"), "ok");
  EXPECT_TRUE(lock.try_acquire()) << "and the one who was stopped may come again";
}

void a_stop_ends_no_held_lease(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  std::stop_source stop;
  const auto lease = on.lock(client).acquire({}, stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(lease.held());
  EXPECT_FALSE(lease.loss_token().stop_requested());
  EXPECT_EQ(other->ask("try job"), "busy");
}

void a_wait_that_ran_out_leaves_no_trace(fixture& on) {
  const auto holder = on.client();
  const auto waiting = on.other();
  const auto other = on.other();
  auto lease = on.lock(holder).acquire();
  ASSERT_EQ(waiting->ask("acquire job 30"), "calling");
  ASSERT_EQ(waiting->receive(generous), "busy");
  lease.release();
  EXPECT_TRUE(becomes([&] { return token_of(other->ask("try job")) != 0; }));
  EXPECT_EQ(other->ask("release job"), "ok");
  EXPECT_NE(token_of(waiting->ask("try job")), 0) << "and the one who left may come again";
}

// Of three waiters the one at `leaver` leaves; the others are served in their order.
void leaves_without_stranding(fixture& on, std::size_t leaver) {
  const auto client = on.client();
  auto lease = on.lock(client).acquire();
  const auto lock = on.rival(client);
  std::stop_source stop;
  std::vector<std::unique_ptr<acquiring>> waiters;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto token = i == leaver ? stop.get_token() : std::stop_token{};
    waiters.push_back(acquire_in_a_thread(lock, token));
    ASSERT_TRUE(waiters.back()->waits());
  }
  stop.request_stop();
  ASSERT_TRUE(waiters[leaver]->comes_back());
  EXPECT_EQ(thrown_by([&] { waiters[leaver]->result(); }), errc::canceled);
  waiters.erase(waiters.begin() + static_cast<std::ptrdiff_t>(leaver));
  EXPECT_FALSE(waiters[0]->done());
  lease.unlock();
  ASSERT_TRUE(waiters[0]->comes_back());
  ASSERT_TRUE(waiters[1]->comes_back());
  EXPECT_TRUE(on.is_later(waiters[1]->result(), waiters[0]->result()));
}

void leaving_the_middle_strands_nobody(fixture& on) { leaves_without_stranding(on, 1); }
void leaving_the_front_strands_nobody(fixture& on) { leaves_without_stranding(on, 0); }

// The waiter leaves as the lock is released: whoever is told of the release must pass it on.
void leaving_at_the_release_strands_nobody(fixture& on) {
  const auto holder = on.client();
  const auto client = on.client();
  const auto held = on.lock(holder);
  const auto lock = on.rival(client);
  for (int times = 0; times < 25; ++times) {
    auto lease = held.acquire();
    std::stop_source stop;
    const auto leaver = acquire_in_a_thread(lock, stop.get_token());
    ASSERT_TRUE(leaver->waits());
    const auto next = acquire_in_a_thread(lock);
    std::jthread stops([&stop] { stop.request_stop(); });
    lease.unlock();
    ASSERT_TRUE(leaver->comes_back());
    ASSERT_TRUE(next->comes_back());
    EXPECT_TRUE(on.is_later(next->result(), 0));
  }
}

}  // namespace

behaviours leaving() {
  return {
      CONTRACT_BEHAVIOUR(16, a_stop_ends_a_wait, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(125, a_stop_before_the_call_leaves_one_attempt, in_threads, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(17, a_stopped_wait_leaves_no_trace, in_both, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(18, a_stop_ends_no_held_lease, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(19, a_wait_that_ran_out_leaves_no_trace, in_both, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(20, leaving_the_middle_strands_nobody, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(21, leaving_the_front_strands_nobody, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(22, leaving_at_the_release_strands_nobody, in_threads, on_both_sides,
                         nothing),
  };
}

}  // namespace contract
