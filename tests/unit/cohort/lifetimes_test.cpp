// The lifetimes of grants: a ttl, a session, a connection, or the process. Whole clients on a
// store without a server.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/fake_store.hpp"
#include "testkit/manual_environment.hpp"
#include "testkit/thrown_by.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using seam::lifetime;
using testkit::fake_store;
using testkit::thrown_by;

constexpr auto session_timeout = fake_store::session_timeout;

class lifetimes : public ::testing::Test {
 protected:
  client open(lifetime life, std::string_view options = {}) {
    return fake_store::open(life, env, options);
  }
  // The session stays confirmed: a heartbeat each third of its timeout.
  void pass_confirmed(const client& c, base::duration d) {
    for (const auto end = env.now() + d; env.now() < end;) {
      env.advance(std::min<base::duration>(session_timeout / 3, end - env.now()));
      fake_store::of(c).confirm();
    }
  }
  testkit::manual_environment env;
};

// Session and connection lifetimes are the same to the core.
class kept_by_the_backend : public lifetimes, public ::testing::WithParamInterface<lifetime> {};

std::string name_of(const ::testing::TestParamInfo<lifetime>& p) {
  return p.param == lifetime::session ? "session" : "connection";
}
INSTANTIATE_TEST_SUITE_P(lifetimes, kept_by_the_backend,
                         ::testing::Values(lifetime::session, lifetime::connection), name_of);

TEST_P(kept_by_the_backend, a_lease_has_the_deadline_of_the_session_and_the_core_renews_nothing) {
  const client c = open(GetParam());
  mutex m(c, "x");
  const lease held = m.acquire({.ttl = 1h});
  EXPECT_EQ(held.expires(), fake_store::of(c).deadline());
  pass_confirmed(c, 10 * session_timeout);
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.expires(), fake_store::of(c).deadline());
  EXPECT_EQ(fake_store::of(c).renewals(), 0);
}

TEST_P(kept_by_the_backend, the_smallest_ttl_renews_nothing_either) {
  const client c = open(GetParam(), "ttl=100ms");
  mutex m(c, "x");
  const lease held = m.acquire();
  pass_confirmed(c, 2 * session_timeout);
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(held.doubt_token().stop_requested());
  EXPECT_EQ(fake_store::of(c).renewals(), 0);
}

TEST_P(kept_by_the_backend, notices_follow_the_time_out_of_the_session_and_not_the_ttl) {
  const client c = open(GetParam());
  mutex m(c, "x");
  const lease held = m.acquire({.ttl = 1h});
  const auto doubt = held.doubt_token();
  env.advance(session_timeout * 8 / 10);
  EXPECT_FALSE(doubt.stop_requested());  // a tenth of the ttl would be six minutes
  env.advance(session_timeout / 10);
  EXPECT_TRUE(doubt.stop_requested());
  EXPECT_TRUE(held.held());
}

TEST_P(kept_by_the_backend, the_log_says_what_was_not_confirmed) {
  std::vector<std::string> lines;
  set_log_hook([](log_level, std::string_view line,
                  void* to) { static_cast<std::vector<std::string>*>(to)->emplace_back(line); },
               &lines);
  const client c = open(GetParam());
  mutex m(c, "x");
  const lease held = m.acquire();
  env.advance(session_timeout);
  set_log_hook(nullptr);
  const std::string kept = GetParam() == lifetime::session ? "session" : "connection";
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("it may soon be lost: the " + kept + " was not confirmed in time"),
            std::string::npos)
      << lines[0];
  EXPECT_NE(lines[1].find("it expired, because the " + kept + " was not confirmed in time"),
            std::string::npos)
      << lines[1];
}

TEST_P(kept_by_the_backend, each_holder_of_a_grant_is_told_that_somebody_asks_for_the_lock) {
  const client c = open(GetParam());
  shared_mutex m(c, "x");
  const lease one = m.acquire_shared(), two = m.acquire_shared();
  const auto told = one.revocation_token();
  EXPECT_FALSE(told.stop_requested());
  fake_store::of(c).request_revocation();
  env.advance({});
  EXPECT_TRUE(told.stop_requested());
  EXPECT_TRUE(two.revocation_token().stop_requested());  // also who looks later
  EXPECT_TRUE(one.held() && two.held());
  EXPECT_FALSE(lease().revocation_token().stop_requested());
}

TEST_P(kept_by_the_backend, what_somebody_asked_for_is_given_back_before_it_is_granted_again) {
  const client c = open(GetParam(), "linger=1h");
  mutex m(c, "x");
  {
    const lease held = m.acquire();
    fake_store::of(c).request_revocation();
    env.advance({});
  }
  const lease next = m.acquire();  // nothing lingered
  EXPECT_GE(next.token(), 2 * cohort::turns_per_grant);
  EXPECT_FALSE(next.revocation_token().stop_requested());
}

TEST_P(kept_by_the_backend, a_lease_without_confirmation_is_lost_and_a_late_one_revives_nothing) {
  const client c = open(GetParam());
  mutex m(c, "x");
  const lease held = m.acquire();
  const auto loss = held.loss_token();
  env.advance(session_timeout);
  EXPECT_TRUE(loss.stop_requested());
  fake_store::of(c).confirm();
  env.advance(0s);
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.status(), errc::lost);
}

TEST_P(kept_by_the_backend, the_end_that_the_backend_reports_is_a_loss_at_once) {
  const client c = open(GetParam());
  mutex m(c, "x");
  const lease held = m.acquire();
  const auto loss = held.loss_token();
  fake_store::of(c).end();
  env.advance(0s);
  EXPECT_TRUE(loss.stop_requested());
  EXPECT_EQ(held.status(), errc::lost);
}

TEST_P(kept_by_the_backend, a_deadline_may_move_back) {
  const client c = open(GetParam());
  mutex m(c, "x");
  const lease held = m.acquire();
  const auto loss = held.loss_token();
  fake_store::of(c).confirm_until(env.now() + 2s);
  EXPECT_EQ(held.expires(), env.now() + 2s);
  env.advance(2s);
  EXPECT_TRUE(loss.stop_requested());
}

TEST_P(kept_by_the_backend, each_holder_is_notified_once_of_a_doubt_until_it_is_taken_back) {
  const client c = open(GetParam(), "metrics=1");
  shared_mutex m(c, "x");
  const lease one = m.acquire_shared(), other = m.acquire_shared();
  const auto first = one.doubt_token(), second = other.doubt_token();
  fake_store::of(c).doubt();
  env.advance(0s);
  EXPECT_TRUE(first.stop_requested());
  EXPECT_TRUE(second.stop_requested());
  EXPECT_TRUE(one.held());
  EXPECT_EQ(c.metrics().doubts, 2u);
  fake_store::of(c).doubt();
  EXPECT_EQ(c.metrics().doubts, 2u);
  fake_store::of(c).confirm();
  fake_store::of(c).doubt();
  EXPECT_EQ(c.metrics().doubts, 4u);
}

// No confirmation moves it.
TEST_P(kept_by_the_backend, the_end_of_max_hold_is_notified_once) {
  const client c = open(GetParam(), "metrics=1");
  mutex m(c, "x");
  const lease held = m.acquire({.max_hold = 50ms});
  env.advance(0s);
  EXPECT_TRUE(held.doubt_token().stop_requested());
  for (int i = 0; i < 5; ++i) {
    env.advance(1ms);
    fake_store::of(c).confirm();
  }
  EXPECT_TRUE(held.held());
  EXPECT_EQ(c.metrics().doubts, 1u);
}

TEST_P(kept_by_the_backend, an_earlier_deadline_takes_no_doubt_back) {
  const client c = open(GetParam(), "metrics=1");
  mutex m(c, "x");
  const lease held = m.acquire();
  fake_store::of(c).doubt();
  fake_store::of(c).confirm_until(env.now() + 5s);
  fake_store::of(c).doubt();
  EXPECT_EQ(c.metrics().doubts, 1u);
}

TEST_P(kept_by_the_backend, a_turn_that_starts_in_doubt_is_in_doubt) {
  const client c = open(GetParam(), "linger=1h");
  mutex m(c, "x");
  m.acquire().unlock();
  fake_store::of(c).doubt();
  EXPECT_TRUE(m.acquire().doubt_token().stop_requested());
  fake_store::of(c).confirm();
  EXPECT_FALSE(m.acquire().doubt_token().stop_requested());
}

TEST_P(kept_by_the_backend, a_lease_in_doubt_is_not_lost) {
  const client c = open(GetParam());
  const lease held = mutex(c, "x").acquire();
  EXPECT_FALSE(held.in_doubt());
  fake_store::of(c).doubt();
  EXPECT_TRUE(held.in_doubt());
  EXPECT_TRUE(held.doubt_token().stop_requested());
  EXPECT_FALSE(held.loss_token().stop_requested());
  EXPECT_TRUE(held.held());
}

TEST_P(kept_by_the_backend, a_doubt_after_the_deadline_is_a_loss) {
  const client c = open(GetParam(), "metrics=1");
  mutex m(c, "x");
  const lease held = m.acquire();
  env.freeze(session_timeout);
  fake_store::of(c).doubt();
  env.advance(0s);
  EXPECT_EQ(c.metrics().losses, 1u);
}

TEST_P(kept_by_the_backend, extend_and_manual_renewal_are_unsupported) {
  const client c = open(GetParam());
  mutex m(c, "x");
  lease held = m.acquire();
  std::error_code ec;
  held.extend(1h, ec);
  EXPECT_EQ(ec, errc::unsupported);
  EXPECT_EQ(held.expires(), fake_store::of(c).deadline());
  EXPECT_EQ(thrown_by([&] { (void)m.acquire({.renew = renewal::manual}); }), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)c.mutex("x", {.renew = renewal::manual}); }), errc::unsupported);
  EXPECT_EQ(fake_store::of(c).renewals(), 0);
  EXPECT_FALSE(c.features().ttl);
}

TEST_P(kept_by_the_backend, a_ttl_has_no_effect_and_is_refused_by_a_strict_client) {
  const client strict = open(GetParam(), "strict=1");
  mutex m(strict, "x");
  EXPECT_EQ(thrown_by([&] { (void)m.acquire({.ttl = 10s}); }), errc::unsupported);
  EXPECT_TRUE(m.acquire().held());
}

// Under a ttl the next turn would wait for a renewal when less than half of it is left.
TEST_P(kept_by_the_backend, a_turn_starts_on_whatever_is_left_of_the_session) {
  const client c = open(GetParam(), "linger=1h");
  mutex m(c, "x");
  m.acquire().unlock();
  env.advance(session_timeout * 7 / 10);
  const lease held = m.acquire();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.expires(), fake_store::of(c).deadline());
}

TEST_P(kept_by_the_backend, a_lingering_lock_is_kept_while_the_session_is_confirmed) {
  const client c = open(GetParam(), "linger=1h&metrics=1");
  mutex m(c, "x");
  m.acquire({.ttl = 200ms}).unlock();
  pass_confirmed(c, 5 * session_timeout);
  m.acquire().unlock();
  EXPECT_EQ(c.metrics().grants, 1u);
  env.advance(session_timeout);  // released an eighth of the timeout before the deadline
  fake_store::of(c).confirm();
  m.acquire().unlock();
  EXPECT_EQ(c.metrics().grants, 2u);
}

TEST_P(kept_by_the_backend, a_downgraded_lease_follows_the_session) {
  const client c = open(GetParam());
  shared_mutex m(c, "x");
  const lease held = m.downgrade(m.acquire({.ttl = 100ms}));
  pass_confirmed(c, 3 * session_timeout);
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.expires(), fake_store::of(c).deadline());
}

TEST_P(kept_by_the_backend, what_was_granted_after_the_end_of_the_session_is_not_held) {
  const client c = open(GetParam());
  mutex m(c, "x");
  fake_store::of(c).confirm_until(env.now());
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire(); }), errc::unavailable);
  fake_store::of(c).confirm();
  EXPECT_TRUE(m.try_acquire().held());
}

TEST_F(lifetimes, of_a_ttl_is_renewed_by_the_core_and_extended_on_request) {
  const client c = open(lifetime::ttl);
  mutex m(c, "x");
  lease held = m.acquire({.ttl = 9s});
  EXPECT_EQ(held.expires(), env.now() + 9s);
  env.advance(1h);
  EXPECT_TRUE(held.held());
  EXPECT_GT(fake_store::of(c).renewals(), 1000);
  held.extend(1min);
  EXPECT_EQ(held.expires(), env.now() + 1min);
  EXPECT_TRUE(c.features().ttl);
}

TEST_F(lifetimes, of_the_process_has_no_deadline_no_renewal_and_no_loss) {
  const client c = open(lifetime::process);
  mutex m(c, "x");
  lease held = m.acquire({.ttl = 9s});
  EXPECT_EQ(held.expires(), base::never);
  held.extend(1s);
  env.advance(24h);
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.expires(), base::never);
  EXPECT_EQ(fake_store::of(c).renewals(), 0);
  EXPECT_FALSE(c.features().ttl);
}

TEST_F(lifetimes, of_the_process_notify_of_the_end_of_max_hold_by_the_ttl_of_the_call) {
  const client c = open(lifetime::process, "linger=1h");
  mutex m(c, "x");
  m.acquire({.ttl = 1h}).unlock();
  const lease held = m.acquire({.ttl = 10s, .max_hold = 1min});
  env.advance(58s);
  EXPECT_FALSE(held.in_doubt());
  env.advance(1s);
  EXPECT_TRUE(held.in_doubt());
}

}  // namespace
}  // namespace holdfast
