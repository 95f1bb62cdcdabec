#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::outcome;

void an_outage_is_reported_and_hangs_nobody(fixture& on) {
  const auto client = on.short_lived_client();
  const auto lock = on.lock(client);
  on.store().begin_outage();
  caller<bool> attempt([&] { return static_cast<bool>(lock.try_acquire()); });
  ASSERT_TRUE(attempt.comes_back());
  EXPECT_EQ(thrown_by([&] { attempt.result(); }), outcome::unavailable);
  std::stop_source stop;
  caller<bool> wait([&] { return static_cast<bool>(lock.acquire({}, stop.get_token())); });
  stop.request_stop();
  EXPECT_TRUE(wait.comes_back());
  on.store().end_outage();
}

// That an attempt fails shows that an op-timeout has passed since it was made.
void a_waiter_waits_through_an_outage(fixture& on) {
  const auto client = on.short_lived_client();
  const auto waiting = on.short_lived_client();
  const auto lock = on.lock(client);
  on.store().begin_outage();
  caller<bool> wait([&] { return static_cast<bool>(on.lock(waiting).acquire()); });
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(thrown_by([&] { (void)lock.try_acquire(); }), outcome::unavailable);
  EXPECT_FALSE(wait.done());
  on.store().end_outage();
  ASSERT_TRUE(wait.comes_back());
  EXPECT_TRUE(wait.result());
}

void a_bound_that_ends_in_an_outage_is_no_busy_lock(fixture& on) {
  const auto client = on.short_lived_client();
  const auto lock = on.lock(client);
  (void)lock.acquire();
  on.store().begin_outage();
  // Longer than it takes until the silence of every server is noticed.
  const auto code = thrown_by([&] { (void)lock.try_acquire_for(std::chrono::seconds(6)); });
  const bool is_outage = code == holdfast::errc::unavailable || code == holdfast::errc::no_quorum;
  EXPECT_TRUE(is_outage) << code.message();
  on.store().end_outage();
}

void an_outage_timeout_ends_the_wait_for_a_store(fixture& on) {
  const auto client = on.client_with("op-timeout=3s&outage-timeout=4s");
  const auto lock = on.lock(client);
  (void)lock.acquire();
  on.store().begin_outage();
  caller<bool> wait([&] { return static_cast<bool>(lock.acquire()); });
  ASSERT_TRUE(wait.comes_back());
  EXPECT_EQ(thrown_by([&] { (void)wait.result(); }), holdfast::errc::unavailable);
  on.store().end_outage();
}

// The first one is refused once the outage has lasted for an outage-timeout.
void a_late_waiter_waits_its_whole_outage_timeout(fixture& on) {
  constexpr std::chrono::seconds bound{4};
  const auto client = on.client_with("op-timeout=3s&outage-timeout=4s");
  const auto first = on.lock(client), late = on.lock(client, "late");
  on.store().begin_outage();
  caller<bool> early([&] { return static_cast<bool>(first.acquire()); });
  ASSERT_TRUE(early.comes_back());
  EXPECT_EQ(thrown_by([&] { (void)early.result(); }), holdfast::errc::unavailable);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(thrown_by([&] { (void)late.acquire(); }), holdfast::errc::unavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, bound);
  on.store().end_outage();
}

void locks_work_again_after_an_outage(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.short_lived_client();
  auto lease = on.lock(client).acquire();
  on.store().begin_outage();
  EXPECT_TRUE(comes(lease.loss_token())) << "nothing could be renewed";
  on.store().end_outage();
  lease.unlock();
  const auto granted = [&on](const holdfast::client& c) {
    std::error_code ec;
    return static_cast<bool>(on.lock(c).try_acquire({}, ec));
  };
  EXPECT_TRUE(becomes([&] { return granted(other); }));
  EXPECT_TRUE(becomes([&] { return granted(client); }));
}

void an_outage_shows_in_the_figures(fixture& on) {
  const auto client = on.short_lived_client();
  const auto attempt = [&] {
    std::error_code ec;
    return static_cast<bool>(on.lock(client).try_acquire({}, ec));
  };
  EXPECT_TRUE(attempt());
  EXPECT_TRUE(client.metrics().connected);
  EXPECT_EQ(client.metrics().reconnects, 0u);
  on.store().begin_outage();
  const caller<bool> request(attempt);  // a client that sends nothing may not detect the outage
  EXPECT_TRUE(becomes([&] { return !client.metrics().connected; }));
  on.store().end_outage();
  EXPECT_TRUE(request.comes_back());
  EXPECT_TRUE(becomes([&] { return attempt() || client.metrics().connected; }));
  EXPECT_TRUE(becomes([&] { return client.metrics().connected; }));
}

void an_acquire_without_an_answer_holds_nothing_for_good(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  std::error_code ec;
  on.store().lose_next_reply();
  on.lock(client).try_acquire({}, ec).unlock();
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
  EXPECT_EQ(other->ask("release job"), "ok");
  EXPECT_TRUE(becomes([&] { return static_cast<bool>(on.lock(client).try_acquire({}, ec)); }));
}

}  // namespace

behaviours outages() {
  return {
      CONTRACT_BEHAVIOUR(52, an_outage_is_reported_and_hangs_nobody, in_threads, exclusively,
                         outages),
      CONTRACT_BEHAVIOUR(53, locks_work_again_after_an_outage, in_threads, at_the_store, outages),
      CONTRACT_BEHAVIOUR(129, a_waiter_waits_through_an_outage, in_threads, exclusively, outages),
      CONTRACT_BEHAVIOUR(130, a_bound_that_ends_in_an_outage_is_no_busy_lock, in_threads,
                         exclusively, outages),
      CONTRACT_BEHAVIOUR(131, an_outage_timeout_ends_the_wait_for_a_store, in_threads, exclusively,
                         outages),
      CONTRACT_BEHAVIOUR(133, a_late_waiter_waits_its_whole_outage_timeout, in_threads, exclusively,
                         outages),
      CONTRACT_BEHAVIOUR(144, an_outage_shows_in_the_figures, in_threads, exclusively, outages),
      CONTRACT_BEHAVIOUR(54, an_acquire_without_an_answer_holds_nothing_for_good, in_threads,
                         at_the_store, outages),
  };
}

}  // namespace contract
