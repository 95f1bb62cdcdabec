// Every async verb as a coroutine writes it: with and without options, without a token.
#include <gtest/gtest.h>
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/client_access.hpp"
#include "tests/unit/asio/coroutine_test.hpp"

namespace {

namespace asio = boost::asio;
namespace hf = holdfast;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using asio::as_tuple;
using asio::awaitable;
using asio::use_awaitable;
using error_code = boost::system::error_code;
using hf::errc;

class asio_verbs : public hf::coroutine_test {
 protected:
  hf::memory_store store_{"asio-verbs"};
  hf::client client_ = hf::client::open(store_.url());
};

const auto an_hour_from_now = [] { return std::chrono::steady_clock::now() + 1h; };

awaitable<void> each_verb(hf::client c) {
  const auto m = c.mutex("job");
  hf::lease l = co_await m.async_acquire();
  EXPECT_TRUE(l.held());
  co_await l.async_extend(60s);
  co_await l.async_release();
  EXPECT_FALSE(l);
  const hf::acquire_options o{.ttl = 10s, .note = "kept"};
  l = co_await m.async_acquire(o);
  co_await l.async_release();
  l = co_await m.async_try_acquire();
  const auto busy = co_await m.async_try_acquire(o);
  EXPECT_FALSE(busy);
  co_await l.async_release();
  l = co_await m.async_try_acquire_for(1h);
  EXPECT_TRUE(l);
  co_await l.async_release();
  l = co_await m.async_try_acquire_for(1h, {.ttl = 10s}, use_awaitable);
  co_await l.async_release();
  l = co_await m.async_try_acquire_until(an_hour_from_now());
  co_await l.async_release();
  l = co_await m.async_try_acquire_until(an_hour_from_now(), o);
  EXPECT_TRUE(l.held());
  l.unlock();
  const auto s = c.shared_mutex("shared");
  const auto one = co_await s.async_acquire_shared();
  const auto two = co_await s.async_try_acquire_shared(o);
  const auto three = co_await s.async_try_acquire_shared_for(1h);
  const auto four = co_await s.async_try_acquire_shared_until(an_hour_from_now(), o);
  EXPECT_TRUE(one.held() && two.held() && three.held() && four.held());
}

TEST_F(asio_verbs, need_neither_options_nor_a_token) {
  run([&] { return each_verb(client_); });
}

awaitable<void> several(hf::client c) {
  auto a = c.mutex("a");
  auto b = c.mutex("b", {.note = "of b"});
  const hf::multi_mutex both(a, b);
  hf::lease_set all = co_await both.async_acquire();
  EXPECT_EQ((co_await c.async_holders("b")).at(0).note, "of b");
  EXPECT_EQ((co_await c.async_diagnose()).at(0).what, "store");
  co_await all.async_extend(60s);
  co_await all.async_release();
  all = co_await both.async_try_acquire_until(an_hour_from_now(), {.ttl = 10s});
  co_await all.async_release();
  all = co_await c.async_acquire_all({"x", "y"});
  EXPECT_EQ(all.members().size(), 2u);
  const std::set<std::string> names{"x", "z"};
  EXPECT_FALSE(co_await c.async_try_acquire_all(names)) << "busy";
  EXPECT_FALSE(co_await c.async_try_acquire_all_for(names, 1ms, {.note = "n"}));
  co_await all.async_release();
  EXPECT_TRUE(co_await c.async_try_acquire_all_until(names, an_hour_from_now()));
  auto [code, none] = co_await c.async_acquire_all({"x", "x"}, as_tuple(use_awaitable));
  EXPECT_TRUE(code == errc::bad_option);
  EXPECT_FALSE(none);
  auto [bad_name, nothing] = co_await c.async_acquire_all({"\n"}, as_tuple(use_awaitable));
  EXPECT_TRUE(bad_name == errc::bad_name);
}

TEST_F(asio_verbs, take_several_locks) {
  run([&] { return several(client_); });
}

awaitable<void> ask(std::string url) {
  auto c = co_await hf::client::async_open(url);
  EXPECT_TRUE(c);
  std::string logged;
  hf::set_log_hook([](hf::log_level, std::string_view l,
                      void* to) { *static_cast<std::string*>(to) += l; },
                   &logged);
  auto [bad, none] = co_await hf::client::async_open("x:y:z", {}, as_tuple(use_awaitable));
  hf::set_log_hook(nullptr);
  EXPECT_TRUE(bad == errc::bad_url);
  EXPECT_FALSE(none);
  EXPECT_NE(logged.find("no backend for \"x:\""), std::string::npos) << logged;
  const auto lease = co_await c.mutex("job").async_acquire({.note = "mine"});
  EXPECT_EQ((co_await c.async_holders("job")).at(0).note, "mine");
  EXPECT_EQ((co_await c.async_list("")).size(), 1u);
  EXPECT_FALSE(co_await c.async_break_lock("job", "somebody else"));
  EXPECT_TRUE(co_await c.async_break_lock("job", lease.owner()));
  EXPECT_TRUE(co_await c.async_close());
  auto [closed, nobody] = co_await c.async_holders("job", as_tuple(use_awaitable));
  EXPECT_TRUE(closed == errc::closed);
}

TEST_F(asio_verbs, ask_a_client) {
  run([&] { return ask(store_.url()); });
}

TEST_F(asio_verbs, complete_with_a_clean_error_code) {
  auto check = [&](error_code code, auto&&...) {
    EXPECT_TRUE(code == error_code{});
    EXPECT_EQ(code.value(), 0);
  };
  auto on = [&](auto f) { return asio::bind_executor(context_, std::move(f)); };
  const auto m = client_.mutex("job");
  m.async_try_acquire(on([&](error_code code, hf::lease l) {
    check(code);
    EXPECT_TRUE(l);
    m.async_try_acquire(on([&](error_code busy, const hf::lease& none) {
      check(busy);
      EXPECT_FALSE(none);
    }));
  }));
  client_.async_acquire_all({"a", "b"}, on([&](error_code code, hf::lease_set all) {
                              check(code);
                              all.async_release(on(check));
                            }));
  client_.async_holders("job", on(check));
  context_.run_for(30s);
}

// `||` gives the work up as soon as the lease is lost.
awaitable<void> work(bool& ended) {
  asio::steady_timer forever(co_await asio::this_coro::executor, 1h);
  auto [code] = co_await forever.async_wait(as_tuple(use_awaitable));
  ended = code == asio::error::operation_aborted;
}

awaitable<void> until_lost(hf::client c, hf::memory_store store) {
  const auto lease = co_await c.mutex("job").async_acquire({.renew = hf::renewal::manual});
  const auto executor = co_await asio::this_coro::executor;  // apart: GCC 12 and lambdas
  asio::post(executor, [&store] { store.advance(1h); });
  bool ended = false;
  const auto which = co_await (work(ended) || lease.async_wait_lost());
  EXPECT_EQ(which.index(), 1u) << "the loss came first";
  EXPECT_TRUE(ended);
  EXPECT_FALSE(lease.held());
  co_await lease.async_wait_lost();  // at once
}

TEST_F(asio_verbs, work_ends_with_the_loss_of_its_lease) {
  run([&] { return until_lost(client_, store_); });
}

awaitable<void> done() { co_return; }

awaitable<void> until_done(hf::client c) {
  auto lease = co_await c.mutex("job").async_acquire();
  const auto which = co_await (done() || lease.async_wait_lost());
  EXPECT_EQ(which.index(), 0u) << "the wait was canceled";
  EXPECT_TRUE(lease.held());
  hf::lease empty;
  auto [code] = co_await empty.async_wait_lost(as_tuple(use_awaitable));
  EXPECT_TRUE(code == errc::not_held);
}

TEST_F(asio_verbs, a_wait_for_a_loss_ends_with_the_work) {
  run([&] { return until_done(client_); });
}

TEST_F(asio_verbs, a_wait_for_a_loss_ends_with_the_lease) {
  auto lease = client_.mutex("job").acquire();
  error_code told;
  lease.async_wait_lost(on_context([&](error_code code) { told = code; }));
  lease.release();
  context_.run_for(30s);
  EXPECT_TRUE(told == errc::not_held);
}

TEST_F(asio_verbs, a_canceled_wait_is_canceled_in_every_vocabulary) {
  const auto held = client_.mutex("job").acquire();
  asio::cancellation_signal stop;
  error_code told;
  const hf::lease_handler handler = [&](error_code code, const hf::lease&) { told = code; };
  client_.mutex("job").async_acquire(
      asio::bind_executor(context_, asio::bind_cancellation_slot(stop.slot(), handler)));
  asio::post(context_, [&] { stop.emit(asio::cancellation_type::all); });
  context_.run_for(30s);
  EXPECT_TRUE(told == errc::canceled);
  EXPECT_TRUE(told == hf::outcome::busy);
  EXPECT_TRUE(std::error_code(told) == std::errc::operation_canceled);
}

TEST_F(asio_verbs, a_canceled_wait_with_a_bound_is_busy_and_no_error) {
  const auto held = client_.mutex("job").acquire();
  asio::cancellation_signal stop;
  bool completed = false;
  const hf::lease_handler handler = [&](error_code code, const hf::lease& granted) {
    completed = true;
    EXPECT_FALSE(code);
    EXPECT_FALSE(granted);
  };
  client_.mutex("job").async_try_acquire_for(
      10min, asio::bind_executor(context_, asio::bind_cancellation_slot(stop.slot(), handler)));
  asio::post(context_, [&] { stop.emit(asio::cancellation_type::all); });
  context_.run_for(30s);
  EXPECT_TRUE(completed);
}

TEST_F(asio_verbs, the_close_of_a_client_is_the_loss_of_its_leases) {
  const auto lease = client_.mutex("job").acquire();
  bool completed = false;
  lease.async_wait_lost(on_context([&](error_code code) {
    completed = true;
    EXPECT_FALSE(code);
  }));
  asio::post(context_, [&] { client_.close(); });
  context_.run_for(30s);
  EXPECT_TRUE(completed);
  EXPECT_EQ(lease.status(), errc::closed);
}

TEST_F(asio_verbs, an_extension_by_hand_lasts_for_its_time) {
  auto lease = client_.mutex("job").acquire({.ttl = 10s, .renew = hf::renewal::manual});
  std::optional<error_code> why;
  lease.async_extend(1h, on_context([&](error_code code) { why = code; }));
  context_.run_for(30s);
  EXPECT_EQ(why, error_code());
  EXPECT_GT(lease.remaining(), 30min);
}

TEST_F(asio_verbs, an_extension_by_nothing_is_refused) {
  auto lease = client_.mutex("job").acquire();
  std::optional<error_code> why;
  lease.async_extend(0s, on_context([&](error_code code) { why = code; }));
  context_.run_for(30s);
  EXPECT_EQ(why, error_code(errc::bad_option));
}

TEST_F(asio_verbs, an_extension_that_its_release_overtakes_completes) {
  auto lease = client_.mutex("job").acquire();
  store_.begin_outage();
  bool completed = false;
  lease.async_extend(60s, on_context([&](error_code) { completed = true; }));
  lease.unlock();
  context_.run_for(30s);
  EXPECT_TRUE(completed);
  store_.end_outage();
}

TEST_F(asio_verbs, an_extension_keeps_the_client_no_longer_than_its_lease) {
  std::optional<hf::client> one = hf::client::open(store_.url());
  const std::weak_ptr<hf::detail::client_impl> kept = hf::detail::client_access::shared(*one);
  auto lease = one->mutex("job").acquire();
  one.reset();
  bool completed = false;
  lease.async_extend(60s, on_context([&](error_code) { completed = true; }));
  context_.run_for(30s);
  EXPECT_TRUE(completed);
  EXPECT_FALSE(kept.expired());
  EXPECT_TRUE(lease.held());
  lease.release();
  EXPECT_TRUE(kept.expired());
}

}  // namespace
