// Operations as holdfast/asio.hpp begins them, and the delivery of their answers.
#include <gtest/gtest.h>
#include <holdfast/detail/async.hpp>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <utility>

#include "testkit/fake_store.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/cohort/noting_store.hpp"

namespace holdfast {
namespace {

using cohort_tests::noting_store;

struct kept_answer final : detail::async_answer {
  bool takes = true;  // false: the context of its user has ended
  std::error_code code;
  lease taken;
  std::shared_ptr<void> end;

  bool answered(std::error_code c, lease& l, std::shared_ptr<void>& to_end) noexcept override {
    code = c;
    if (!takes) return false;
    taken = std::move(l);
    end = std::move(to_end);
    return true;
  }
};

class async_operations : public testing::Test {
 protected:
  // An operation keeps its answer.
  ~async_operations() override { answer->end.reset(); }

  // May be withdrawn as long as the result lives.
  detail::async_op begin_acquire(const mutex& m) {
    auto op = detail::acquire_of(m, lock_mode::exclusive, {{}, nullptr}, true, answer);
    detail::begin(op);
    return op;
  }

  testkit::manual_environment env;
  client c = noting_store::open(env);
  noting_store& store = noting_store::of(c);
  const std::shared_ptr<kept_answer> answer = std::make_shared<kept_answer>();
};

TEST_F(async_operations, give_their_lease_to_the_answer_and_need_no_thread_for_that) {
  const mutex m(c, "x");
  begin_acquire(m);
  EXPECT_TRUE(answer->taken.held());
  EXPECT_EQ(env.run_jobs(), 0u);
}

TEST_F(async_operations, release_on_a_thread_of_its_own_a_lease_that_is_not_taken) {
  answer->takes = false;
  const mutex m(c, "x");
  begin_acquire(m);
  EXPECT_EQ(store.news(), "acquire") << "not on the thread that dispatches the answer";
  EXPECT_EQ(env.run_jobs(), 1u);
  EXPECT_EQ(store.news(), "release");
}

TEST_F(async_operations, keep_their_lock_as_long_as_they_may_be_withdrawn) {
  detail::async_op op = begin_acquire(mutex(c, "x"));
  answer->taken.unlock();
  answer->end.reset();
  ASSERT_EQ(store.claims, 1);
  detail::withdraw(*op);
  op.reset();
  EXPECT_EQ(store.claims, 0);
}

TEST_F(async_operations, release_a_lock_with_the_last_of_its_leases) {
  const recursive_mutex m(c, "x");
  lease held = m.acquire(), again = m.reacquire(held);
  detail::begin_release(again, answer);
  EXPECT_FALSE(answer->code);
  EXPECT_EQ(store.news(), "acquire");
  detail::begin_release(held, answer);
  EXPECT_EQ(store.news(), "release");
}

TEST_F(async_operations, have_their_requests_sent_when_the_client_is_flushed) {
  const int before = store.flushes;
  detail::flush_client(*detail::client_of(c));
  EXPECT_EQ(store.flushes, before + 1);
}

TEST_F(async_operations, report_at_the_release_that_a_lease_was_lost_before) {
  const client of_session = testkit::fake_store::open(seam::lifetime::session, env);
  lease held = of_session.mutex("x").acquire();
  env.freeze(testkit::fake_store::session_timeout);
  detail::begin_release(held, answer);
  EXPECT_EQ(answer->code, errc::lost);
}

}  // namespace
}  // namespace holdfast
