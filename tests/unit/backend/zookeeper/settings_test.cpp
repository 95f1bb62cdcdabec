#include "backend/zookeeper/settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/seam/documented_options.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

settings settings_of_zookeeper(std::string_view text, std::string_view password = {}) {
  return settings_unit::settings_of(read_settings, text, password);
}

std::string refusal_by_zookeeper(std::string_view text) {
  return settings_unit::refusal_by(read_settings, text).text;
}

TEST(zookeeper_settings, of_a_plain_url) {
  const settings s = settings_of_zookeeper("zookeeper://h1,h2:2182,[::1]/locks/mine/");
  ASSERT_EQ(s.servers.size(), 3u);
  EXPECT_EQ(s.servers[0].host, "h1");
  EXPECT_EQ(s.servers[0].port, 2181);
  EXPECT_EQ(s.servers[1].port, 2182);
  EXPECT_EQ(s.servers[2].host, "::1");
  EXPECT_EQ(s.chroot, "/locks/mine");
  EXPECT_EQ(s.session_timeout, 30s);
  EXPECT_EQ(s.connect_timeout, 5s);
  EXPECT_EQ(s.attach, attach_to::any);
  EXPECT_EQ(s.credentials, "");
  EXPECT_EQ(s.retry_base, 50ms);
  EXPECT_EQ(s.text, "zookeeper://h1,h2:2182,[::1]/locks/mine/");
  EXPECT_FALSE(s.tls);
  for (const auto text : {"zookeeper://h", "zookeeper://h/", "zookeeper://h//"})
    EXPECT_EQ(settings_of_zookeeper(text).chroot, "");
}

TEST(zookeeper_settings, keep_the_log_of_the_client) {
  EXPECT_TRUE(settings_unit::keep_the_log(read_settings, "zookeeper://h1"));
}

TEST(zookeeper_settings, docs_options_has_the_defaults) {
  const auto values = [](const std::string& query) {
    const settings s = settings_of_zookeeper("zookeeper://h?ttl=30s" + query);
    return std::tuple(s.layout, s.session_timeout, s.attach, s.revocation_timeout);
  };
  const auto rows = settings_unit::documented_defaults("zookeeper:");
  EXPECT_EQ(rows.size(), 5u);
  for (const auto& [option, value] : rows)
    EXPECT_TRUE(values("&" + option + "=" + value) == values("")) << option;
}

TEST(zookeeper_settings, of_options) {
  const settings s = settings_of_zookeeper(
      "zookeeper://h?session-timeout=4s&connect-timeout=1s&attach=leader&op-timeout=2s");
  EXPECT_EQ(s.session_timeout, 4s);
  EXPECT_EQ(s.connect_timeout, 1s);
  EXPECT_EQ(s.op_timeout, 2s);
  EXPECT_EQ(s.attach, attach_to::leader);
}

TEST(zookeeper_settings, of_the_time_that_a_holder_has_when_its_lock_is_broken) {
  EXPECT_EQ(settings_of_zookeeper("zookeeper://h").revocation_timeout, 1s);
  EXPECT_EQ(settings_of_zookeeper("zookeeper://h?revocation-timeout=0s").revocation_timeout, 0s);
  EXPECT_NE(refusal_by_zookeeper("zookeeper://h?revocation-timeout=2h").find("0 to 1h"),
            std::string::npos);
}

TEST(zookeeper_settings, bounds_are_part_of_what_is_allowed) {
  EXPECT_EQ(settings_of_zookeeper("zookeeper://h?session-timeout=100ms").session_timeout, 100ms);
  EXPECT_EQ(settings_of_zookeeper("zookeeper://h?session-timeout=24h").session_timeout, 24h);
  EXPECT_EQ(settings_of_zookeeper("zookeeper://h?revocation-timeout=1h").revocation_timeout, 1h);
}

TEST(zookeeper_settings, the_rules_of_claims_are_those_of_the_url) {
  const settings s =
      settings_of_zookeeper("zookeeper://h?op-timeout=2s&clock-skew=5ms&outage-timeout=7s");
  EXPECT_EQ(s.rules.op_timeout, 2s);
  EXPECT_EQ(s.rules.clock_skew, 5ms);
  EXPECT_EQ(s.rules.outage_timeout, 7s);
}

TEST(zookeeper_settings, patterns_of_other_locks_are_separated_by_commas) {
  for (const std::string layout : {"kazoo", "kazoo-rw"}) {
    const std::string of = "zookeeper://h?layout=" + layout + "&extra-lock-patterns=";
    using patterns = std::vector<std::string>;
    EXPECT_EQ(settings_of_zookeeper(of + "a").extra_lock_patterns, patterns{"a"});
    EXPECT_EQ(settings_of_zookeeper(of + "a,b,c").extra_lock_patterns, (patterns{"a", "b", "c"}));
    EXPECT_TRUE(
        settings_of_zookeeper("zookeeper://h?layout=" + layout).extra_lock_patterns.empty());
  }
}

TEST(zookeeper_settings, of_tls) {
  const settings s = settings_of_zookeeper("zookeepers://h?tls-ca=/dev/null&tls-host=other");
  ASSERT_TRUE(s.tls);
  EXPECT_EQ(s.tls->ca_file, "/dev/null");
  EXPECT_EQ(s.tls->host, "other");
  EXPECT_NE(refusal_by_zookeeper("zookeeper://h?tls-ca=/dev/null").find("tls-ca"),
            std::string::npos);
  EXPECT_NE(refusal_by_zookeeper("zookeepers://h?tls-ca=/no/file").find("No such file"),
            std::string::npos);
}

TEST(zookeeper_settings, show_no_password) {
  const settings s = settings_of_zookeeper("zookeeper://me:secret@h/locks");
  EXPECT_EQ(s.credentials, "me:secret");
  EXPECT_EQ(s.text.find("secret"), std::string::npos) << s.text;
  EXPECT_EQ(settings_of_zookeeper("zookeeper://me@h", "other").credentials, "me:other");
  EXPECT_EQ(refusal_by_zookeeper("zookeeper://secret@h").find("secret"), std::string::npos);
  EXPECT_EQ(settings_of_zookeeper("zookeeper://h?session-timeout=4s&attach=any").text,
            "zookeeper://h?session-timeout=4s&attach=any");
}

TEST(zookeeper_settings, that_make_no_sense_are_refused) {
  const std::pair<const char*, const char*> refused[] = {
      {"zookeeper:///locks", "name the servers"},
      {"zookeeper://h//locks", "the path is the node"},
      {"zookeeper://h/a/../b", "\"..\""},
      {"zookeeper://h/zookeeper", "the servers' own"},
      {"zookeeper://h/zookeeper/config", "the servers' own"},
      {"zookeeper://me@h", "a user needs a password"},
      {"zookeeper://a:b@h?password=c", "password"},
      {"zookeeper://me%3Ax:b@h", "no ':'"},
      {"zookeeper://h?password=x", "a password a user"},
      {"zookeeper://h?session-timeout=1ms", "session-timeout: give 100ms"},
      {"zookeeper://h?session-timeout=99ms", "session-timeout: give 100ms"},
      {"zookeeper://h?session-timeout=86401s", "session-timeout: give 100ms"},
      {"zookeeper://h?revocation-timeout=3601s", "revocation-timeout: give 0 to 1h"},
      {"zookeeper://h?layout=kazoo&extra-lock-patterns=,a", "a pattern is empty"},
      {"zookeeper://h?session-timeout=25h", "session-timeout: give 100ms"},
      {"zookeeper://h?layout=no-such-layout",
       "there is curator, curator-rw, kazoo, kazoo-rw, curator-semaphore, node"},
      {"zookeeper://h?extra-lock-patterns=lock-", "an option of layout=kazoo and"},
      {"zookeeper://h?layout=curator-rw&extra-lock-patterns=lock-", "an option of layout=kazoo"},
      {"zookeeper://h?layout=kazoo&extra-lock-patterns=a,,b", "a pattern is empty"},
      {"zookeeper://h?attach=follower", "there is any and leader"},
      {"zookeeper://h?prefix=x", "prefix"},
  };
  for (const auto& [text, wanted] : refused)
    EXPECT_NE(refusal_by_zookeeper(text).find(wanted), std::string::npos)
        << text << ": " << refusal_by_zookeeper(text);
  EXPECT_EQ(refusal_by_zookeeper("zookeeper://h/zookeepers"), "");
}

}  // namespace
}  // namespace holdfast::zookeeper
