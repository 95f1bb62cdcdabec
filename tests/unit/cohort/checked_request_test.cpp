#include "cohort/checked_request.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace holdfast::detail {
namespace {

using namespace std::chrono_literals;

const acquire_options each_given{.ttl = 7s,
                                 .renew = renewal::manual,
                                 .note = "n",
                                 .permits = 3,
                                 .max_hold = 9s};

TEST(options_of_another_version, that_is_the_same_are_all_kept) {
  const acquire_options o = normalized(each_given, sizeof each_given);
  EXPECT_EQ(o.ttl, 7s);
  EXPECT_EQ(o.renew, renewal::manual);
  EXPECT_EQ(o.note, "n");
  EXPECT_EQ(o.permits, 3u);
  EXPECT_EQ(o.max_hold, 9s);
}

TEST(options_of_another_version, that_is_older_have_the_defaults_of_what_it_did_not_know) {
  const acquire_options o = normalized(each_given, offsetof(acquire_options, permits));
  EXPECT_EQ(o.ttl, 7s);
  EXPECT_EQ(o.renew, renewal::manual);
  EXPECT_EQ(o.note, "n");
  EXPECT_EQ(o.permits, 1u);
  EXPECT_FALSE(o.max_hold);
}

TEST(options_of_another_version, that_is_newer_lose_what_this_one_does_not_know) {
  struct newer {
    acquire_options known;
    char more[64];
  } given{each_given, {}};
  std::memset(given.more, 'x', sizeof given.more);
  const acquire_options o = normalized(given.known, sizeof given);
  EXPECT_EQ(o.ttl, 7s);
  EXPECT_EQ(o.permits, 3u);
  EXPECT_EQ(o.max_hold, 9s);
}

class options_of_an_acquire : public testing::Test {
 protected:
  base::failure fault(const acquire_options& o, std::uint32_t permits_in_all = 0) const {
    return options_fault(o, permits_in_all, rules);
  }
  std::string text(const acquire_options& o, std::uint32_t permits_in_all = 0) const {
    const base::failure why = fault(o, permits_in_all);
    EXPECT_EQ(why.code, errc::bad_option) << why.text;
    return why.text;
  }

  cohort::lock_rules rules;
};

TEST_F(options_of_an_acquire, ask_for_one_permit_or_for_some_of_a_semaphore) {
  EXPECT_FALSE(fault({}).code);
  EXPECT_FALSE(fault({.permits = 5}, 5).code);
  EXPECT_EQ(text({.permits = 0}), "it requests 0 permits; give 1");
  EXPECT_EQ(text({.permits = 2}), "it requests 2 permits; give 1");
  EXPECT_EQ(text({.permits = 2}, 1), "it requests 2 permits; give 1");
  EXPECT_EQ(text({.permits = 0}, 5), "it requests 0 permits; give 1 to 5");
  EXPECT_EQ(text({.permits = 6}, 5), "it requests 6 permits; give 1 to 5");
}

TEST_F(options_of_an_acquire, have_a_hold_above_zero) {
  EXPECT_FALSE(fault({.max_hold = 1ms}).code);
  EXPECT_EQ(text({.max_hold = 0ms}), "give a max_hold above 0, or none");
  EXPECT_EQ(text({.max_hold = -1ms}), "give a max_hold above 0, or none");
}

TEST_F(options_of_an_acquire, have_a_ttl_within_the_limits_of_all_and_of_the_store) {
  EXPECT_FALSE(fault({.ttl = 100ms}).code);
  EXPECT_EQ(text({.ttl = 99ms}), "give a ttl from 100 ms to 366 days");
  EXPECT_FALSE(fault({.ttl = 24h * 366}).code);
  EXPECT_EQ(text({.ttl = 24h * 366 + 1ms}), "give a ttl from 100 ms to 366 days");
  rules.can.ttl_max = 10s;
  EXPECT_FALSE(fault({.ttl = 10s}).code);
  EXPECT_NE(text({.ttl = 10001ms}).find("the ttl is longer than max-ttl, which is 10"),
            std::string::npos);
  rules.options.clock_skew = 4s;
  EXPECT_EQ(text({.ttl = 8s}), "clock-skew takes half of the ttl; raise the ttl");
}

TEST_F(options_of_an_acquire, turn_off_no_renewal_that_the_backend_makes) {
  rules.can.life = seam::lifetime::session;
  EXPECT_FALSE(fault({}).code);
  EXPECT_EQ(fault({.renew = renewal::manual}).code, errc::unsupported);
  EXPECT_EQ(fault({.renew = renewal::manual}).text,
            "locks of this backend live as long as the client's session, so renewal cannot be "
            "turned off");
  rules.options.renew = false;
  EXPECT_EQ(fault({}).code, errc::unsupported) << "the client's default";
  EXPECT_FALSE(fault({.renew = renewal::automatic}).code);
  rules.can.life = seam::lifetime::process;
  EXPECT_EQ(fault({}).text, "locks of this backend never expire, so renewal cannot be turned off");
  rules.can.life = seam::lifetime::ttl;
  EXPECT_FALSE(fault({.renew = renewal::manual}).code);
}

TEST_F(options_of_an_acquire, of_a_strict_client_have_no_ttl_that_has_no_effect) {
  rules.can.life = seam::lifetime::process;
  EXPECT_FALSE(fault({.ttl = 10s}).code);
  EXPECT_EQ(text({.ttl = 1ms}), "give a ttl from 100 ms to 366 days");
  rules.options.strict = true;
  EXPECT_FALSE(fault({}).code);
  EXPECT_EQ(fault({.ttl = 10s}).code, errc::unsupported);
  EXPECT_EQ(fault({.ttl = 10s}).text, "its locks have no ttl; leave the option out, or ?strict=1");
  rules.can.life = seam::lifetime::ttl;
  EXPECT_FALSE(fault({.ttl = 10s}).code);
}

TEST_F(options_of_an_acquire, have_a_note_that_a_terminal_can_show) {
  EXPECT_FALSE(fault({.note = "nightly"}).code);
  EXPECT_EQ(text({.note = "\n"}), "the note contains a control character; remove it");
}

TEST(defaults_of_a_lock, decide_on_the_renewal_only_where_a_call_does_not) {
  const lock_defaults by_hand(acquire_options{.renew = renewal::manual});
  acquire_options unset, given{.renew = renewal::automatic};
  by_hand.fill_in(unset);
  EXPECT_EQ(unset.renew, renewal::manual);
  by_hand.fill_in(given);
  EXPECT_EQ(given.renew, renewal::automatic);
}

}  // namespace
}  // namespace holdfast::detail
