#include "backend/zookeeper/settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "testkit/manual_environment.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

settings settings_of_zookeeper(std::string_view text, std::string_view password = {}) {
  static testkit::manual_environment env;
  const url where = url::parse(text);
  std::vector<url::option> own;
  const seam::client_options common = seam::read_client_options(where, own);
  return read_settings({where, common, own, password, env, {}});
}

std::string refusal_by_zookeeper(std::string_view text) {
  try {
    settings_of_zookeeper(text);
    return "";
  } catch (const lock_error& e) {
    return e.what();
  }
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
  EXPECT_FALSE(s.tls);
  for (const auto text : {"zookeeper://h", "zookeeper://h/"})
    EXPECT_EQ(settings_of_zookeeper(text).chroot, "");
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
      {"zookeeper://h?session-timeout=1ms", "session-timeout: give 100ms"},
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
