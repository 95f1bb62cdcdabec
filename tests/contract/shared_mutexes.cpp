// The features of shared_mutex that no other lock has: the shared verbs of the standard library,
// and downgrade.
#include <mutex>
#include <shared_mutex>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;

void shared_lock_of_the_standard_library_works(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lock = client.shared_mutex("job");
  std::shared_lock guard(lock);
  EXPECT_TRUE(guard.owns_lock());
  EXPECT_NE(token_of(other->ask("try reader:job")), 0);
  EXPECT_EQ(other->ask("release reader:job"), "ok");
  std::shared_lock twice(lock, std::chrono::seconds(60));
  EXPECT_TRUE(twice.owns_lock());
  guard.unlock();
  EXPECT_EQ(other->ask("try writer:job"), "busy");
  auto moved = std::move(twice);
  moved.unlock();
  EXPECT_EQ(other->ask("acquire writer:job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
  std::shared_lock late(lock, std::defer_lock);
  EXPECT_FALSE(late.try_lock());
  EXPECT_FALSE(late.try_lock_for(std::chrono::milliseconds(5)));
  EXPECT_FALSE(late.try_lock_until(std::chrono::steady_clock::now()));
}

void a_thread_releases_its_own_share(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lock = client.shared_mutex("job");
  lock.lock_shared();
  caller<bool> elsewhere([&] {
    lock.lock_shared();
    lock.unlock_shared();
    return true;
  });
  ASSERT_TRUE(elsewhere.comes_back());
  EXPECT_EQ(other->ask("try writer:job"), "busy") << "the share of this thread";
  lock.unlock_shared();
  EXPECT_EQ(other->ask("acquire writer:job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void a_downgrade_lets_readers_in_under_its_token(fixture& on) {
  const auto client = on.client();
  const auto reader = on.other();
  const auto lock = client.shared_mutex("job");
  auto lease = lock.acquire();
  const auto token = lease.token();
  lease = lock.downgrade(std::move(lease));
  EXPECT_TRUE(lease.held());
  EXPECT_EQ(lease.token(), token);
  auto beside = lock.try_acquire_shared();
  EXPECT_EQ(beside.token(), token);
  EXPECT_EQ(reader->ask("try writer:job"), "busy");
  EXPECT_EQ(reader->ask("acquire reader:job"), "calling");
  if (on.downgrades()) {
    EXPECT_EQ(token_of(reader->receive(generous)), token);
    EXPECT_EQ(reader->ask("owner reader:job"), lease.owner());
  } else {
    beside.unlock();
    EXPECT_TRUE(lease.held());
    lease.unlock();
    EXPECT_NE(token_of(reader->receive(generous)), 0);
  }
}

void readers_that_wait_enter_at_a_downgrade(fixture& on) {
  const auto client = on.client();
  const auto one = on.other();
  const auto another = on.other();
  const auto lock = client.shared_mutex("job");
  auto lease = lock.acquire();
  for (auto* reader : {one.get(), another.get()}) {
    ASSERT_EQ(reader->ask("acquire reader:job"), "calling");
    ASSERT_TRUE(falls_asleep(reader->process(), reader->thread()));
  }
  lease = lock.downgrade(std::move(lease));
  if (!on.downgrades()) lease.unlock();
  const auto token = token_of(one->receive(generous));
  EXPECT_NE(token, 0);
  EXPECT_EQ(token_of(another->receive(generous)), token);
  if (on.downgrades()) {
    EXPECT_EQ(token, lease.token());
  }
}

void no_writer_comes_between_a_lock_and_its_downgrade(fixture& on) {
  const auto client = on.client();
  const auto writer = on.other();
  const auto lock = client.shared_mutex("job");
  auto lease = lock.acquire();
  const auto token = lease.token();
  ASSERT_EQ(writer->ask("acquire writer:job"), "calling");
  ASSERT_TRUE(falls_asleep(writer->process(), writer->thread()));
  lease = lock.downgrade(std::move(lease));
  ASSERT_TRUE(falls_asleep(writer->process(), writer->thread()));
  EXPECT_TRUE(writer->answers_nothing_yet());
  EXPECT_TRUE(lease.held());
  lease.release();
  EXPECT_GT(token_of(writer->receive(generous)), token);
}

void only_a_held_writer_is_downgraded(fixture& on) {
  const auto client = on.short_lived_client();
  const auto lock = client.shared_mutex("job");
  const auto refusal = [&](holdfast::lease& lease) {
    return thrown_by([&] { lease = lock.downgrade(std::move(lease)); });
  };
  holdfast::lease empty;
  EXPECT_EQ(refusal(empty), errc::not_held);
  auto of_another = client.shared_mutex("another").acquire();
  EXPECT_EQ(refusal(of_another), errc::mismatch);
  EXPECT_TRUE(of_another.held()) << "and stays as it was";
  {
    auto share = lock.acquire_shared();
    EXPECT_EQ(refusal(share), errc::mismatch);
    EXPECT_TRUE(share.held());
  }
  auto lost = lock.acquire();
  on.store().lose_leases_of(client);
  EXPECT_TRUE(comes(lost.loss_token()));
  EXPECT_EQ(refusal(lost), holdfast::outcome::lost);
}

void a_shared_lock_of_the_standard_library_has_a_lease(fixture& on) {
  const auto client = on.client();
  auto lock = client.shared_mutex("job");
  EXPECT_FALSE(lock.current_shared());
  {
    const std::shared_lock guard(lock);
    const holdfast::lease& mine = lock.current_shared();
    EXPECT_TRUE(mine.held());
    EXPECT_NE(mine.token(), 0);
    caller<bool> elsewhere([&] { return static_cast<bool>(lock.current_shared()); });
    EXPECT_FALSE(elsewhere.result()) << "another thread has no share";
  }
  EXPECT_FALSE(lock.current_shared());
  const auto other = on.other();
  EXPECT_EQ(other->ask("acquire writer:job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void a_unique_lock_becomes_a_shared_lock(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lock = client.shared_mutex("job");
  std::unique_lock writer(lock);
  const auto token = lock.current().token();
  {
    const std::shared_lock<holdfast::shared_mutex> reader = lock.downgrade(std::move(writer));
    EXPECT_TRUE(reader.owns_lock());
    EXPECT_EQ(lock.current_shared().token(), token);
    EXPECT_EQ(other->ask("try writer:job"), "busy");
  }
  EXPECT_EQ(other->ask("acquire writer:job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

}  // namespace

behaviours shared_mutexes() {
  return {
      CONTRACT_BEHAVIOUR(135, a_shared_lock_of_the_standard_library_has_a_lease, in_both, shared,
                         nothing),
      CONTRACT_BEHAVIOUR(136, a_unique_lock_becomes_a_shared_lock, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(87, shared_lock_of_the_standard_library_works, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(88, a_thread_releases_its_own_share, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(89, a_downgrade_lets_readers_in_under_its_token, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(90, readers_that_wait_enter_at_a_downgrade, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(91, no_writer_comes_between_a_lock_and_its_downgrade, in_both, shared,
                         nothing),
      CONTRACT_BEHAVIOUR(92, only_a_held_writer_is_downgraded, in_threads, shared, nothing),
  };
}

}  // namespace contract
