#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.hpp"
#include "base/secret.hpp"
#include "tests/unit/open_descriptors.hpp"

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

TEST(url, is_refused_when_empty_or_longer_than_8192_bytes) {
  EXPECT_NE(refusal("").find("the URL is empty"), std::string::npos);
  const std::string longest = "redis://" + std::string(8184, 'a');
  EXPECT_EQ(url::parse(longest).endpoints()[0].host.size(), 8184u);
  EXPECT_NE(refusal(longest + 'a').find("8192 bytes"), std::string::npos);
}

TEST(url, has_a_scheme_of_small_letters_digits_and_three_marks) {
  EXPECT_EQ(url::parse("az09+-.://h").scheme(), "az09+-.");
  for (const char* const text :
       {"0a://h", "`a://h", "{a://h", "a`://h", "a{://h", "a_://h", "a/://h", "aB://h", "a,://h"})
    EXPECT_NE(refusal(text).find("scheme"), std::string::npos) << text;
}

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
  for (const char* const text :
       {"redis://h?x=%0a", "redis://h?x=%1f", "redis://h?x=%7f", "redis://h?%1f=x", "redis://h/%1f",
        "redis://u%1f@h", "redis://u:%1f@h", "redis://h%1f"})
    EXPECT_NE(refusal(text).find("control"), std::string::npos) << text;
  EXPECT_NE(refusal("redis://h/%g0").find("path"), std::string::npos);
  EXPECT_NE(refusal("redis://h#x").find("%23"), std::string::npos);
  EXPECT_NE(refusal("redis://" + std::string(9000, 'a')).find("8192"), std::string::npos);
}

TEST(url, has_a_port_from_1_to_65535_after_the_colon_of_a_host) {
  EXPECT_EQ(url::parse("redis://h:1").endpoints()[0].port, 1);
  EXPECT_EQ(url::parse("redis://h:65535").endpoints()[0].port, 65535);
  for (const char* const text : {"redis://h:1x", "redis://h:-1", "redis://h:99999999999"})
    EXPECT_NE(refusal(text).find("a port is not a number"), std::string::npos) << text;
  EXPECT_NE(refusal("redis://[::1]:").find("a port is missing"), std::string::npos);
  EXPECT_NE(refusal("redis://[::1]6379").find("after the ']'"), std::string::npos);
  EXPECT_NE(refusal("redis://[]:1").find("a host is missing"), std::string::npos);
  EXPECT_NE(refusal("redis://:1").find("a host is missing"), std::string::npos);
}

TEST(url, has_no_host_with_a_mark_of_a_url_in_it) {
  for (const char mark : std::string_view("@=&/?#;,")) {
    const std::string text = "redis://a" + holdfast::base::percent_encode({&mark, 1}) + "b";
    EXPECT_NE(refusal(text).find("a character in it"), std::string::npos) << text;
  }
}

TEST(url, the_last_at_sign_separates_the_password_from_the_hosts) {
  const url u = url::parse("redis://me:a@b:c@h");
  EXPECT_EQ(u.user(), "me");
  EXPECT_EQ(password_of(u), "a@b:c");
  EXPECT_EQ(u.endpoints()[0].host, "h");
  EXPECT_NE(refusal("redis://me:canary@").find("a host is missing after the '@'"),
            std::string::npos);
}

TEST(url, an_at_sign_after_the_hosts_is_refused) {
  for (const char* const text : {"redis://h/a@b", "redis://h?x=a@b"})
    EXPECT_NE(refusal(text).find("an '@' after the hosts"), std::string::npos) << text;
  EXPECT_EQ(url::parse("file:///a@b?x=c@d").path(), "/a@b");
}

TEST(url, shows_a_password_as_stars_where_it_was) {
  EXPECT_EQ(url::parse("redis://u:pw@h:1/3").text(), "redis://u:***@h:1/3");
  EXPECT_EQ(url::parse("redis://:pw@h").text(), "redis://:***@h");
  EXPECT_EQ(url::parse("mysql://u:@h/d").text(), "mysql://u@h/d") << "it has no password";
  EXPECT_EQ(url::parse("redis://h?password=pw").text(), "redis://h?password=***");
  EXPECT_EQ(url::parse("redis://h?ttl=5s&password=pw").text(), "redis://h?ttl=5s&password=***");
}

TEST(url, shows_stars_where_a_piece_of_a_password_may_have_slipped_in) {
  const std::pair<const char*, const char*> shown[] =
      {{"zookeeper://word@h", "zookeeper://***@h"},
       {"redis://word@h", "redis://***@h"},
       {"mysql://word@h", "mysql://word@h"},
       {"redis://h/word", "redis://h/***"},
       {"rediss://h/word", "rediss://h/***"},
       {"rediss://h/15", "rediss://h/15"},
       {"redis+sentinel://h/main", "redis+sentinel://h/main"},
       {"redis+unix:/run/s", "redis+unix:/run/s"},
       {"redis+unix:/run/w@s", "redis+unix:/***@s"},
       {"redis:word", "redis:***"},
       {"mysql:/word", "mysql:/***"},
       {"mysql:///word@d", "mysql:///***@d"},
       {"file:///u:word@h/x", "file:///***@h/x"},
       {"file:///srv/me@home", "file:///srv/me%40home"},
       {"memory:word@x", "memory:word%40x"},
       {"redis://h?passwrd=word", "redis://h?passwrd=***"},
       {"redis://h?ttl=5s?password=word", "redis://h?ttl=***"},
       {"file:///x?ttl=5s@word", "file:///x?ttl=***"},
       {"file:///x?azAZ09-_=word", "file:///x?azAZ09-_=***"}};
  for (const auto& [text, expected] : shown) EXPECT_EQ(url::parse(text).text(), expected) << text;
  for (const char mark : std::string_view("@[`{/:.")) {
    const std::string option = 'a' + holdfast::base::percent_encode({&mark, 1});
    EXPECT_EQ(url::parse("file:///x?" + option + "=1").text(), "file:///x?***=***") << option;
  }
}

TEST(url, of_one_server_has_the_user_the_password_and_the_path) {
  const url all = url::parse("redis+sentinel://u:pw@a,b/3?ttl=5s");
  const url one = holdfast::secret_access::of_server(all, "redis", {"c", 7});
  EXPECT_EQ(one.text(), "redis://u:***@c:7/3");
  EXPECT_EQ(password_of(one), "pw");
  const url in_query = url::parse("redis+sentinel://u@a/3?password=pw");
  EXPECT_EQ(holdfast::secret_access::of_server(in_query, "redis", {"c", 0}).text(),
            "redis://u@c/3?password=***");
}

TEST(url, with_a_password_has_no_other_source_of_one) {
  ::setenv("URL_TEST_SECRET", "first", 1);
  const url of_variable = url::parse("redis://u@h:1/3?password-env=URL_TEST_SECRET&ttl=5s");
  const url edited = of_variable.with("password", "second");
  EXPECT_EQ(edited.text(), "redis://u@h:1/3?ttl=5s&password=***");
  EXPECT_EQ(password_of(edited), "second");
  EXPECT_TRUE(edited.secret_variables().empty());
  const url by_variable = url::parse("redis://u:pw@h").with("password-env", "URL_TEST_SECRET");
  EXPECT_EQ(password_of(by_variable), "first");
  EXPECT_EQ(by_variable.secret_variables(), std::vector<std::string>{"URL_TEST_SECRET"});
  ::unsetenv("URL_TEST_SECRET");
}

TEST(url, with_another_option_keeps_the_password_and_the_variables) {
  ::setenv("URL_TEST_SECRET", "canary", 1);
  const url plain = url::parse("redis+sentinel://h/m?password-env=URL_TEST_SECRET");
  const url edited = plain.with("sentinel-password-env", "OTHER").with("ttl", "5s");
  ::unsetenv("URL_TEST_SECRET");
  EXPECT_EQ(password_of(edited), "canary");
  EXPECT_EQ(edited.secret_variables(), (std::vector<std::string>{"URL_TEST_SECRET", "OTHER"}));
  EXPECT_EQ(url::parse("redis://u:pw@h").with("ttl", "5s").text(), "redis://u:***@h?ttl=5s");
  EXPECT_EQ(url::parse("redis://h?password=pw").with("ttl", "5s").text(),
            "redis://h?ttl=5s&password=***");
  EXPECT_THROW(static_cast<void>(plain.with("", "x")), lock_error);
}

TEST(url, names_the_variable_of_the_sentinels_password) {
  const url u = url::parse("redis+sentinel://h/m?sentinel-password-env=URL_TEST_OTHER");
  EXPECT_EQ(u.secret_variables(), std::vector<std::string>{"URL_TEST_OTHER"});
}

TEST(url, takes_a_password_from_the_environment_and_names_the_variable) {
  ::setenv("URL_TEST_SECRET", "canary", 1);
  const url u = url::parse("redis://h?password-env=URL_TEST_SECRET");
  EXPECT_EQ(password_of(u), "canary");
  EXPECT_EQ(u.secret_variables(), std::vector<std::string>{"URL_TEST_SECRET"});
  ::setenv("URL_TEST_SECRET", "", 1);
  EXPECT_NE(refusal("redis://h?password-env=URL_TEST_SECRET").find("not set"), std::string::npos);
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
  write("canary\n\n");
  EXPECT_EQ(password_of(url::parse("redis://h?password-file=" + path)), "canary\n");
}

TEST_F(a_password_file, is_closed_when_it_has_been_read_or_refused) {
  const auto open = holdfast::unit_tests::open_descriptors;
  write("canary\n");
  const auto before = open();
  (void)password_of(url::parse("redis://h?password-file=" + path));
  refusal("redis://h?password-file=/tmp");
  EXPECT_EQ(open(), before);
}

TEST_F(a_password_file, has_at_most_4096_bytes) {
  write(std::string(4096, 'x'));
  EXPECT_EQ(password_of(url::parse("redis://h?password-file=" + path)).size(), 4096u);
  write(std::string(4097, 'x'));
  EXPECT_NE(refusal("redis://h?password-file=" + path).find("4096 bytes"), std::string::npos);
}

TEST_F(a_password_file, is_no_directory) {
  EXPECT_NE(refusal("redis://h?password-file=/tmp").find("regular file"), std::string::npos);
}

TEST_F(a_password_file, is_refused_when_others_can_read_it) {
  write("canary\n");
  for (const mode_t mode : {0640u, 0620u, 0610u, 0604u, 0602u, 0601u}) {
    ::chmod(path.c_str(), mode);
    EXPECT_NE(refusal("redis://h?password-file=" + path).find("chmod 600"), std::string::npos);
  }
}

TEST_F(a_password_file, is_refused_when_empty_or_missing) {
  EXPECT_NE(refusal("redis://h?password-file=" + path).find("empty"), std::string::npos);
  EXPECT_NE(refusal("redis://h?password-file=/nowhere").find("/nowhere"), std::string::npos);
}

TEST(url, takes_one_password_only) {
  for (const char* const option :
       {"password=canary", "password-file=/nowhere", "password-env=URL_TEST_SECRET"})
    EXPECT_NE(refusal("redis://u:canary@h?" + std::string(option)).find("given twice"),
              std::string::npos)
        << option;
}

TEST(url, has_the_default_port_of_its_scheme) {
  const auto port = [](const char* text) { return url::parse(text).default_port(); };
  for (const char* text : {"redis://h", "rediss://h", "redis+cluster://h", "redis+shards://h",
                           "redlock://a,b,c", "redlocks://a,b,c"})
    EXPECT_EQ(port(text), 6379) << text;
  EXPECT_EQ(port("redis+sentinel://h/main"), 26379);
  EXPECT_EQ(port("zookeepers://h"), 2181);
  EXPECT_EQ(port("mysql://h/db"), 3306);
  for (const char* text : {"file:", "memory:x", "redis+unix:///run/s", "other://h"})
    EXPECT_EQ(port(text), 0) << text;
}

TEST(url, of_mysql_uses_tls_unless_all_hosts_are_this_machine_or_tls_is_off) {
  for (const char* text : {"mysql://db1/d", "mysql://localhost,db1/d", "mysql://127.0.0.1/d?tls=1",
                           "mysql://localhost/d?tls-ca=/etc/ca.pem"})
    EXPECT_TRUE(url::parse(text).uses_tls()) << text;
  for (const char* text :
       {"mysql://localhost/d", "mysql://127.0.0.1:3307,[::1]/d", "mysql://db1/d?tls=0",
        "mysql://db1/d?tls=off", "mysql://localhost/d?socket=/run/mysql.sock"})
    EXPECT_FALSE(url::parse(text).uses_tls()) << text;
}

TEST(url, of_another_store_uses_tls_if_its_scheme_says_so) {
  for (const char* text : {"rediss://h", "rediss+sentinel://h/main", "rediss+cluster://h",
                           "rediss+shards://h", "redlocks://a,b,c", "zookeepers://h"})
    EXPECT_TRUE(url::parse(text).uses_tls()) << text;
  for (const char* text : {"redis://h", "redis+unix:///run/s", "redlock://a,b,c", "zookeeper://h",
                           "file:", "memory:x"})
    EXPECT_FALSE(url::parse(text).uses_tls()) << text;
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
