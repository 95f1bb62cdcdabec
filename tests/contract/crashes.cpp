// Participants that are killed or stopped.
#include "behaviour.hpp"

namespace contract {
namespace {

void the_lock_of_a_killed_holder_becomes_free(fixture& on) {
  const auto client = on.client();
  const auto other = on.short_lived_other();
  const auto before = token_of(other->ask("try job"));
  ASSERT_NE(before, 0);
  const auto lock = on.lock(client);
  caller<std::int64_t> waiting([&] { return lock.acquire().token(); });
  ASSERT_TRUE(waiting.waits());
  other->kill();
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_TRUE(on.is_later(waiting.result(), before));
}

void a_stopped_holder_shares_the_lock_with_nobody(fixture& on) {
  const auto client = on.client();
  const auto other = on.short_lived_other();
  ASSERT_NE(token_of(other->ask("try job")), 0);
  other->stop();
  const auto lock = on.lock(client);
  const auto lease = on.has_deadlines() ? lock.acquire() : lock.try_acquire();
  EXPECT_EQ(static_cast<bool>(lease), on.has_deadlines()) << "leases run out, processes keep locks";
  other->go_on();
  EXPECT_EQ(other->ask("held job"), lease ? "no" : "yes");
}

void a_killed_waiter_blocks_nobody(fixture& on) {
  const auto client = on.client();
  const auto killed = on.short_lived_other();
  const auto next = on.short_lived_other();
  auto lease = on.lock(client).acquire();
  for (auto* waiter : {killed.get(), next.get()}) {
    ASSERT_EQ(waiter->ask("acquire job"), "calling");
    ASSERT_TRUE(falls_asleep(waiter->process(), waiter->thread()));
  }
  killed->kill();
  lease.unlock();
  EXPECT_NE(token_of(next->receive(generous)), 0);
}

void a_stopped_waiter_blocks_nobody(fixture& on) {
  const auto client = on.client();
  const auto stopped = on.short_lived_other();
  const auto next = on.short_lived_other();
  auto lease = on.lock(client).acquire();
  for (auto* waiter : {stopped.get(), next.get()}) {
    ASSERT_EQ(waiter->ask("acquire job"), "calling");
    ASSERT_TRUE(falls_asleep(waiter->process(), waiter->thread()));
  }
  stopped->stop();
  lease.unlock();
  EXPECT_NE(token_of(next->receive(generous)), 0);
}

}  // namespace

behaviours crashes() {
  return {
      CONTRACT_BEHAVIOUR(72, the_lock_of_a_killed_holder_becomes_free, in_processes, in_every_mode,
                         nothing),
      CONTRACT_BEHAVIOUR(73, a_stopped_holder_shares_the_lock_with_nobody, in_processes,
                         on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(74, a_killed_waiter_blocks_nobody, in_processes, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(75, a_stopped_waiter_blocks_nobody, in_processes, on_both_sides, nothing),
  };
}

}  // namespace contract
