#include <gtest/gtest.h>
#include <holdfast/client.hpp>

#include <cstdlib>
#include <optional>
#include <stop_token>
#include <string>

namespace holdfast {
namespace {

// Sets $HOLDFAST_URL, or unsets it, and restores it.
class url_variable {
 public:
  explicit url_variable(const char* value) {
    if (const char* const before = std::getenv("HOLDFAST_URL")) before_ = before;
    set(value);
  }
  ~url_variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static void set(const char* value) {
    if (value)
      ::setenv("HOLDFAST_URL", value, 1);
    else
      ::unsetenv("HOLDFAST_URL");
  }
  std::optional<std::string> before_;
};

template <class F>
lock_error error_from(F f) {
  try {
    (void)f();
  } catch (const lock_error& e) {
    return e;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {{}, {}};
}

TEST(open, an_empty_url_is_bad_and_the_remedy_names_file) {
  const auto e = error_from([] { return client::open(""); });
  EXPECT_EQ(e.code(), errc::bad_url);
  EXPECT_NE(e.remedy().find("\"file:\""), std::string_view::npos) << e.what();
  std::error_code ec;
  EXPECT_FALSE(client::open("", ec));
  EXPECT_EQ(ec, errc::bad_url);
  (void)url::parse("", ec);
  EXPECT_EQ(ec, errc::bad_url);
}

TEST(open, a_url_that_parse_failed_to_read_is_reported_as_empty) {
  std::error_code ec;
  const url unread = url::parse("", ec);
  const auto e = error_from([&] { return client::open(unread); });
  EXPECT_EQ(e.code(), errc::bad_url);
  EXPECT_NE(e.reason().find("the URL is empty"), std::string_view::npos) << e.what();
}

TEST(open, without_a_url_it_reads_the_variable_which_must_be_set) {
  {
    const url_variable unset(nullptr);
    EXPECT_EQ(error_from([] { return client::open(); }).code(), errc::bad_url);
  }
  {
    const url_variable empty("");
    EXPECT_EQ(error_from([] { return client::open(); }).code(), errc::bad_url);
  }
  const url_variable set("memory:");
  EXPECT_EQ(client::open().url_text(), "memory:");
  std::error_code ec;
  EXPECT_TRUE(client::open(ec));
}

TEST(open, takes_a_text_or_a_url_with_options_stop_and_code_in_any_combination) {
  const url parsed = url::parse("memory:");
  const open_options o{.ttl = std::chrono::seconds(5)};
  const std::stop_token s;
  std::error_code ec;
  EXPECT_TRUE(client::open("memory:"));
  EXPECT_TRUE(client::open("memory:", o));
  EXPECT_TRUE(client::open("memory:", s));
  EXPECT_TRUE(client::open("memory:", ec));
  EXPECT_TRUE(client::open("memory:", o, s));
  EXPECT_TRUE(client::open("memory:", o, ec));
  EXPECT_TRUE(client::open("memory:", s, ec));
  EXPECT_TRUE(client::open("memory:", o, s, ec));
  EXPECT_TRUE(client::open("memory:", {}, {}, ec));
  EXPECT_TRUE(client::open(parsed));
  EXPECT_TRUE(client::open(parsed, o));
  EXPECT_TRUE(client::open(parsed, s));
  EXPECT_TRUE(client::open(parsed, ec));
  EXPECT_TRUE(client::open(parsed, o, s));
  EXPECT_TRUE(client::open(parsed, o, ec));
  EXPECT_TRUE(client::open(parsed, s, ec));
  EXPECT_TRUE(client::open(parsed, o, s, ec));
}

TEST(url_with, sets_or_replaces_one_option_with_the_plain_value) {
  const url plain = url::parse("redis://h/?layout=lua&ttl=5s");
  const url edited = plain.with("layout", "redisson").with("prefix", "a&b=c");
  EXPECT_EQ(plain.text(), "redis://h/?layout=lua&ttl=5s");
  EXPECT_EQ(edited.options(),
            (std::vector<url::option>{{"ttl", "5s"}, {"layout", "redisson"}, {"prefix", "a&b=c"}}));
}

TEST(url_with, an_option_that_the_store_does_not_know_is_refused_by_open) {
  const url odd = url::parse("memory:").with("layuot", "x");
  EXPECT_EQ(error_from([&] { return client::open(odd); }).code(), errc::bad_option);
}

TEST(url_with, a_password_is_replaced_and_never_shown) {
  const url edited = url::parse("redis://u:first@h").with("password", "second");
  EXPECT_EQ(edited.text().find("second"), std::string::npos) << edited.text();
  EXPECT_EQ(edited.text().find("first"), std::string::npos) << edited.text();
}

TEST(unsafe_layouts, are_refused_without_unsafe_in_the_url_and_the_error_says_why) {
  for (const char* text : {"redis://h?layout=setnx", "redis://h?layout=setnx-exists",
                           "redis://h?layout=getset&unsafe=0", "zookeeper://h?layout=node"}) {
    const auto e = error_from([&] { return client::open(text); });
    EXPECT_EQ(e.code(), errc::bad_option) << text;
    EXPECT_NE(e.reason().find("a demonstration"), std::string_view::npos) << e.what();
    EXPECT_NE(e.remedy().find("unsafe=1"), std::string_view::npos) << e.what();
  }
}

TEST(unsafe_layouts, are_opened_with_unsafe_in_the_url) {
  // Nothing listens on port 1: the layout was accepted when the connection fails.
  for (const char* text : {"redis://127.0.0.1:1?layout=setnx&unsafe=1",
                           "zookeeper://127.0.0.1:1?layout=node&unsafe=1"})
    EXPECT_EQ(error_from([&] { return client::open(text); }).code(), errc::unavailable) << text;
}

}  // namespace
}  // namespace holdfast
