// How long a client keeps what nobody of it uses, and how long a holder may hold.
#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::lease_clock;

// Longer than anybody waits for anything here.
holdfast::client lingering_client(fixture& on) {
  return on.client_with(on.has_ttl() ? "linger=1h&ttl=1h" : "linger=1h");
}

void a_lingering_lock_is_acquired_again_under_its_grant(fixture& on) {
  constexpr std::int64_t turns_per_grant = 1024;
  const auto client = lingering_client(on);
  const auto lock = on.lock(client);
  auto lease = lock.acquire();
  const auto grant = lease.token() / turns_per_grant;
  lease.unlock();
  for (int times = 0; times < 10; ++times) {
    const auto again = lock.try_acquire();
    EXPECT_EQ(again.token() / turns_per_grant, grant);
    EXPECT_TRUE(again.held());
  }
}

void a_lingering_lock_is_released_to_a_waiter(fixture& on) {
  const auto client = lingering_client(on);
  const auto other = on.other();
  on.lock(client).acquire().unlock();
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
  EXPECT_FALSE(on.lock(client).try_acquire());
}

void what_is_released_does_not_linger(fixture& on) {
  const auto client = lingering_client(on);
  const auto other = on.other();
  on.lock(client).acquire().release();
  EXPECT_NE(token_of(other->ask("try job")), 0);
}

void a_lease_is_lost_at_its_limit_though_it_is_renewed(fixture& on) {
  constexpr auto limit = 3 * short_ttl / 2;
  const auto client = on.short_lived_client();
  const auto lease = on.lock(client).acquire({.max_hold = limit});
  const auto last = lease_clock::now() + limit;
  EXPECT_LE(lease.expires(), last);
  EXPECT_TRUE(comes(lease.loss_token()));
  EXPECT_LE(lease.expires(), last);
  EXPECT_FALSE(lease.held());
  EXPECT_EQ(lease.status(), holdfast::errc::lost);
}

void what_is_held_too_long_becomes_free(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  auto lease = on.lock(client).acquire({.max_hold = short_ttl});
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_TRUE(comes(lease.loss_token()));
  if (!on.has_ttl()) lease.unlock();  // nothing runs out there but the holder's own belief
  EXPECT_NE(token_of(other->receive(generous)), 0);
  EXPECT_FALSE(lease.held());
}

// A machine that stops the suite for most of a ttl loses the lease by right: hence several tries.
void extend_keeps_a_lease_of_manual_renewal(fixture& on) {
  const auto client = on.client();
  bool kept = false;
  for (int tries = 0; tries < renewed_tries && !kept; ++tries) {
    auto lease = on.lock(client).acquire({.ttl = renewed_ttl, .renew = holdfast::renewal::manual});
    const auto late = lease.expires() + 3 * renewed_ttl;
    std::error_code ec;
    EXPECT_TRUE(becomes([&] {
      std::this_thread::sleep_for(renewed_ttl / 8);
      lease.extend(renewed_ttl, ec);
      return ec || lease.expires() > late;
    }));
    kept = lease.held();
  }
  EXPECT_TRUE(kept);
}

}  // namespace

behaviours limits() {
  return {
      CONTRACT_BEHAVIOUR(103, a_lingering_lock_is_acquired_again_under_its_grant, in_threads,
                         exclusively_or_shared, nothing),
      CONTRACT_BEHAVIOUR(104, a_lingering_lock_is_released_to_a_waiter, in_both,
                         exclusively_or_shared, nothing),
      CONTRACT_BEHAVIOUR(105, what_is_released_does_not_linger, in_both, exclusively_or_shared,
                         nothing),
      CONTRACT_BEHAVIOUR(106, a_lease_is_lost_at_its_limit_though_it_is_renewed, in_threads,
                         at_the_store, nothing),
      CONTRACT_BEHAVIOUR(107, what_is_held_too_long_becomes_free, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(108, extend_keeps_a_lease_of_manual_renewal, in_threads, at_the_store,
                         ttl),
  };
}

}  // namespace contract
