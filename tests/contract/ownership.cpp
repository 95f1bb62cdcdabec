#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;
using holdfast::outcome;

// A lease that is lost, with the lock already granted to `other`.
holdfast::lease lost_to(fixture& on, const holdfast::client& client, contender& other) {
  auto lease = on.lock(client).acquire();
  on.store().lose_leases_of(client);
  EXPECT_TRUE(comes(lease.loss_token()));
  EXPECT_EQ(other.ask("acquire job"), "calling");
  EXPECT_NE(token_of(other.receive(generous)), 0);
  on.store().go_on(client);
  return lease;
}

void a_stale_unlock_harms_nobody(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  const auto third = on.client();
  auto lease = lost_to(on, client, *other);
  lease.unlock();
  EXPECT_FALSE(on.lock(third).try_acquire());
  EXPECT_EQ(other->ask("held job"), "yes");
  EXPECT_EQ(other->ask("release job"), "ok") << "the store knows it as theirs";
}

void a_stale_release_reports_the_loss(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  auto lease = lost_to(on, client, *other);
  std::error_code ec;
  lease.release(ec);
  EXPECT_EQ(ec, outcome::lost) << ec.message();
  EXPECT_FALSE(lease);
  EXPECT_EQ(other->ask("held job"), "yes");
}

void a_lost_lock_stays_occupied_until_its_unlock(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  auto lock = on.lock(client);
  lock.lock();
  on.store().lose_leases_of(client);
  EXPECT_TRUE(comes(lock.current().loss_token()));
  on.store().go_on(client);
  caller<bool> same_object([&] { return lock.try_lock(); });
  EXPECT_FALSE(same_object.result());
  EXPECT_FALSE(on.lock(client).try_acquire()) << "inside a process exclusion is real";
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0) << "outside, the lock is free";
  EXPECT_EQ(other->ask("release job"), "ok");
  EXPECT_FALSE(lock.current().held());
  lock.unlock();
  EXPECT_TRUE(becomes([&] { return static_cast<bool>(on.lock(client).try_acquire()); }));
}

void a_lease_is_released_once(fixture& on) {
  const auto client = on.client();
  auto lease = on.lock(client).acquire();
  lease.release();
  EXPECT_FALSE(lease);
  EXPECT_FALSE(lease.held());
  EXPECT_EQ(lease.token(), 0);
  EXPECT_EQ(lease.status(), errc::not_held);
  EXPECT_EQ(thrown_by([&] { lease.release(); }), errc::not_held);
  EXPECT_EQ(thrown_by([&] { lease.check(); }), errc::not_held);
  const auto next = on.lock(client).acquire();
  lease.unlock();
  EXPECT_TRUE(next.held());
}

void a_lease_moves_to_another_thread(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(client).acquire();
  const auto token = lease.token();
  caller<bool> elsewhere([&] {
    const holdfast::lease mine = std::move(lease);
    return mine.held() && mine.token() == token;
  });
  EXPECT_TRUE(elsewhere.result());
  EXPECT_FALSE(lease);
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void an_assigned_lease_releases_what_it_had(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(client, "first").acquire();
  auto second = on.lock(client, "second").acquire();
  lease = std::move(second);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): that is what it shows
  EXPECT_TRUE(lease.held());
  EXPECT_EQ(other->ask("try second"), "busy");
  EXPECT_EQ(other->ask("acquire first"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void a_lock_object_moves_while_it_is_free(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lock = client.mutex("job");
  auto moved = std::move(lock);
  EXPECT_EQ(moved.name(), "job");
  moved.lock();
  EXPECT_EQ(other->ask("try job"), "busy");
  moved.unlock();
  auto assigned = client.mutex("another");
  assigned = std::move(moved);
  EXPECT_EQ(assigned.name(), "job");
  EXPECT_TRUE(assigned.acquire());
}

}  // namespace

behaviours ownership() {
  return {
      CONTRACT_BEHAVIOUR(28, a_stale_unlock_harms_nobody, in_both, in_every_mode, nothing),
      CONTRACT_BEHAVIOUR(29, a_stale_release_reports_the_loss, in_both, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(30, a_lost_lock_stays_occupied_until_its_unlock, in_threads, as_a_lockable,
                         deadline),
      CONTRACT_BEHAVIOUR(31, a_lease_is_released_once, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(32, a_lease_moves_to_another_thread, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(33, an_assigned_lease_releases_what_it_had, in_both, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(34, a_lock_object_moves_while_it_is_free, in_both, exclusively, nothing),
  };
}

}  // namespace contract
