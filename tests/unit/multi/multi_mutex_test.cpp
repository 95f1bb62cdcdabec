// Several locks as one, over stores in memory.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <functional>
#include <future>
#include <string>
#include <thread>

#include "api/client_access.hpp"
#include "testkit/fake_store.hpp"
#include "testkit/manual_environment.hpp"
#include "testkit/thrown_by.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::testkit::thrown_by;

struct several_locks : ::testing::Test {
  holdfast::client client = holdfast::client::open("memory:");
  holdfast::client elsewhere = holdfast::client::open("memory:");
  holdfast::mutex a = client.mutex("a"), b = client.mutex("b"), c = elsewhere.mutex("a");
};

TEST_F(several_locks, are_held_together_each_with_its_token_in_the_order_given) {
  const holdfast::multi_mutex all(b, c, a);
  auto held = all.acquire();
  ASSERT_EQ(held.members().size(), 3u);
  EXPECT_TRUE(held.held());
  EXPECT_NO_THROW(held.check());
  const std::int64_t of_b = held.members()[0].token();
  held.release();
  EXPECT_FALSE(held);
  EXPECT_GT(b.acquire().token(), of_b);
  EXPECT_TRUE(a.try_acquire());
  EXPECT_TRUE(c.try_acquire());
}

TEST_F(several_locks, are_all_given_back_when_one_is_busy) {
  auto busy = b.acquire();
  const holdfast::multi_mutex all(a, b, c);
  EXPECT_FALSE(all.try_acquire());
  EXPECT_FALSE(all.try_acquire_for(5ms));
  std::error_code ec;
  EXPECT_FALSE(all.try_acquire({}, ec));
  EXPECT_FALSE(ec);
  EXPECT_TRUE(a.try_acquire());
  EXPECT_TRUE(c.try_acquire());
  busy.unlock();
  EXPECT_TRUE(all.try_acquire_for(40s));
}

TEST_F(several_locks, a_lock_given_twice_is_refused) {
  auto again = client.mutex("a");
  EXPECT_EQ(thrown_by([&] { const holdfast::multi_mutex twice(a, b, again); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { (void)client.acquire_all({"x", "y", "x"}); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { (void)client.acquire_all({}); }), errc::bad_option);
  EXPECT_TRUE(a.try_acquire());
}

TEST_F(several_locks, that_one_object_has_locked_are_not_waited_for_by_it) {
  holdfast::multi_mutex all(a, b);
  all.lock();
  EXPECT_FALSE(all.try_lock());
  EXPECT_FALSE(all.try_lock_for(1h)) << "this object alone can unlock them";
  EXPECT_EQ(thrown_by([&] { all.lock(); }), errc::would_self_deadlock);
  EXPECT_TRUE(all.current().held());
  all.unlock();
  all.lock();
  EXPECT_TRUE(all.current().held());
}

TEST(several_locks_in_any_store, are_requested_one_by_one_where_no_step_grants_them_all) {
  using holdfast::testkit::fake_store;
  holdfast::testkit::manual_environment env;
  const auto client = fake_store::open(holdfast::seam::lifetime::session, env);
  EXPECT_FALSE(client.try_acquire_all({"a", "b"}));
  EXPECT_EQ(fake_store::of(client).grouped_requests(), 0);
}

TEST_F(several_locks, of_two_threads_in_opposite_order_never_wait_for_each_other) {
  const auto work = [&](holdfast::mutex& first, holdfast::mutex& second) {
    holdfast::multi_mutex both(first, second);
    for (int i = 0; i < 2000; ++i) std::lock_guard guard(both);
  };
  auto other = std::async(std::launch::async, [&] { work(a, b); });
  work(b, a);
  EXPECT_EQ(other.wait_for(40s), std::future_status::ready);
}

// "memory:one?" sorts behind "memory:one2" as text, and before it as a place.
TEST_F(several_locks, are_taken_in_one_order_whatever_the_options_of_their_clients) {
  const holdfast::memory_store first("one"), second("one2");
  const auto work = [&](const std::string& options) {
    const auto x = holdfast::client::open(first.url() + options);
    const auto y = holdfast::client::open(second.url() + options);
    auto job_x = x.mutex("job"), job_y = y.mutex("job");
    holdfast::multi_mutex both(job_y, job_x);
    for (int i = 0; i < 2000; ++i) std::lock_guard guard(both);
  };
  auto other = std::async(std::launch::async, [&] { work("?turns=64"); });
  work("");
  EXPECT_EQ(other.wait_for(40s), std::future_status::ready);
}

TEST_F(several_locks, that_were_moved_elsewhere_are_none_to_lock) {
  holdfast::multi_mutex here(a, b);
  const holdfast::multi_mutex there(std::move(here));
  EXPECT_EQ(thrown_by([&] { here.lock(); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { (void)here.try_acquire_for(1s); }), errc::bad_option);
  std::error_code ec;
  EXPECT_FALSE(here.try_acquire(ec));
  EXPECT_EQ(ec, errc::bad_option);
  EXPECT_TRUE(there.try_acquire());
}

TEST_F(several_locks, are_lost_with_the_first_of_them) {
  holdfast::memory_store store("several");
  auto short_lived = holdfast::client::open(store.url());
  auto x = short_lived.mutex("x");
  auto held = holdfast::multi_mutex(a, x).acquire();
  const auto lost = held.loss_token();
  EXPECT_FALSE(lost.stop_requested());
  short_lived.close();
  std::promise<void> told;
  const std::stop_callback tell(lost, [&] { told.set_value(); });
  EXPECT_EQ(told.get_future().wait_for(40s), std::future_status::ready);
  EXPECT_FALSE(held.held());
  EXPECT_EQ(thrown_by([&] { held.check(); }), errc::closed);
  EXPECT_TRUE(held.members()[0].held());
}

TEST_F(several_locks, are_extended_together) {
  auto held =
      holdfast::multi_mutex(a, c).acquire({.ttl = 1min, .renew = holdfast::renewal::manual});
  const auto before = held.expires();
  held.extend(10min);
  for (const auto& member : held.members()) EXPECT_GT(member.expires(), before + 5min);
  std::error_code ec;
  held.extend(20min, ec);
  EXPECT_FALSE(ec);
  EXPECT_GT(held.expires(), before + 15min);
  EXPECT_EQ(thrown_by([&] { held.extend(0ms); }), errc::bad_option);
  EXPECT_TRUE(held.held());
}

TEST_F(several_locks, that_are_lost_in_part_are_extended_in_part_and_the_loss_is_reported) {
  auto short_lived = holdfast::client::open("memory:");
  auto x = short_lived.mutex("x");
  auto held =
      holdfast::multi_mutex(x, a).acquire({.ttl = 1min, .renew = holdfast::renewal::manual});
  const auto before = held.members()[1].expires();
  short_lived.close();
  EXPECT_EQ(thrown_by([&] { held.extend(10min); }), errc::closed);
  EXPECT_GT(held.members()[1].expires(), before + 5min);
  std::error_code ec;
  held.extend(20min, ec);
  EXPECT_EQ(ec, errc::closed);
  EXPECT_GT(held.members()[1].expires(), before + 15min);
}

TEST(several_locks_in_any_store, lost_while_the_others_are_waited_for_are_acquired_again) {
  holdfast::memory_store store("several-lost");
  const holdfast::acquire_options not_renewed{.renew = holdfast::renewal::manual};
  const auto client = holdfast::client::open(store.url() + "?ttl=10m");
  const auto other = holdfast::client::open(store.url() + "?ttl=10m");
  const auto busy = other.mutex("b").acquire(not_renewed);
  auto waiting = std::async(std::launch::async, [&] {
    return client.acquire_all({"a", "b"}, not_renewed);
  });
  while (other.holders("a").empty() || other.holders("b").at(0).waiting == 0)
    std::this_thread::yield();
  store.advance(10min);
  EXPECT_TRUE(waiting.get().held());
}

TEST_F(several_locks, that_nobody_holds_cannot_be_extended) {
  holdfast::lease_set none;
  std::error_code ec;
  none.extend(1min, ec);
  EXPECT_EQ(ec, errc::not_held);
  EXPECT_EQ(thrown_by([&] { none.extend(1min); }), errc::not_held);
}

TEST_F(several_locks, are_granted_after_an_early_stop_if_all_are_free) {
  std::stop_source stop;
  stop.request_stop();
  const holdfast::multi_mutex both(a, b);
  EXPECT_TRUE(both.acquire({}, stop.get_token()));
  const auto busy = b.acquire();
  std::error_code ec;
  EXPECT_FALSE(both.acquire({}, stop.get_token(), ec));
  EXPECT_EQ(ec, errc::canceled);
  EXPECT_FALSE(both.try_acquire_for(1h, {}, stop.get_token()));
  EXPECT_TRUE(a.try_acquire());
}

TEST_F(several_locks, taken_by_name_are_given_back_together) {
  auto held = client.acquire_all({"x", "y"}, {.note = "both"});
  EXPECT_FALSE(client.mutex("y").try_acquire());
  held.unlock();
  EXPECT_TRUE(client.mutex("y").try_acquire());
  EXPECT_TRUE(client.mutex("x").try_acquire());
}

TEST_F(several_locks, waited_for_can_be_stopped) {
  auto busy = b.acquire();
  std::stop_source stop;
  auto waits = std::async(std::launch::async, [&] {
    std::error_code ec;
    (void)holdfast::multi_mutex(a, b).acquire({}, stop.get_token(), ec);
    return ec;
  });
  stop.request_stop();
  EXPECT_EQ(waits.get(), errc::canceled);
  EXPECT_TRUE(a.try_acquire());
}

TEST_F(several_locks, of_no_lease_are_not_held_in_any_form) {
  holdfast::lease_set none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.held());
  EXPECT_EQ(none.status(), errc::not_held);
  EXPECT_EQ(none.expires(), holdfast::lease_clock::time_point::min());
  EXPECT_EQ(thrown_by([&] { none.check(); }), errc::not_held);
  EXPECT_EQ(thrown_by([&] { none.release(); }), errc::not_held);
  std::error_code ec;
  none.release(ec);
  EXPECT_EQ(ec, errc::not_held);
  EXPECT_TRUE(none.doubt_token().stop_requested());
  EXPECT_TRUE(none.loss_token().stop_requested());
  none.unlock();
}

TEST_F(several_locks, whose_set_is_replaced_are_released) {
  auto held = client.acquire_all({"a", "b"});
  held = elsewhere.acquire_all({"a"});
  EXPECT_TRUE(a.try_acquire());
  EXPECT_TRUE(b.try_acquire());
  EXPECT_FALSE(c.try_acquire());
  EXPECT_TRUE(held.held());
}

TEST_F(several_locks, of_one_name_in_one_store_are_one_lock_for_all_clients) {
  const holdfast::memory_store store("twins");
  const auto one = holdfast::client::open(store.url() + "?ttl=9s");
  const auto other = holdfast::client::open(store.url());
  auto first = one.mutex("job"), second = other.mutex("job"), third = other.mutex("other job");
  EXPECT_EQ(thrown_by([&] { const holdfast::multi_mutex twice(first, second); }), errc::bad_option);
  EXPECT_TRUE(holdfast::multi_mutex(first, third).try_acquire());
}

// Leases of two clients of one store whose clock the test moves.
class several_leases : public ::testing::Test {
 protected:
  holdfast::client open(const std::string& options) {
    return holdfast::detail::client_access::open(holdfast::url::parse(store.url() + options), {},
                                                 env);
  }
  holdfast::lease_set acquire() {
    return holdfast::multi_mutex(b, a).acquire({.renew = holdfast::renewal::manual});
  }
  static std::string name_in_error(const std::function<void()>& call, std::error_code code) {
    try {
      call();
    } catch (const holdfast::lock_error& e) {
      EXPECT_EQ(e.code(), code);
      return std::string(e.lock());
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  holdfast::testkit::manual_environment env;
  holdfast::memory_store store{"several leases"};
  const holdfast::client short_one = open("?ttl=10s"), long_one = open("?ttl=40s");
  holdfast::mutex a = short_one.mutex("a"), b = long_one.mutex("b");
};

TEST_F(several_leases, expire_with_the_first_of_them) {
  const auto held = acquire();
  EXPECT_EQ(held.expires(), held.members()[1].expires());
  EXPECT_LT(held.expires(), held.members()[0].expires());
}

TEST_F(several_leases, have_the_doubt_and_the_loss_of_each_of_them) {
  const auto held = acquire();
  const auto doubt = held.doubt_token(), loss = held.loss_token();
  EXPECT_EQ(held.doubt_token(), doubt) << "one token for all callers";
  EXPECT_EQ(held.loss_token(), loss);
  env.advance(9500ms);
  EXPECT_TRUE(doubt.stop_requested());
  EXPECT_FALSE(loss.stop_requested());
  EXPECT_TRUE(held.held());
  env.advance(500ms);
  EXPECT_TRUE(loss.stop_requested());
  EXPECT_EQ(held.status(), errc::lost);
  EXPECT_TRUE(held.members()[0].held());
}

TEST_F(several_leases, name_the_first_that_is_lost_when_they_are_released) {
  auto held = acquire();
  env.advance(10s);
  EXPECT_EQ(name_in_error([&] { held.release(); }, errc::lost), "a");
  EXPECT_FALSE(held);
  auto both = acquire();
  env.advance(40s);
  EXPECT_EQ(name_in_error([&] { both.release(); }, errc::lost), "b") << "in the order given";
  auto again = acquire();
  again.release();
}

TEST_F(several_leases, name_the_first_that_is_lost_when_they_are_extended) {
  auto held = acquire();
  env.advance(10s);
  const auto before = held.members()[0].expires();
  EXPECT_EQ(name_in_error([&] { held.extend(1min); }, errc::lost), "a");
  EXPECT_GT(held.members()[0].expires(), before);
  held.unlock();
  auto both = acquire();
  env.advance(40s);
  EXPECT_EQ(name_in_error([&] { both.extend(1min); }, errc::lost), "b");
  EXPECT_EQ(name_in_error([&] { both.extend(1ms); }, errc::bad_option), "b");
  std::error_code ec;
  both.extend(1min, ec);
  EXPECT_EQ(ec, errc::lost);
  both.release(ec);
  EXPECT_EQ(ec, errc::lost);
}

TEST_F(several_leases, have_the_reason_of_their_loss_in_the_error_of_a_release) {
  auto held = acquire();
  env.advance(10s);
  try {
    held.release();
    FAIL() << "a lease was lost";
  } catch (const holdfast::lock_error& e) {
    EXPECT_EQ(e.code(), errc::lost);
    EXPECT_NE(e.detail(), "");
  }
}

}  // namespace
