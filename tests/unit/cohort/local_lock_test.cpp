// The thread that carries out the effects of a cohort: in which order the claims of a lock get
// their verbs, and when the lock is forgotten.
#include "cohort/local_lock.hpp"

#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <thread>

#include "cohort/checked_request.hpp"
#include "testkit/fake_store.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"
#include "tests/unit/cohort/noting_store.hpp"
#include "tests/unit/history/recording_fixture.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::cohort_tests {
namespace {

using detail::local_lock;
using detail::wait_bound;

class verbs_of_a_lock : public ::testing::Test {
 protected:
  ~verbs_of_a_lock() override { home.drop_user(); }
  void begin(caller& w) { home.begin(w, wait_bound::forever()); }
  // Withdraws a caller that got no turn.
  void withdraw(caller& w) {
    home.withdraw(w);
    EXPECT_EQ(w.why.code, errc::canceled);
    home.drop_user();
  }

  watched_environment env;
  client c = noting_store::open(env, "turns=1&close-timeout=10s");
  noting_store& store = noting_store::of(c);
  local_lock& home = client_access::impl(c).local_lock_for("x", lock_kind::shared_mutex);
};

struct leaving_caller final : caller {
  local_lock* from = nullptr;
  void complete() noexcept override {
    if (granted) from->unlock(*granted);
  }
};

struct queueing_caller final : caller {
  local_lock* at = nullptr;
  caller* next = nullptr;
  void complete() noexcept override { at->begin(*next, wait_bound::forever()); }
};

TEST_F(verbs_of_a_lock, are_one_for_a_release_and_the_request_that_awaits_it) {
  reading_caller reader;
  caller writer;
  begin(reader);
  EXPECT_EQ(store.news(), "acquire check");
  begin(writer);
  home.unlock(*reader.granted);
  EXPECT_EQ(store.news(), "release+ acquire");
  ASSERT_TRUE(writer.granted);
  home.unlock(*writer.granted);
  EXPECT_EQ(store.news(), "release");
}

TEST_F(verbs_of_a_lock, go_on_with_a_request_after_a_withdrawal_that_is_answered_at_once) {
  store.grants = false;
  caller writer;
  reading_caller reader;
  begin(writer);
  begin(reader);
  withdraw(writer);
  EXPECT_EQ(store.news(), "acquire cancel acquire") << "the reader is the next one";
  withdraw(reader);
}

TEST_F(verbs_of_a_lock, are_run_one_after_the_other_also_when_the_first_is_answered_at_once) {
  store.shows_waiters = true;
  caller a;
  leaving_caller b;
  b.from = &home;
  begin(a);
  begin(b);
  store.news();
  env.real.freeze(16s);  // too little is left for the next turn
  home.unlock(*a.granted);
  EXPECT_EQ(store.news(), "check renew renewed release");
}

TEST_F(verbs_of_a_lock, leave_no_claim_of_a_lock_that_has_no_user_any_more) {
  {
    const mutex m(c, "another");
    m.acquire().unlock();
    EXPECT_EQ(store.claims, 1);
  }
  EXPECT_EQ(store.claims, 0);
}

TEST_F(verbs_of_a_lock, leave_no_claim_of_a_lock_whose_users_came_from_inside_an_answer) {
  local_lock& another = client_access::impl(c).local_lock_for("another", lock_kind::mutex);
  caller b;
  queueing_caller a;
  a.at = &another;
  a.next = &b;
  another.begin(a, wait_bound::forever());
  ASSERT_TRUE(a.granted);
  another.unlock(*a.granted);
  ASSERT_TRUE(b.granted);
  another.unlock(*b.granted);
  EXPECT_EQ(store.claims, 1);
  another.drop_user();
  EXPECT_EQ(store.claims, 0);
}

TEST_F(verbs_of_a_lock, are_not_awaited_by_a_close_from_inside_one) {
  store.end = {errc::outcome_unknown, "no reply"};
  c.mutex("left behind").acquire().unlock();
  lease held = c.mutex("another").acquire();
  base::duration waited{};
  bool is_clean = true;
  store.on_renewal = [&] {
    const time_point began = env.real.now();
    env.on_now = [&] { env.real.freeze(1s); };
    is_clean = c.close();
    env.on_now = [] {};
    waited = env.real.now() - began;
  };
  env.real.advance(10s);
  EXPECT_LT(waited, 10s) << "the verb would wait for itself";
  EXPECT_FALSE(is_clean) << "a release is left that the store has not confirmed";
  EXPECT_EQ(held.status(), errc::closed);
}

TEST_F(verbs_of_a_lock, are_settled_by_a_close_that_leaves_nothing_behind) {
  store.end = {errc::outcome_unknown, "no reply"};
  c.mutex("another").acquire().unlock();
  EXPECT_TRUE(c.close()) << "the store has confirmed it since";
}

TEST_F(verbs_of_a_lock, are_not_begun_by_a_close_in_the_child_of_a_fork) {
  const lease held = c.mutex("another").acquire();
  store.news();
  EXPECT_TRUE(unit_tests::is_true_in_a_child([&] { return c.close() && store.news().empty(); }));
  EXPECT_TRUE(held.held());
}

TEST_F(verbs_of_a_lock, request_no_waiters_of_a_grant_that_is_released_already) {
  leaving_caller reader;
  reader.request.mode = lock_mode::shared;
  reader.from = &home;
  begin(reader);
  EXPECT_EQ(store.news(), "acquire release");
}

// The thread of the timers finds that the lock lingers while another thread runs a verb.
TEST(a_lock_that_lingers, is_not_polled_while_a_verb_of_its_claim_runs) {
  static constexpr seam::scheme schemes[] = {
      {"polled",
       [](const seam::open_args& how) {
         return seam::backend_of(
             std::make_unique<noting_store>(how.env, 7u, seam::contention_signal::poll));
       },
       ""}};
  watched_environment env;
  const client c = client_access::open(url::parse("polled:?linger=10s"), {}, env, {}, schemes);
  noting_store& store = noting_store::of(c);
  store.on_check = [&] {
    std::thread([&] { env.real.advance(holdfast::cohort::polled_every); }).join();
  };
  c.mutex("x").acquire().unlock();
  EXPECT_EQ(store.news(), "acquire check");
  env.real.advance(holdfast::cohort::polled_every);
  EXPECT_EQ(store.news(), "poll");
}

// Kinds of locks that are kept in two stores do not exclude each other there.
TEST(a_client_of_two_stores, has_one_kind_of_lock_of_each_name) {
  static constexpr seam::scheme schemes[] = {
      {"two",
       [](const seam::open_args& how) {
         auto first = std::make_unique<noting_store>(how.env, seam::bit_of(lock_mode::exclusive));
         first->other = std::make_unique<noting_store>(how.env);
         seam::backend out;
         out.stores.add(*first);
         out.stores.add(*first->other);
         out.connection = std::move(first);
         return out;
       },
       ""}};
  testkit::manual_environment env;
  const client c = client_access::open(url::parse("two:"), {}, env, {}, schemes);
  {
    const mutex used = c.mutex("x");
    EXPECT_EQ(testkit::thrown_by([&] { (void)c.shared_mutex("x"); }), errc::mismatch);
    EXPECT_NO_THROW((void)c.shared_mutex("y"));
  }
  EXPECT_NO_THROW((void)c.shared_mutex("x"));
}

TEST(recorder_of_a_client, is_not_started_where_no_other_process_has_the_locks) {
  watched_environment env;
  const client c = client_access::open(url::parse("memory:"), {}, env);
  const mutex a(c, "a");
  EXPECT_EQ(env.recordings, 0);
}

TEST(recorder_of_a_client, is_started_with_its_first_lock_unless_it_is_switched_off) {
  for (const auto& [options, recordings] : {std::pair("", 1), std::pair("recorder=0", 0)}) {
    watched_environment env;
    const client c = noting_store::open(env, options);
    EXPECT_EQ(env.recordings, 0);
    const mutex a(c, "a"), b(c, "b");
    EXPECT_EQ(env.recordings, recordings) << options;
  }
}

class recorded_environment final : public watched_environment {
 public:
  std::unique_ptr<base::recording> make_recording(const base::recording_terms&,
                                                  base::failure&) override {
    auto made = std::make_unique<history::recording_in_memory>();
    recording = made.get();
    return made;
  }
  history::recording_in_memory* recording = nullptr;
};

TEST(recorder_of_a_client, has_the_wait_of_a_thread_for_a_store_that_does_not_answer_at_once) {
  recorded_environment env;
  const client c = noting_store::open(env);
  noting_store::of(c).grants = false;
  local_lock& home = client_access::impl(c).local_lock_for("x", lock_kind::mutex);
  detail::checked_request asked;
  EXPECT_FALSE(asked.read(lock_mode::exclusive, {}, home).code);
  std::stop_source stop;
  stop.request_stop();
  base::failure why;
  EXPECT_FALSE(home.acquire(asked, wait_bound::forever(), stop.get_token(), why));
  const auto events = env.recording->read(INT64_MAX / 2).events;
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().what(), base::recorded_event::kind::asked);
}

TEST(metrics_of_a_client, measure_a_wait_also_where_the_store_does_not_date_its_grants) {
  testkit::manual_environment env;
  const client c = testkit::fake_store::open(seam::lifetime::process, env, "metrics=1");
  local_lock& home = client_access::impl(c).local_lock_for("x", lock_kind::mutex);
  lease held = c.mutex("another").acquire();  // the store takes all names for one lock
  caller a;
  home.begin(a, wait_bound::forever());
  env.advance(5s);
  held.unlock();
  ASSERT_TRUE(a.granted);
  EXPECT_EQ(c.metrics().waits.exclusive.sum, 5s);
  home.unlock(*a.granted);
  home.drop_user();
}

}  // namespace
}  // namespace holdfast::cohort_tests
