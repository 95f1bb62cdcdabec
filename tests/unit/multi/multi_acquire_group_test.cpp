// Several locks of a store that can grant them all in one step.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <vector>

#include "multi/multi_acquire.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"
#include "tests/unit/cohort/noting_store.hpp"

namespace holdfast::detail {
namespace {

using namespace std::chrono_literals;
using cohort_tests::caller;
using cohort_tests::noting_store;

class steps_of_a_group final : public multi_acquire {
 public:
  using multi_acquire::multi_acquire;
  int answers = 0;

 private:
  void step_answered() noexcept override { ++answers; }
};

class locks_of_one_store : public testing::Test {
 protected:
  locks_of_one_store() { store.grants_groups = true; }
  ~locks_of_one_store() override {
    a.drop_user();
    b.drop_user();
  }
  std::vector<multi_acquire::asked> both() { return {{&a, {}}, {&b, {}}}; }

  cohort_tests::watched_environment env;
  const client c = noting_store::open(env);
  noting_store& store = noting_store::of(c);
  local_lock& a = client_access::impl(c).local_lock_for("a", lock_kind::mutex);
  local_lock& b = client_access::impl(c).local_lock_for("b", lock_kind::mutex);
};

TEST_F(locks_of_one_store, are_requested_in_one_step) {
  steps_of_a_group s(both(), wait_bound::forever());
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(store.news(), "acquire-in-group acquire-in-group");
  EXPECT_EQ(s.answers, 1);
  EXPECT_TRUE(s.advance());
  for (turn* const t : s.take()) t->home.unlock(*t);
}

TEST_F(locks_of_one_store, are_no_group_when_there_is_only_one) {
  const std::vector<multi_acquire::asked> one{{&a, {}}};
  steps_of_a_group s(one, wait_bound::forever());
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(store.news(), "acquire");
  EXPECT_TRUE(s.advance());
  for (turn* const t : s.take()) t->home.unlock(*t);
}

TEST_F(locks_of_one_store, are_not_requested_in_one_step_when_this_client_holds_one_of_them) {
  caller holder;
  a.begin(holder, wait_bound::forever());
  store.news();
  steps_of_a_group s(both(), wait_bound::one_attempt());
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(store.news(), "") << "the store would wait for the request of the other one";
  EXPECT_EQ(s.answers, 1);
  EXPECT_FALSE(s.advance());
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::timed_out);
  EXPECT_EQ(&s.at(), &a);
  a.unlock(*holder.granted);
}

TEST_F(locks_of_one_store, do_not_await_a_group_of_which_a_member_was_refused_meanwhile) {
  store.grants = false;
  steps_of_a_group s(both(), wait_bound::within(5s));
  bool is_refused = false;
  env.on_now = [&] {  // before the second request
    if (is_refused || store.requests.empty()) return;
    is_refused = true;
    store.refuse_first({errc::refused, "not here"});
  };
  EXPECT_FALSE(s.advance());
  env.on_now = [] {};
  EXPECT_TRUE(is_refused);
  EXPECT_EQ(s.answers, 1);
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::refused);
  EXPECT_EQ(&s.at(), &a);
}

}  // namespace
}  // namespace holdfast::detail
