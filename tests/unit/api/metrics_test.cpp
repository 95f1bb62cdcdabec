// The metrics of a client of a store in memory, with a clock that the test moves.
#include <gtest/gtest.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <filesystem>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::client;
using holdfast::duration_histogram;
using holdfast::errc;
using holdfast::lock_mode;
using holdfast::metrics;
using holdfast::renewal;
using holdfast::detail::client_access;
using holdfast::detail::wait_bound;

// So many durations of that length and no others.
duration_histogram only(std::uint64_t count, std::chrono::nanoseconds each) {
  duration_histogram h;
  std::size_t i = 0;
  while (i < h.bounds.size() && each > h.bounds[i]) ++i;
  h.buckets[i] = count;
  h.sum = each * static_cast<std::int64_t>(count);
  return h;
}

class a_counting_client : public ::testing::Test {
 protected:
  ~a_counting_client() override { home.drop_user(); }

  // Asks for "x" without blocking.
  struct asker : holdfast::cohort::waiter {
    bool answered = false;
    void complete() noexcept override { answered = true; }
  };

  client open(const std::string& query = {}) {
    const std::string text = store.url() + "?metrics=1&ttl=10s" + query;
    return client_access::open(holdfast::url::parse(text), {}, env);
  }
  void ask(asker& by, lock_mode how = lock_mode::exclusive) {
    by.request.ttl = 10s;
    by.request.mode = how;
    home.begin(by, wait_bound::forever());
  }
  void leave(asker& by) { home.unlock(*by.granted); }
  metrics now() const { return door.metrics(); }

  holdfast::testkit::manual_environment env;
  holdfast::memory_store store{"metrics test"};
  client door = open();
  holdfast::detail::local_lock& home =
      client_access::impl(door).local_lock_for("x", holdfast::lock_kind::mutex);
};

TEST_F(a_counting_client, counts_an_acquire_its_wait_its_hold_and_its_grant) {
  auto lease = door.mutex("x").acquire();
  EXPECT_EQ(now().waits.exclusive, only(1, 0s));
  EXPECT_EQ(now().holds.exclusive.count(), 0u);
  EXPECT_EQ(now().grants, 1u);
  env.freeze(2s);
  lease.release();
  EXPECT_EQ(now().holds.exclusive, only(1, 2s));
  EXPECT_EQ(now().errors_lost, 0u);
}

TEST_F(a_counting_client, counts_each_mode_by_itself) {
  (void)door.shared_mutex("s").acquire_shared();
  (void)door.semaphore("p", 3).acquire();
  EXPECT_EQ(now().waits.exclusive.count(), 0u);
  EXPECT_EQ(now().waits.shared, only(1, 0s));
  EXPECT_EQ(now().waits.permit, only(1, 0s));
  EXPECT_EQ(now().holds.shared, only(1, 0s));
  EXPECT_EQ(now().holds.permit, only(1, 0s));
  EXPECT_EQ(now().losses, 0u);
  EXPECT_EQ(now().doubts, 0u);
  EXPECT_EQ(now().errors_usage, 0u);
}

TEST_F(a_counting_client, counts_what_was_busy) {
  const client other = open();
  const auto theirs = other.mutex("x").acquire();
  const auto mine = door.mutex("y").acquire();
  EXPECT_FALSE(door.mutex("x").try_acquire());
  EXPECT_FALSE(door.mutex("y").try_acquire());
  EXPECT_EQ(now().busy, 2u);
  EXPECT_EQ(now().waits.exclusive.count(), 1u);
  EXPECT_EQ(other.metrics().busy, 0u) << "each client counts for itself";
}

TEST_F(a_counting_client, counts_errors_by_their_outcome) {
  EXPECT_THROW((void)door.mutex("x").acquire({.permits = 2}), holdfast::lock_error);
  EXPECT_EQ(now().errors_usage, 1u);

  auto broken = door.mutex("x").acquire();
  store.remove("x");
  std::error_code ec;
  broken.release(ec);
  EXPECT_EQ(ec, errc::lost);
  EXPECT_EQ(now().errors_lost, 1u);

  auto unsaid = door.mutex("y").acquire();
  store.remove("y");
  unsaid.unlock();
  EXPECT_EQ(now().errors_lost, 2u);

  store.begin_outage();
  asker waits;
  waits.request.one_attempt = true;
  ask(waits);
  env.advance(6s);
  EXPECT_TRUE(waits.answered);
  EXPECT_EQ(now().errors_unavailable, 1u);
  home.drop_user();  // which it was counted as
}

TEST_F(a_counting_client, counts_how_long_the_next_waiter_waited_and_that_it_needed_no_store) {
  auto lease = door.mutex("x").acquire();
  asker next;
  ask(next);
  env.freeze(30ms);
  lease.unlock();
  ASSERT_TRUE(next.answered);
  EXPECT_EQ(now().local_handoffs, 1u);
  EXPECT_EQ(now().grants, 1u);
  duration_histogram both = only(1, 30ms);
  both.buckets[0] = 1;
  EXPECT_EQ(now().waits.exclusive, both);
  leave(next);
}

TEST_F(a_counting_client, counts_a_grant_of_the_store_that_was_waited_for) {
  const client other = open();
  auto theirs = other.mutex("x").acquire();
  asker waits;
  ask(waits);
  env.freeze(4s);
  theirs.release();
  ASSERT_TRUE(waits.answered);
  EXPECT_EQ(now().grants, 1u);
  EXPECT_EQ(now().local_handoffs, 0u);
  EXPECT_EQ(now().waits.exclusive, only(1, 4s));
  leave(waits);
}

TEST_F(a_counting_client, counts_readers_that_join_others) {
  const auto first = door.shared_mutex("x").acquire_shared();
  const auto second = door.shared_mutex("x").acquire_shared();
  const auto third = door.shared_mutex("x").acquire_shared();
  EXPECT_EQ(now().shares_joined, 2u);
  EXPECT_EQ(now().grants, 1u);
  EXPECT_EQ(now().linger_reuses, 0u);
  EXPECT_EQ(now().waits.shared, only(3, 0s));
}

TEST_F(a_counting_client, counts_each_std_shared_lock) {
  auto lock = door.shared_mutex("x");
  for (int i = 0; i < 3; ++i) {
    lock.lock_shared();
    std::jthread([&] { const std::shared_lock also(lock); }).join();
    lock.unlock_shared();
  }
  EXPECT_EQ(now().waits.shared.count(), 6u);
  EXPECT_EQ(now().holds.shared.count(), 6u);
  EXPECT_EQ(now().shares_joined, 3u);
}

TEST_F(a_counting_client, counts_the_use_of_a_grant_that_lingers) {
  const client keeps = open("&linger=1s");
  for (int i = 0; i < 4; ++i) keeps.mutex("x").acquire().unlock();
  EXPECT_EQ(keeps.metrics().grants, 1u);
  EXPECT_EQ(keeps.metrics().linger_reuses, 3u);
  EXPECT_EQ(keeps.metrics().local_handoffs, 0u);
}

TEST_F(a_counting_client, counts_renewals_and_how_late_they_were_confirmed) {
  const auto lease = door.mutex("x").acquire();
  store.set_latency(100ms);
  while (now().renewals_sent == 0) ASSERT_TRUE(env.advance_to_next_alarm());
  env.advance(199ms);
  EXPECT_EQ(now().renewals_confirmed, 0u);
  env.advance(1ms);
  EXPECT_EQ(now().renewals_confirmed, 1u);
  EXPECT_EQ(now().renewal_lag, only(1, 200ms));
}

TEST_F(a_counting_client, counts_an_extension_without_a_lag) {
  auto lease = door.mutex("x").acquire({.renew = renewal::manual});
  lease.extend(20s);
  EXPECT_EQ(now().renewals_sent, 1u);
  EXPECT_EQ(now().renewals_confirmed, 1u);
  EXPECT_EQ(now().renewal_lag.count(), 0u);
}

TEST_F(a_counting_client, counts_doubts_and_losses) {
  const auto lease = door.mutex("x").acquire();
  store.begin_outage();
  env.advance(9s);
  EXPECT_EQ(now().doubts, 1u);
  EXPECT_EQ(now().losses, 0u);
  env.advance(1s);
  EXPECT_EQ(now().doubts, 1u);
  EXPECT_EQ(now().losses, 1u);
  EXPECT_FALSE(lease.held());
  store.end_outage();
}

TEST_F(a_counting_client, counts_a_loss_that_only_the_clock_has_seen) {
  auto lease = door.mutex("x").acquire({.renew = renewal::manual});
  env.freeze(1min);
  lease.unlock();
  EXPECT_EQ(now().losses, 1u);
  EXPECT_EQ(now().doubts, 1u);
  EXPECT_EQ(now().holds.exclusive, only(1, 60s));
}

TEST_F(a_counting_client, counts_no_loss_when_it_is_closed) {
  const auto lease = door.mutex("x").acquire();
  door.close();
  EXPECT_EQ(now().losses, 0u);
  EXPECT_EQ(now().waits.exclusive.count(), 1u) << "what was counted stays";
}

TEST_F(a_counting_client, counts_from_many_threads_and_misses_nothing) {
  constexpr int threads = 80, each = 50;  // more than have pages of their own
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([this, t] {
        auto own = door.mutex("own/" + std::to_string(t));
        for (int i = 0; i < each; ++i) own.acquire().unlock();
        while (now().waits.exclusive.count() < 1) {}
      });
  }
  EXPECT_EQ(now().waits.exclusive.count(), std::uint64_t{threads} * each);
  EXPECT_EQ(now().holds.exclusive.count(), std::uint64_t{threads} * each);
  EXPECT_EQ(now().grants, std::uint64_t{threads} * each);
}

TEST_F(a_counting_client, shows_whether_its_store_is_in_reach) {
  EXPECT_EQ(now().backend, store.url()) << "without the options";
  EXPECT_TRUE(now().connected);
  store.begin_outage();
  EXPECT_FALSE(now().connected);
  store.end_outage();
  EXPECT_TRUE(now().connected);
  door.close();
  EXPECT_FALSE(now().connected);
}

TEST(a_client_of_files, is_always_connected) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("holdfast-metrics-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    const client door = client::open("file://" + folder);
    EXPECT_TRUE(door.metrics().connected) << "counted or not";
    EXPECT_EQ(door.metrics().reconnects, 0u);
  }
  std::filesystem::remove_all(folder);
}

TEST(a_client_without_metrics, counts_nothing) {
  const client door = client::open("memory:");
  (void)door.mutex("x").acquire();
  EXPECT_FALSE(door.metrics().counted);
  EXPECT_EQ(door.metrics().grants, 0u);
  EXPECT_EQ(to_prometheus(door.metrics()), "");
}

class a_counted_cohort : public holdfast::cohort_tests::a_cohort {};

TEST_F(a_counted_cohort, counts_grants_that_were_handed_over) {
  holdfast::cohort::counters counts;
  rules.counts = &counts;
  holdfast::cohort_tests::caller w;
  enter(w);
  auto* const claim = said(holdfast::cohort::claim_record::acquire);
  machine.on_granted(*claim, {.number = 7,
                              .deadline = env.now() + 250ms,
                              .received_at = env.now(),
                              .others_wait = false,
                              .provisional = true});
  EXPECT_EQ(counts.read().grants_handed, 1u);
  leave(w);
  rules.counts = nullptr;
}

}  // namespace
