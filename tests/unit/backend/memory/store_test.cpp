#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include <stop_token>
#include <string>

#include "api/client_access.hpp"
#include "backend/memory/shifted_environment.hpp"
#include "testkit/manual_environment.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testkit::thrown_by;

TEST(memory_store, handles_and_clients_of_one_name_are_one_store) {
  memory_store store("one"), same("one"), other("another");
  auto c = client::open(store.url());
  auto held = c.mutex("x").acquire();
  EXPECT_FALSE(other.remove("x"));
  EXPECT_TRUE(same.remove("x"));
  EXPECT_FALSE(store.remove("x"));
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, errc::lost);
}

TEST(memory_store, a_name_with_every_kind_of_character_is_one_url) {
  memory_store store("a b/../%?&#=ü");
  auto c = client::open(store.url() + "?ttl=1s");
  auto held = c.mutex("x").acquire();
  EXPECT_TRUE(store.remove("x"));
  held.unlock();
}

TEST(memory_store, a_bad_name_is_refused) {
  EXPECT_EQ(thrown_by([] { memory_store(""); }), errc::bad_name);
  EXPECT_EQ(thrown_by([] { memory_store("a\nb"); }), errc::bad_name);
  EXPECT_EQ(thrown_by([] { memory_store(std::string(513, 'x')); }), errc::bad_name);
}

TEST(memory_store, an_error_code_is_what_the_other_form_throws) {
  std::error_code ec;
  memory_store none("", ec);
  EXPECT_EQ(ec, errc::bad_name);
  none.advance(1h);
  EXPECT_FALSE(none.remove("x")) << "nobody is in it";
  memory_store store("by code", ec);
  EXPECT_EQ(ec, std::error_code{});
  const auto inside = client::open(store.url()), outside = client::open("memory:");
  const client empty;
  const auto held = inside.mutex("x").acquire();
  EXPECT_TRUE(memory_store("by code").remove("x"));
  for (const auto* const stranger : {&outside, &empty}) {
    store.stop_requests_of(*stranger, ec);
    EXPECT_EQ(ec, errc::bad_option);
    store.resume_requests_of(*stranger, ec);
    EXPECT_EQ(ec, errc::bad_option);
  }
  store.stop_requests_of(inside, ec);
  EXPECT_EQ(ec, std::error_code{});
  store.resume_requests_of(inside, ec);
  EXPECT_EQ(ec, std::error_code{});
}

TEST(memory_store, a_client_of_another_store_is_refused) {
  memory_store store("mine");
  auto stranger = client::open("memory:");
  EXPECT_EQ(thrown_by([&] { store.stop_requests_of(stranger); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { store.resume_requests_of(stranger); }), errc::bad_option);
}

TEST(memory_store, a_stopped_clients_lease_runs_out_and_the_next_gets_a_larger_token) {
  memory_store store("stopped");
  auto a = client::open(store.url() + "?ttl=300ms");
  auto b = client::open(store.url() + "?ttl=300ms");
  auto ma = a.mutex("x"), mb = b.mutex("x");
  auto old = ma.acquire();
  const auto token = old.token();
  store.stop_requests_of(a);
  auto next = mb.acquire();
  EXPECT_FALSE(old.held());
  EXPECT_GT(next.token(), token);
  store.resume_requests_of(a);
}

TEST(memory_store, an_outage_is_reported_as_unavailable_and_ends) {
  memory_store store("outage");
  auto c = client::open(store.url() + "?op-timeout=200ms");
  auto m = c.mutex("x");
  store.begin_outage();
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire(); }), errc::unavailable);
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire_for(300ms); }), errc::unavailable);
  store.end_outage();
  EXPECT_TRUE(m.acquire());
}

TEST(memory_store, tokens_grow_over_a_failover_and_a_restart) {
  memory_store store("failover");
  auto c = client::open(store.url());
  auto m = c.mutex("x");
  store.snapshot();
  std::int64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto token = m.acquire().token();
    EXPECT_GT(token, last);
    last = token;
    if (i == 0) store.fail_over();
    if (i == 1) store.restart_empty();
    // Numbers count microseconds, of a clock that is read only every few milliseconds.
    const auto now = lease_clock::now();
    while (lease_clock::now() - now < 1ms) {}
  }
}

TEST(memory_store, a_wait_can_be_stopped_through_latency) {
  memory_store store("latency");
  auto a = client::open(store.url()), b = client::open(store.url());
  auto held = a.mutex("x").acquire();
  store.set_latency(5ms);
  auto m = b.mutex("x");
  EXPECT_FALSE(m.try_acquire_for(50ms));
  store.set_latency(-1ms);
  held.release();
  EXPECT_TRUE(m.try_acquire());
}

TEST(memory_store, a_client_whose_requests_are_resumed_requests_again_at_once) {
  testkit::manual_environment env;
  memory_store store("resumed");
  const auto open = [&] {
    return detail::client_access::open(url::parse(store.url() + "?ttl=1h"), {}, env);
  };
  const client one = open(), stopped = open();
  lease held = one.mutex("x").acquire();
  detail::local_lock& home =
      detail::client_access::impl(stopped).local_lock_for("x", lock_kind::mutex);
  cohort_tests::caller waiter;
  home.begin(waiter, detail::wait_bound::forever());
  store.stop_requests_of(stopped);
  held.unlock();
  EXPECT_FALSE(waiter.granted) << "it cannot be notified";
  store.resume_requests_of(stopped);
  ASSERT_TRUE(waiter.granted);
  home.unlock(*waiter.granted);
  home.drop_user();
}

struct silent_target final : base::alarm_target {
  void on_alarm(base::time_point) override {}
};

TEST(memory_store, reports_that_no_thread_can_be_started_for_its_clock) {
  testkit::manual_environment real;
  real.have_threads(false);
  memory::shifted_environment shifted(real);
  silent_target target;
  const auto alarm = shifted.make_alarm(target, "test");
  EXPECT_FALSE(alarm->set(shifted.now() + 1h));
  real.have_threads(true);
  EXPECT_TRUE(alarm->set(shifted.now() + 1h));
}

}  // namespace
}  // namespace holdfast
