#include <sys/wait.h>

#include <optional>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;

void close_ends_waits(fixture& on) {
  const auto holder = on.client();
  auto client = on.client();
  const auto lease = on.lock(holder).acquire();
  const auto lock = on.rival(client);
  caller<bool> forever([&] { return static_cast<bool>(lock.acquire()); });
  caller<bool> timed(
      [&] { return static_cast<bool>(lock.try_acquire_for(std::chrono::hours(1))); });
  ASSERT_TRUE(forever.waits());
  ASSERT_TRUE(timed.waits());
  client.close();
  ASSERT_TRUE(forever.comes_back());
  ASSERT_TRUE(timed.comes_back());
  EXPECT_EQ(thrown_by([&] { forever.result(); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { timed.result(); }), errc::closed) << "this is not busy";
  EXPECT_TRUE(lease.held());
}

void close_releases_leases(fixture& on) {
  auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(client).acquire();
  EXPECT_TRUE(client.close());
  EXPECT_FALSE(lease.held());
  EXPECT_EQ(lease.status(), errc::closed);
  EXPECT_TRUE(comes(lease.loss_token()));
  EXPECT_NE(token_of(other->ask("try job")), 0);
  lease.unlock();
  EXPECT_EQ(other->ask("held job"), "yes");
  EXPECT_TRUE(client.close()) << "closing twice is closing once";
}

void a_closed_client_reports_that_it_is_closed(fixture& on) {
  auto client = on.client();
  const auto copy = client;
  const auto lock = on.lock(copy);
  client.close();
  EXPECT_EQ(thrown_by([&] { (void)lock.acquire(); }), errc::closed) << "copies are one client";
  EXPECT_EQ(thrown_by([&] { (void)lock.try_acquire(); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { (void)on.lock(copy, "another").acquire(); }), errc::closed);
  caller<bool> look([&] { return copy.list().empty(); });
  ASSERT_TRUE(look.comes_back());
  EXPECT_EQ(thrown_by([&] { look.result(); }), errc::closed);
}

void a_lease_keeps_its_client_alive(fixture& on) {
  const auto other = on.other();
  auto client = std::optional(on.client());
  auto lease = on.lock(*client).acquire();
  client.reset();
  EXPECT_TRUE(lease.held());
  EXPECT_EQ(other->ask("try job"), "busy");
  lease.release();
  EXPECT_NE(token_of(other->ask("try job")), 0);
}

void a_child_of_fork_owns_nothing(fixture& on) {
  auto client = on.client();
  const auto other = on.other();
  auto lock = on.lock(client);
  auto lease = lock.acquire();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::error_code ec;
    bool right = !lease.held() && lease.status() == errc::forked;
    right = right && !lock.try_acquire({}, ec) && ec == errc::forked;
    right = right && !lock.acquire({}, {}, ec) && ec == errc::forked;
    client.close();
    lease.unlock();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(lease.held());
  EXPECT_EQ(other->ask("try job"), "busy");
  lease.release();
  EXPECT_NE(token_of(other->ask("try job")), 0);
}

}  // namespace

behaviours closing() {
  return {
      CONTRACT_BEHAVIOUR(55, close_ends_waits, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(56, close_releases_leases, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(57, a_closed_client_reports_that_it_is_closed, in_threads, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(58, a_lease_keeps_its_client_alive, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(59, a_child_of_fork_owns_nothing, in_both, at_the_store, nothing),
  };
}

}  // namespace contract
