#include <algorithm>
#include <future>
#include <thread>

#include "base/url_parts.hpp"
#include "io/real_environment.hpp"
#include "tests/unit/backend/memory/contender.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::memory {
namespace {

using memory_backend = memory_case;

TEST_F(memory_backend, inspect_shows_the_holder_and_the_number_of_waiters) {
  contender a(s, env, "b"), b(s, env, "b"), c(s, env, "a");
  a.acquire(10s, "the note");
  b.acquire();
  c.acquire();
  env.advance(1s);
  const auto all = inspect(c);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[1].note, "the note");
  EXPECT_EQ(all[1].held_for, 1s);
  EXPECT_EQ(all[1].expires_in, 9s);
  EXPECT_EQ(all[1].waiting, 1);
  EXPECT_EQ(all[1].token / 1024, a.heard.grant.number);
  holders some;
  a.store->inspect("b", some);
  EXPECT_EQ(some.list.size(), 1u);
}

TEST_F(memory_backend, the_note_of_a_holder_is_not_that_of_the_next) {
  contender a(s, env), b(s, env);
  a.acquire(10s, "the note");
  b.acquire();
  a.release();
  EXPECT_EQ(b.heard.news(), "g");
  EXPECT_EQ(inspect(b).at(0).note, "");
}

TEST_F(memory_backend, a_broken_lock_goes_to_the_next_and_its_holder_learns_at_its_renewal) {
  contender a(s, env), b(s, env);
  a.acquire();
  b.acquire();
  const std::string owner = inspect(a).at(0).owner;
  judgement j;
  b.store->break_lock("x", owner, j);
  EXPECT_EQ(j.answers, 1);
  EXPECT_TRUE(j.was);
  EXPECT_EQ(b.heard.news(), "g");
  a.claim->renew(10s, 1);
  EXPECT_EQ(a.heard.news(), "gwl");
  for (const std::string_view stale : {std::string_view(owner), std::string_view("nonsense")}) {
    judgement again;
    b.store->break_lock("x", stale, again);
    EXPECT_EQ(again.answers, 1);
    EXPECT_FALSE(again.was);
  }
  a.release();
}

TEST_F(memory_backend, inspect_fails_at_the_op_timeout_in_an_outage) {
  contender a(s, env);
  outage(true);
  holders h;
  judgement j;
  a.store->inspect({}, h);
  a.store->break_lock("x", std::string(32, 'a'), j);
  env.advance(3s);
  EXPECT_EQ(h.answers + j.answers, 0);
  env.advance(1s);
  EXPECT_EQ(h.answers, 1);
  EXPECT_EQ(h.failure.code, errc::unavailable);
  EXPECT_EQ(j.answers, 1);
  EXPECT_EQ(j.failure.code, errc::outcome_unknown);
}

TEST_F(memory_backend, inspect_survives_a_lost_message) {
  contender a(s, env);
  a.acquire();
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  holders h;
  a.store->inspect({}, h);
  env.advance(3s);
  EXPECT_EQ(h.list.size(), 1u);
}

TEST_F(memory_backend, names_that_come_and_go_leave_nothing_behind) {
  contender a(s, env);
  for (int i = 0; i < 1000; ++i) {
    contender p(s, env, "name" + std::to_string(i));
    p.acquire(1s);
    if (i % 2) p.release();
    env.advance(10ms);
  }
  EXPECT_LT(entries(), 300u);
  env.advance(2s);
  for (int i = 0; i < 400; ++i) contender(s, env, "other" + std::to_string(i));
  EXPECT_LT(entries(), 300u);
}

TEST_F(memory_backend, close_answers_what_is_open_by_its_time_and_refuses_what_comes_after) {
  contender a(s, env), b(s, env);
  a.acquire();
  b.acquire();
  b.store->close(env.now());
  EXPECT_EQ(b.heard.news(), "r");
  EXPECT_EQ(b.heard.failure.code, errc::closed);
  b.acquire();
  EXPECT_EQ(b.heard.news(), "r");
  EXPECT_EQ(b.heard.failure.code, errc::closed);
}

TEST_F(memory_backend, close_reports_a_release_that_was_not_answered) {
  contender a(s, env);
  a.acquire();
  outage(true);
  a.release();
  a.store->close(env.now());
  EXPECT_EQ(a.heard.news(), "ge");
  EXPECT_EQ(a.heard.failure.code, errc::outcome_unknown);
}

// Whether the close was clean; it has an hour of the test's clock.
bool close_in_an_hour(contender& c, testkit::manual_environment& env) {
  auto closing = std::async(std::launch::async, [&] { return c.store->close(env.now() + 1h); });
  while (closing.wait_for(1ms) != std::future_status::ready) env.advance(10ms);
  return closing.get();
}

TEST_F(memory_backend, close_waits_for_an_answer_that_comes_in_time) {
  contender a(s, env), b(s, env);
  a.acquire();
  latency(50ms);
  a.release();
  EXPECT_TRUE(close_in_an_hour(a, env));
  EXPECT_EQ(a.heard.news(), "ge");
  EXPECT_FALSE(a.heard.failure.code);
  holders h;
  b.store->inspect({}, h);
  EXPECT_TRUE(close_in_an_hour(b, env));
  EXPECT_EQ(h.answers, 1);
  EXPECT_FALSE(h.failure.code) << h.failure.text;
}

TEST_F(memory_backend, close_by_a_handler_waits_for_no_other_claim) {
  contender holder(s, env), a(s, env, "another");
  note_taker waiting;
  const auto waiter = a.store->open("x", waiting);
  holder.acquire();
  waiter->acquire({.ttl = 10s});
  a.heard.also = [&](char) { a.store->close(env.now() + 1h); };
  a.acquire();
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(waiting.news(), "r");
  EXPECT_EQ(waiting.failure.code, errc::closed);
  a.heard.also = [](char) {};
}

TEST_F(memory_backend, close_in_the_child_of_a_fork_confirms_nothing) {
  const contender a(s, env);
  EXPECT_TRUE(unit_tests::is_true_in_a_child([&] {
    a.store->forked();
    return !a.store->close(base::never);
  }));
}

TEST_F(memory_backend, each_option_of_its_own_is_read_and_others_are_refused) {
  const auto opened = [&](const char* text, std::string_view password = {}) {
    const url u = url::parse(text);
    std::vector<url::option> rest;
    const seam::client_options shared = seam::read_client_options(u, rest);
    return open({u, shared, rest, password, env});
  };
  auto b = opened("memory:?latency=100ms&lose-requests=0.5&lose-replies=1&seed=7&stop-after=1h");
  b.connection->close(env.now());
  for (const char* bad :
       {"memory:?nonsense=1", "memory:?lose-requests=2", "memory:?latency=x", "memory:?seed=-1"})
    EXPECT_THROW(opened(bad).connection->close(env.now()), lock_error) << bad;
  EXPECT_THROW(opened("memory://host/x").connection->close(env.now()), lock_error);
  EXPECT_THROW(opened("memory:x", "secret").connection->close(env.now()), lock_error);
}

TEST_F(memory_backend, clients_of_one_name_share_a_store_and_private_ones_do_not) {
  const auto opened = [&](const char* text) {
    const url u = url::parse(text);
    std::vector<url::option> rest;
    const seam::client_options shared = seam::read_client_options(u, rest);
    return open({u, shared, rest, {}, env});
  };
  for (const auto& [url, verdict] : {std::pair{"memory:shared", "r"}, std::pair{"memory:", "g"}}) {
    auto one = opened(url), two = opened(url);
    note_taker first, second;
    auto held = one.stores.first().open("x", first);
    auto other = two.stores.first().open("x", second);
    held->acquire({.ttl = 10s});
    other->acquire({.one_attempt = true, .ttl = 10s});
    EXPECT_EQ(second.news(), verdict) << url;
    if (second.told.empty() && *verdict == 'g') other->release(nullptr);
    held->release(nullptr);
    held.reset();
    other.reset();
    one.connection->close(env.now());
    two.connection->close(env.now());
  }
}

// Real threads and clocks: at no time may two be inside, and nobody waits forever.
TEST_F(memory_backend, excludes_across_threads_through_lost_messages_and_cancels) {
  auto store = std::make_shared<server>();
  auto& real = io::real_environment();
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      contender p(store, real, "x", {.op_timeout = 200ms, .clock_skew = 0s});
      if (t % 2) {
        fault_plan w;
        w.random_state = t;
        w.lose_requests = 0.02;
        w.lose_replies = 0.02;
        const std::lock_guard guard(store->mutex);
        p.store->over().set_faults(w);
      }
      std::atomic<int> heard{0};
      p.heard.also = [&](char c) {
        if (c == 'w') return;
        heard = c;
        heard.notify_all();
      };
      const auto answer = [&] {
        heard.wait(0);
        return heard.exchange(0);
      };
      for (int i = 0; i < 150; ++i) {
        p.acquire(20s);
        if (i % 7 == 6) p.claim->cancel();
        if (answer() != 'g') continue;
        if (inside.fetch_add(1) != 0) overlapped = true;
        std::this_thread::yield();
        inside.fetch_sub(1);
        p.release();
        EXPECT_EQ(answer(), 'e');
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_FALSE(overlapped);
}

}  // namespace
}  // namespace holdfast::memory
