#include "cohort/checked_request.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

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

}  // namespace
}  // namespace holdfast::detail
