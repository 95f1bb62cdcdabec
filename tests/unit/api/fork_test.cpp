// The state of a parent's leases and locks in a fork's child.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <utility>

#include "api/client_access.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/in_a_child.hpp"

namespace {

using holdfast::client;
using holdfast::errc;

using holdfast::unit_tests::is_true_in_a_child;

// Forks when the clock is read first, which memory:?stop-after= does inside open().
struct forking_environment final : holdfast::base::environment {
  bool has_forked = false, child_survived = false;

  holdfast::base::time_point now() noexcept override {
    if (!std::exchange(has_forked, true)) child_survived = is_true_in_a_child([] { return true; });
    return real.now();
  }
  std::chrono::microseconds wall() noexcept override { return real.wall(); }
  void random(std::span<std::byte> to) noexcept override { real.random(to); }
  std::unique_ptr<holdfast::base::alarm> make_alarm(holdfast::base::alarm_target& target,
                                                    const char* name) override {
    return real.make_alarm(target, name);
  }
  std::unique_ptr<holdfast::base::worker> make_worker(const char* name) override {
    return real.make_worker(name);
  }

  holdfast::testkit::manual_environment real;
};

template <class Mutex>
std::error_code thrown_by_lock(Mutex& m) {
  try {
    m.lock();
    return {};
  } catch (const holdfast::lock_error& e) {
    return e.code();
  }
}

TEST(a_fork, lets_no_child_enter_a_recursive_mutex_that_its_parent_holds) {
  const auto c = client::open("memory:");
  auto m = c.recursive_mutex("job");
  m.lock();
  EXPECT_TRUE(is_true_in_a_child([&] { return thrown_by_lock(m) == errc::forked; }));
  m.unlock();
}

TEST(a_fork, is_reported_to_a_child_that_locks_a_mutex_of_its_parent) {
  const auto c = client::open("memory:");
  auto m = c.mutex("job");
  EXPECT_TRUE(is_true_in_a_child([&] { return thrown_by_lock(m) == errc::forked; }));
  const std::lock_guard guard(m);
  EXPECT_TRUE(is_true_in_a_child([&] { return thrown_by_lock(m) == errc::forked; }));
}

struct client_without_threads {
  holdfast::testkit::manual_environment env;
  const client opened =
      holdfast::detail::client_access::open(holdfast::url::parse("memory:"), {}, env);
};

// The share of the child's thread is of an object that no longer exists there.
TEST(a_fork, lets_a_child_lock_an_object_that_replaces_one_its_parent_has_a_share_of) {
  const auto c = client::open("memory:");
  auto m = std::make_unique<holdfast::shared_mutex>(c, "job");
  m->lock_shared();
  EXPECT_TRUE(is_true_in_a_child([&] {
    const client_without_threads own;
    m.reset();
    holdfast::shared_mutex mine(own.opened, "job");
    const bool is_locked = mine.try_lock();
    if (is_locked) mine.unlock();
    return is_locked && !mine.current_shared();
  }));
  m->unlock_shared();
}

TEST(a_fork, lets_a_child_replace_a_lock_that_its_parent_holds) {
  const auto c = client::open("memory:");
  auto m = c.mutex("job");
  m.lock();
  EXPECT_TRUE(is_true_in_a_child([&] {
    const client_without_threads own;
    m = own.opened.mutex("another");
    const bool is_locked = m.try_lock();
    if (is_locked) m.unlock();
    return is_locked;
  }));
  m.unlock();
}

TEST(a_fork, is_reported_to_a_child_that_uses_a_guard_of_its_parent) {
  if (holdfast::redis_guard::lua().empty()) GTEST_SKIP() << "this build has no redis backend";
  const auto c = client::open("memory:");
  holdfast::redis_guard guard(c, "value");
  EXPECT_TRUE(is_true_in_a_child([&] {
    std::error_code written, set;
    (void)guard.write(1, "owner", "value", written);
    guard.set("owner", set);
    return written == errc::forked && set == errc::forked;
  }));
}

TEST(a_fork, may_come_while_a_client_is_being_opened) {
  forking_environment env;
  const auto where = holdfast::url::parse("memory:?stop-after=1h");
  const auto c = holdfast::detail::client_access::open(where, {}, env);
  EXPECT_TRUE(env.has_forked);
  EXPECT_TRUE(env.child_survived);
}

TEST(a_fork, stops_the_tokens_of_a_lease_for_the_child_and_not_for_the_parent) {
  const auto c = client::open("memory:");
  const auto held = c.mutex("job").acquire();
  EXPECT_TRUE(is_true_in_a_child([&] {
    return held.doubt_token().stop_requested() && held.loss_token().stop_requested() &&
           !held.revocation_token().stop_possible();
  }));
  EXPECT_FALSE(held.doubt_token().stop_requested());
  EXPECT_FALSE(held.loss_token().stop_requested());
}

TEST(a_fork, shows_the_child_nothing_of_a_lease_but_its_name_and_its_token) {
  const auto c = client::open("memory:");
  const auto share = c.shared_mutex("job").acquire_shared();
  const auto permits = c.semaphore("jobs", 3).acquire({.permits = 2});
  EXPECT_TRUE(is_true_in_a_child([&] {
    return share.mode() == holdfast::lock_mode::exclusive && permits.permits() == 0 &&
           permits.owner().empty() && permits.name() == "jobs" && permits.token() > 0;
  }));
  EXPECT_EQ(share.mode(), holdfast::lock_mode::shared);
  EXPECT_EQ(permits.permits(), 2u);
}

TEST(a_fork, gives_the_child_stores_in_memory_of_its_own) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no thread in the child of a process with threads";
#endif
  const auto c = client::open("memory:of parent and child");
  const auto held = c.mutex("job").acquire();
  EXPECT_TRUE(is_true_in_a_child([] {
    const auto own = client::open("memory:of parent and child");
    return static_cast<bool>(own.mutex("job").try_acquire());
  }));
  EXPECT_TRUE(held.held());
}

}  // namespace
