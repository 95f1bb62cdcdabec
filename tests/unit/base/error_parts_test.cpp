#include <gtest/gtest.h>
#include <holdfast/error.hpp>

#include <string>

#include "base/fail.hpp"

namespace holdfast {
namespace {

lock_error thrown(std::string text) {
  try {
    base::fail(errc::refused, "acquire", std::move(text), "job", "memory:");
  } catch (const lock_error& e) {
    return e;
  }
}

TEST(parts_of_a_lock_error, the_last_clause_is_the_remedy) {
  const lock_error e = thrown("the server said: a; b; check the user");
  EXPECT_EQ(e.reason(), "the server said: a; b");
  EXPECT_EQ(e.remedy(), "check the user");
  EXPECT_EQ(e.detail(), "the server said: a; b; check the user");
  EXPECT_STREQ(e.what(), "acquire \"job\" at memory: the server said: a; b; check the user");
}

TEST(parts_of_a_lock_error, a_text_of_one_clause_has_no_remedy) {
  const lock_error e = thrown("the lease was lost");
  EXPECT_EQ(e.reason(), "the lease was lost");
  EXPECT_EQ(e.remedy(), "");
}

TEST(parts_of_a_lock_error, an_error_without_a_text_has_neither) {
  const lock_error e = thrown({});
  EXPECT_EQ(e.reason(), "");
  EXPECT_EQ(e.remedy(), "");
  EXPECT_EQ(e.what(), "acquire \"job\" at memory: " + e.code().message());
}

}  // namespace
}  // namespace holdfast
