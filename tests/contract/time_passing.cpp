// Leases and their time.
#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;
using holdfast::lease_clock;
constexpr holdfast::acquire_options by_hand{.ttl = short_ttl, .renew = holdfast::renewal::manual};

void a_lease_is_not_held_from_its_deadline_on(fixture& on) {
  const auto client = on.client();
  const auto lease = on.lock(client).acquire(by_hand);
  const auto deadline = lease.expires();
  for (bool held = true; held;) {
    const auto before = lease_clock::now();
    held = lease.held();
    const auto after = lease_clock::now();
    if (held)
      EXPECT_LT(before, deadline);
    else
      EXPECT_GE(after, deadline);
  }
  EXPECT_EQ(lease.status(), errc::lost);
  EXPECT_EQ(thrown_by([&] { lease.check(); }), errc::lost);
  EXPECT_TRUE(comes(lease.loss_token()));
}

void nobody_enters_before_the_deadline(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  const auto lease = on.lock(client).acquire(by_hand);
  const auto next = on.rival(other).acquire();
  const auto granted = lease_clock::now();
  EXPECT_TRUE(next);
  EXPECT_FALSE(lease.held());
  EXPECT_GE(granted, lease.expires());
  EXPECT_TRUE(on.is_later(next.token(), lease.token()));
}

// A machine that stops the suite for most of a ttl loses the lease by right: hence several tries.
void a_renewed_lease_outlives_three_ttl(fixture& on) {
  const auto ttl = on.has_ttl() ? renewed_ttl : short_ttl;
  const auto client = on.has_ttl() ? on.client_with("ttl=" + std::to_string(ttl.count()) + "ms")
                                   : on.short_lived_client();
  bool outlived = false;
  for (int tries = 0; tries < renewed_tries && !outlived; ++tries) {
    const auto lease = on.lock(client).acquire();
    const auto late = lease.expires() + 3 * ttl;
    EXPECT_TRUE(becomes([&] { return !lease.held() || lease.expires() > late; }));
    outlived = lease.held();
  }
  EXPECT_TRUE(outlived);
}

void a_lease_of_manual_renewal_runs_out(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto lease = on.lock(client).acquire(by_hand);
  const auto deadline = lease.expires();
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
  EXPECT_EQ(lease.expires(), deadline) << "nothing extended it";
  EXPECT_FALSE(lease.held());
}

void extend_makes_a_lease_run_longer(fixture& on) {
  constexpr std::chrono::minutes long_time{10};
  const auto client = on.client();
  auto lease = on.lock(client).acquire();
  const auto before = lease.expires();
  std::error_code ec;
  lease.extend(long_time, ec);
  if (on.has_ttl()) {
    EXPECT_GT(lease.expires(), before + std::chrono::minutes(5));
  } else if (!on.has_deadlines()) {
    EXPECT_EQ(lease.expires(), before) << "it did not run out before either";
  }
  const bool is_the_sessions = on.has_deadlines() && !on.has_ttl();
  EXPECT_EQ(ec, is_the_sessions ? make_error_code(errc::unsupported) : std::error_code{});
  EXPECT_EQ(thrown_by([&] { lease.extend(std::chrono::milliseconds(-1)); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { lease.extend(std::chrono::milliseconds::max()); }), errc::bad_option);
  EXPECT_TRUE(lease.held());
  lease.release();
  EXPECT_EQ(thrown_by([&] { lease.extend(long_time); }), errc::not_held);
}

// A program is written once: where a lock ends with its holder a ttl is kept by itself.
void a_ttl_is_accepted(fixture& on) {
  constexpr std::chrono::seconds ttl{10};
  const auto client = on.client();
  const auto lock = on.lock(client);
  const auto lease = lock.acquire({.ttl = ttl});
  ASSERT_TRUE(lease.held());
  const auto never = holdfast::lease_clock::time_point::max();
  if (on.has_ttl()) {
    EXPECT_LE(lease.expires(), holdfast::lease_clock::now() + ttl);
  } else {
    EXPECT_EQ(lease.expires() != never, on.has_deadlines());
  }
}

void a_lease_without_a_deadline_is_not_promised_one(fixture& on) {
  const auto without = on.client_with("renew=0");
  const auto renewing = on.client();
  const auto expected = on.has_ttl() ? std::error_code{} : make_error_code(errc::unsupported);
  const auto asked = [&](const holdfast::client& c, const holdfast::acquire_options& o) {
    return thrown_by([&] { (void)on.lock(c).acquire(o); });
  };
  EXPECT_EQ(asked(renewing, by_hand), expected);
  EXPECT_EQ(asked(renewing, {.renew = holdfast::renewal::manual}), expected);
  EXPECT_EQ(asked(without, {}), expected);
  EXPECT_EQ(asked(without, {.renew = holdfast::renewal::automatic}), std::error_code{});
  EXPECT_TRUE(becomes([&] { return renewing.list().empty(); })) << "nothing was kept";
}

void a_strict_client_refuses_what_has_no_effect(fixture& on) {
  const auto client = on.client_with("strict=1");
  const auto lock = on.lock(client);
  const auto expected = on.has_ttl() ? std::error_code{} : make_error_code(errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)lock.acquire({.ttl = short_ttl}); }), expected);
  auto lease = lock.acquire();
  EXPECT_EQ(thrown_by([&] { lease.extend(std::chrono::minutes(10)); }), expected);
  EXPECT_TRUE(lease.held());
}

}  // namespace

behaviours time_passing() {
  return {
      CONTRACT_BEHAVIOUR(47, a_lease_is_not_held_from_its_deadline_on, in_threads, at_the_store,
                         ttl),
      CONTRACT_BEHAVIOUR(48, nobody_enters_before_the_deadline, in_threads, on_both_sides, ttl),
      CONTRACT_BEHAVIOUR(49, a_renewed_lease_outlives_three_ttl, in_threads, at_the_store,
                         deadline),
      CONTRACT_BEHAVIOUR(50, a_lease_of_manual_renewal_runs_out, in_both, on_both_sides, ttl),
      CONTRACT_BEHAVIOUR(51, extend_makes_a_lease_run_longer, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(126, a_ttl_is_accepted, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(127, a_lease_without_a_deadline_is_not_promised_one, in_threads,
                         at_the_store, nothing),
      CONTRACT_BEHAVIOUR(128, a_strict_client_refuses_what_has_no_effect, in_threads, at_the_store,
                         nothing),
  };
}

}  // namespace contract
