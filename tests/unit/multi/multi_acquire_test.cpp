// The steps of acquiring several locks of two clients, one by one, with a clock that the test
// moves.
#include "multi/multi_acquire.hpp"

#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <string>
#include <vector>

#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::detail {
namespace {

using namespace std::chrono_literals;

class stepwise final : public multi_acquire {
 public:
  using multi_acquire::multi_acquire;
  int answers = 0;

 private:
  void step_answered() noexcept override { ++answers; }
};

class steps_of_several : public testing::Test {
 protected:
  ~steps_of_several() override {
    a.drop_user();
    b.drop_user();
  }
  client open() { return client_access::open(url::parse(store.url() + "?ttl=10s"), {}, env); }
  std::vector<multi_acquire::asked> both() {
    const acquire_options by_hand{.renew = renewal::manual};
    return {{&b, by_hand}, {&a, by_hand}};
  }
  lease busy(std::string_view name) const {
    return other.mutex(name).acquire({.ttl = 1h, .renew = renewal::manual});
  }
  bool is_free(std::string_view name) const {
    return static_cast<bool>(other.mutex(name).try_acquire());
  }

  testkit::manual_environment env;
  memory_store store{"steps of several"};
  const client one = open(), two = open(), other = open();
  local_lock& a = client_access::impl(one).local_lock_for("a", lock_kind::mutex);
  local_lock& b = client_access::impl(two).local_lock_for("b", lock_kind::mutex);
};

TEST_F(steps_of_several, end_with_the_turns_in_the_order_given) {
  stepwise s(both(), wait_bound::forever());
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(s.answers, 1);
  EXPECT_FALSE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(s.answers, 2);
  EXPECT_TRUE(s.advance());
  EXPECT_FALSE(s.why().code);
  const std::vector<turn*> turns = s.take();
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(&turns[0]->home, &b);
  EXPECT_EQ(&turns[1]->home, &a);
  for (turn* const t : turns) t->home.unlock(*t);
  EXPECT_TRUE(is_free("a"));
}

TEST_F(steps_of_several, that_are_not_taken_are_released) {
  {
    stepwise s(both(), wait_bound::forever());
    EXPECT_FALSE(s.advance());
    EXPECT_FALSE(s.advance());
    EXPECT_TRUE(s.advance());
    EXPECT_FALSE(is_free("b"));
  }
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(steps_of_several, release_all_when_one_lock_is_busy) {
  const lease held = busy("b");
  stepwise s(both(), wait_bound::one_attempt());
  EXPECT_FALSE(s.advance());
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(s.answers, 2);
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::timed_out);
  EXPECT_EQ(&s.at(), &b);
  EXPECT_TRUE(s.take().empty());
  EXPECT_TRUE(is_free("a"));
}

TEST_F(steps_of_several, of_one_attempt_end_when_a_lock_is_lost_meanwhile) {
  stepwise s(both(), wait_bound::one_attempt());
  EXPECT_FALSE(s.advance());
  env.advance(10s);
  EXPECT_FALSE(s.advance());
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::timed_out);
  EXPECT_TRUE(s.take().empty());
  EXPECT_TRUE(is_free("b"));
}

TEST_F(steps_of_several, begin_again_twice_when_a_lock_is_lost_meanwhile) {
  stepwise s(both(), wait_bound::forever());
  EXPECT_FALSE(s.advance());
  for (int round = 1; round <= 3; ++round) {
    lease held = busy("b");
    EXPECT_FALSE(s.advance());
    env.advance(10s);
    held.unlock();
    EXPECT_EQ(s.advance(), round == 3) << round;
  }
  EXPECT_EQ(s.why().code, errc::lost);
  EXPECT_EQ(s.why().text, "one lock was lost while the others were acquired; raise the ttl");
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(steps_of_several, have_one_time_bound_from_the_first_on) {
  const lease held = busy("b");
  stepwise s(both(), wait_bound::within(5s));
  EXPECT_FALSE(s.advance());
  env.advance(3s);
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(s.answers, 1);
  env.advance(2s - 1ms);
  EXPECT_EQ(s.answers, 1);
  env.advance(1ms);
  EXPECT_EQ(s.answers, 2);
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::timed_out);
}

TEST_F(steps_of_several, end_when_they_are_withdrawn) {
  const lease held = busy("b");
  stepwise s(both(), wait_bound::forever());
  EXPECT_FALSE(s.advance());
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(s.answers, 1);
  s.withdraw();
  EXPECT_EQ(s.answers, 2);
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::canceled);
  EXPECT_TRUE(is_free("a"));
}

TEST_F(steps_of_several, that_were_withdrawn_before_wait_for_nothing) {
  const lease held = busy("b");
  stepwise s(both(), wait_bound::forever());
  EXPECT_FALSE(s.advance());
  s.withdraw();
  EXPECT_FALSE(s.advance());
  EXPECT_EQ(s.answers, 2);
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.why().code, errc::canceled);
}

TEST_F(steps_of_several, begin_with_none_when_an_option_is_wrong) {
  auto wrong = both();
  wrong[0].second.permits = 2;
  stepwise s(wrong, wait_bound::forever());
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(s.answers, 0);
  EXPECT_EQ(s.why().code, errc::bad_option);
  EXPECT_EQ(&s.at(), &b);
  EXPECT_TRUE(is_free("a"));
}

TEST_F(steps_of_several, report_the_first_of_several_faults) {
  auto wrong = both();
  for (auto& [home, options] : wrong) options.permits = 2;
  stepwise s(wrong, wait_bound::forever());
  EXPECT_TRUE(s.advance());
  EXPECT_EQ(&s.at(), &a) << "in the order of their names";
}

TEST_F(steps_of_several, end_in_the_child_of_a_fork) {
  stepwise s(both(), wait_bound::forever());
  EXPECT_FALSE(s.advance());
  EXPECT_TRUE(unit_tests::is_true_in_a_child(
      [&] { return s.advance() && s.why().code == errc::forked && s.take().empty(); }));
  EXPECT_FALSE(is_free("a")) << "the parent goes on";
}

}  // namespace
}  // namespace holdfast::detail
