#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/secret.hpp"

namespace {

using holdfast::errc;
using holdfast::lock_error;
using holdfast::url;

std::string password_of(const url& u) { return std::string(holdfast::secret_access::password(u)); }

// The message of the error that parsing ends with.
std::string refusal(std::string_view text) {
  try {
    (void)url::parse(text);
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_url);
    return e.what();
  }
  ADD_FAILURE() << text << " was accepted";
  return {};
}

TEST(url, is_the_file_backend_when_empty) {}

TEST(url, has_all_its_parts) {
  const url u = url::parse("redis+sentinel://me:s%40crt@a:1,[::1]:26379,c/my%2Fmaster?x=1&y=a%26b");
  EXPECT_EQ(u.scheme(), "redis+sentinel");
  EXPECT_EQ(u.user(), "me");
  EXPECT_EQ(password_of(u), "s@crt");
  ASSERT_EQ(u.endpoints().size(), 3u);
  EXPECT_EQ(u.endpoints()[0].host, "a");
  EXPECT_EQ(u.endpoints()[0].port, 1);
  EXPECT_EQ(u.endpoints()[1].host, "::1");
  EXPECT_EQ(u.endpoints()[1].port, 26379);
  EXPECT_EQ(u.endpoints()[2].port, 0);
  EXPECT_EQ(u.path(), "/my/master");
  ASSERT_EQ(u.options().size(), 2u);
  EXPECT_EQ(u.options()[1], url::option("y", "a&b"));
}

TEST(url, never_shows_a_password) {
  for (const char* text : {"redis://me:canary@host/0", "redis://:canary@host?x=1",
                           "redis://host?password=canary", "redis://h?a=b&password=canary&c=d"}) {
    const url u = url::parse(text);
    EXPECT_EQ(password_of(u), "canary");
    EXPECT_EQ(u.text().find("canary"), std::string::npos) << u.text();
    EXPECT_NE(u.text().find("***"), std::string::npos) << u.text();
    for (const auto& [name, value] : u.options()) EXPECT_NE(value, "canary");
  }
}

TEST(url, never_shows_a_password_that_was_written_wrongly) {
  for (const char* text :
       {"redis://me:can/ary@host", "redis://me:can?ary@host", "redis://me:can#ary@host",
        "redis://:can/ary@host", "redis://me:can%zzary@host", "redis://host:canary",
        "redis://u:can:ary@host:port", "redis://me:canary@", "redis://can/ary@host"}) {
    const std::string said = refusal(text);
    EXPECT_EQ(said.find("can"), said.find("cannot")) << said;
    EXPECT_EQ(said.find("ary"), std::string::npos) << said;
  }
}

TEST(url, prints_to_what_parses_to_the_same) {
  for (const char* text :
       {"file:///run/lock/my%20app", "memory:shop", "mysql://u@h:3306/db?ttl=30s",
        "redis+cluster://a,b:2,[fe80::1]:3", "zookeeper://h1,h2/chroot/deep"}) {
    const std::string once = url::parse(text).text();
    EXPECT_EQ(once, text);
    EXPECT_EQ(url::parse(once).text(), once);
  }
}

TEST(url, prints_what_it_has_blanked_again_as_it_is) {
  for (const char* text :
       {"redis:lock:canary@h", "redis://canary@h", "file:///u:canary@h/x",
        "mysql://u%3Acanary:pw@h", "memory:u:canary@h", "redis:///0?pw=canary"}) {
    const std::string once = url::parse(text).text();
    EXPECT_EQ(once.find("canary"), once.npos) << once;
    EXPECT_EQ(url::parse(once).text(), once);
  }
  for (const char* text : {"file:///srv/me@home/locks", "mysql://u@h:3306/db", "redis://h/3"})
    EXPECT_EQ(url::parse(url::parse(text).text()).path(), url::parse(text).path());
}

TEST(url, names_the_part_that_is_wrong) {
  EXPECT_NE(refusal("localhost").find("scheme"), std::string::npos);
  EXPECT_NE(refusal("://h").find("scheme"), std::string::npos);
  EXPECT_NE(refusal("Redis://h").find("scheme"), std::string::npos);
  EXPECT_NE(refusal("redis://h:0").find("port"), std::string::npos);
  EXPECT_NE(refusal("redis://h:65536").find("port"), std::string::npos);
  EXPECT_NE(refusal("redis://h:").find("port"), std::string::npos);
  EXPECT_NE(refusal("redis://[::1").find("]"), std::string::npos);
  EXPECT_NE(refusal("redis://a,,b").find("host"), std::string::npos);
  EXPECT_NE(refusal("redis://a,").find("host"), std::string::npos);
  EXPECT_NE(refusal("redis://h?x").find("name=value"), std::string::npos);
  EXPECT_NE(refusal("redis://h?=x").find("name=value"), std::string::npos);
  EXPECT_NE(refusal("redis://h?x=1&x=2").find("twice"), std::string::npos);
  EXPECT_NE(refusal("redis://h?x=%0a").find("control"), std::string::npos);
  EXPECT_NE(refusal("redis://h/%g0").find("path"), std::string::npos);
  EXPECT_NE(refusal("redis://h#x").find("%23"), std::string::npos);
  EXPECT_NE(refusal("redis://" + std::string(9000, 'a')).find("8192"), std::string::npos);
}

TEST(url, takes_a_password_from_the_environment_and_names_the_variable) {
  ::setenv("URL_TEST_SECRET", "canary", 1);
  const url u = url::parse("redis://h?password-env=URL_TEST_SECRET");
  EXPECT_EQ(password_of(u), "canary");
  EXPECT_EQ(u.secret_variables(), std::vector<std::string>{"URL_TEST_SECRET"});
  ::unsetenv("URL_TEST_SECRET");
  EXPECT_NE(refusal("redis://h?password-env=URL_TEST_SECRET").find("not set"), std::string::npos);
}

class a_password_file : public ::testing::Test {
 protected:
  a_password_file() {
    const int fd = ::mkstemp(path.data());
    ::close(fd);
  }
  ~a_password_file() override { ::unlink(path.c_str()); }
  void write(std::string_view text) { std::ofstream(path) << text; }
  std::string path = "/tmp/holdfast-url-test-XXXXXX";
};

TEST_F(a_password_file, is_read_without_its_last_newline) {
  write("canary\n");
  EXPECT_EQ(password_of(url::parse("redis://h?password-file=" + path)), "canary");
}

TEST_F(a_password_file, is_refused_when_others_can_read_it) {
  write("canary\n");
  ::chmod(path.c_str(), 0640);
  EXPECT_NE(refusal("redis://h?password-file=" + path).find("chmod 600"), std::string::npos);
}

TEST_F(a_password_file, is_refused_when_empty_or_missing) {
  EXPECT_NE(refusal("redis://h?password-file=" + path).find("empty"), std::string::npos);
  EXPECT_NE(refusal("redis://h?password-file=/nowhere").find("/nowhere"), std::string::npos);
}

TEST(url, takes_one_password_only) {
  EXPECT_NE(refusal("redis://u:canary@h?password=canary").find("twice"), std::string::npos);
}

TEST(url, is_empty_with_an_error_code) {
  std::error_code ec;
  for (const auto* const wrong : {"redis://h:x", "no scheme", "redis://h?password-file=/nowhere"}) {
    const url u = url::parse(wrong, ec);
    EXPECT_EQ(ec, errc::bad_url) << wrong;
    EXPECT_EQ(u.scheme() + u.user() + u.path() + u.text(), "");
    EXPECT_TRUE(u.endpoints().empty() && u.options().empty() && u.secret_variables().empty());
  }
  EXPECT_EQ(url::parse("memory:x", ec).text(), "memory:x");
  EXPECT_EQ(ec, std::error_code{});
}

}  // namespace
