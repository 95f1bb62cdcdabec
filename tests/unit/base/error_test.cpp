#include <gtest/gtest.h>
#include <holdfast/error.hpp>

#include <string>
#include <type_traits>

namespace {

using holdfast::errc;
using holdfast::lock_error;
using holdfast::outcome;

TEST(errc, every_code_has_a_text_and_one_outcome) {
  for (int code = 1; code <= static_cast<int>(errc::no_quorum); ++code) {
    const std::error_code ec = errc{code};
    EXPECT_NE(ec.message(), "unknown error") << code;
    int outcomes = 0;
    for (const outcome o : {outcome::busy, outcome::unavailable, outcome::lost, outcome::usage})
      outcomes += ec == o;
    EXPECT_EQ(outcomes, 1) << ec.message();
  }
}

TEST(errc, every_code_equals_a_condition_of_the_standard_library) {
  EXPECT_EQ(std::error_code(errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(std::error_code(errc::canceled), std::errc::operation_canceled);
  EXPECT_EQ(std::error_code(errc::would_self_deadlock), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(std::error_code(errc::unsupported), std::errc::not_supported);
  EXPECT_EQ(std::error_code(errc::bad_name), std::errc::invalid_argument);
  EXPECT_NE(std::error_code(errc::lost), std::errc::timed_out);
  for (int code = 1; code <= static_cast<int>(errc::no_quorum); ++code) {
    int known = 0;
    for (int condition = 1; condition < 140; ++condition)
      known += std::error_code(errc{code}) == std::errc{condition};
    EXPECT_EQ(known, 1) << std::error_code(errc{code}).message();
  }
}

TEST(errc, a_number_that_is_no_code_has_no_meaning) {
  const std::error_code unknown(999, holdfast::error_category());
  EXPECT_EQ(unknown.message(), "unknown error");
  for (const outcome o : {outcome::busy, outcome::unavailable, outcome::lost, outcome::usage})
    EXPECT_NE(unknown, o);
  EXPECT_NE(unknown, std::errc::timed_out);
  EXPECT_EQ(unknown, std::error_condition(999, holdfast::error_category()));
}

TEST(errc, each_outcome_has_a_word) {
  const auto word = [](outcome o) { return make_error_condition(o).message(); };
  EXPECT_EQ(word(outcome::busy), "busy");
  EXPECT_EQ(word(outcome::unavailable), "unavailable");
  EXPECT_EQ(word(outcome::lost), "lost");
  EXPECT_EQ(word(outcome::usage), "wrong use");
  EXPECT_EQ(holdfast::outcome_category().message(99), "unknown outcome");
  EXPECT_STREQ(holdfast::outcome_category().name(), "holdfast outcome");
  EXPECT_STREQ(holdfast::error_category().name(), "holdfast");
}

TEST(lock_error, names_the_operation_the_lock_the_backend_and_the_remedy) {
  const lock_error e(errc::refused, {"acquire", "nightly", "file:///x", "the disk is full"});
  const std::string text = e.what();
  EXPECT_EQ(text, "acquire \"nightly\" at file:///x: the disk is full");
  EXPECT_EQ(e.operation(), "acquire");
  EXPECT_EQ(e.lock(), "nightly");
}

TEST(lock_error, has_the_meaning_of_its_code_where_no_more_is_known) {
  const lock_error e(errc::unavailable, {"acquire", "nightly", "memory:", ""});
  EXPECT_STREQ(e.what(), "acquire \"nightly\" at memory: the store cannot be reached");
}

TEST(lock_error, is_copied_without_throwing) {
  static_assert(std::is_nothrow_copy_constructible_v<lock_error>);
}

}  // namespace
