// Which loop a blocked caller drives, where each lock of a client has a loop of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "testkit/fake_store.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"
#include "tests/unit/cohort/noting_store.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

// Its callers sleep.
class counted_driver final : public base::caller_driver {
 public:
  void run_until_signalled(base::parker& p) override {
    note_wait();
    p.park();
  }
  void sleep_until_signalled(base::follower& f) override {
    note_wait();
    f.parker.park();
  }
  void enlist(base::follower& f) noexcept override {
    f.is_enlisted = true;
    ++enlisted;
  }
  void attend() noexcept override { ++attended; }
  void await_wait() const { waits.wait(0); }

  std::atomic<int> waits = 0, enlisted = 0, attended = 0;

 private:
  void note_wait() {
    ++waits;
    waits.notify_all();
  }
};

class lock_driver : public testing::Test {
 protected:
  lock_driver() {
    testkit::fake_store::of(c).give_loop("first", first);
    testkit::fake_store::of(c).give_loop("second", second);
  }
  testkit::manual_environment env;
  counted_driver first, second;
  const client c = testkit::fake_store::open(seam::lifetime::session, env);
};

TEST_F(lock_driver, a_blocked_caller_drives_the_loop_of_the_lock_that_it_waits_for) {
  lease held = c.mutex("another").acquire();  // the store takes all names for one lock
  std::jthread waiter([&] { (void)c.mutex("second").acquire(); });
  second.await_wait();
  EXPECT_EQ(second.enlisted, 1);
  EXPECT_EQ(first.waits, 0);
  held.unlock();
  waiter.join();
  EXPECT_EQ(first.waits + first.attended, 0);
}

TEST_F(lock_driver, a_caller_of_several_locks_drives_the_loop_of_the_next_one) {
  lease held = c.mutex("another").acquire();  // the store takes all names for one lock
  std::jthread waiter([&] { (void)c.acquire_all({"second"}); });
  second.await_wait();
  EXPECT_EQ(second.enlisted, 1);
  held.unlock();
  waiter.join();
  EXPECT_EQ(first.waits, 0);
}

TEST_F(lock_driver, a_caller_that_does_not_block_has_its_loop_driven_when_it_is_the_next_one) {
  using cohort_tests::caller;
  detail::local_lock& home =
      detail::client_access::impl(c).local_lock_for("first", lock_kind::mutex);
  lease held = c.mutex("another").acquire();  // the store takes all names for one lock
  caller one, next;
  for (caller* const w : {&one, &next}) home.begin(*w, detail::wait_bound::forever());
  EXPECT_EQ(first.attended, 0);
  home.withdraw(one);
  EXPECT_EQ(first.attended, 1) << "no thread of its own awaits the reply";
  held.unlock();
  ASSERT_TRUE(next.granted);
  home.unlock(*next.granted);
  home.drop_user();  // of `one`
  home.drop_user();
}

TEST_F(lock_driver, a_caller_that_was_enlisted_reaches_the_loop_even_when_it_has_its_answer) {
  base::parker signalled;
  base::follower caller(signalled);
  signalled.signal();
  cohort::wait(caller, &first);
  EXPECT_EQ(first.waits, 0);
  first.enlist(caller);
  cohort::wait(caller, &first);
  EXPECT_EQ(first.waits, 1) << "it may have been promoted meanwhile";
}

// Its callers do not wait.
class idle_driver final : public base::caller_driver {
 public:
  void run_until_signalled(base::parker&) override {}
  void sleep_until_signalled(base::follower&) override {}
  void enlist(base::follower&) noexcept override {}
  void attend() noexcept override {}
};

TEST_F(lock_driver, a_query_is_sent_before_its_reply_is_awaited) {
  const client noting = cohort_tests::noting_store::open(env);
  cohort_tests::noting_store& store = cohort_tests::noting_store::of(noting);
  idle_driver loop;
  cohort::awaited<int> query;
  query.wait_for(store, &loop);
  EXPECT_EQ(store.flushes, 1);
  query.on_result(7);
  query.wait_for(store, &loop);
  EXPECT_EQ(store.flushes, 1) << "its reply is there";
}

}  // namespace
}  // namespace holdfast
