// TLS that is as it should be, and TLS that is not.
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_tls : public on_redis {
 protected:
  void SetUp() override {
    on_redis::SetUp();
    if (redis_server::installed() && !redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  }
};

std::string with(const redis_server& server, const std::string& host, const std::string& options) {
  return "rediss://" + host + ':' + std::to_string(server.port()) + patient + options;
}

std::string trusting(const redis_server& server, const std::string& ca = "ca") {
  return "&tls-ca=" + server.tls_files().certificate(ca);
}

told told_of(const std::string& url) {
  return told_by([&] { client::open(url).mutex("x").acquire().release(); });
}

void expect_refused(const std::string& url, const std::string& word) {
  const auto t = told_of(url);
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds) << t.text;
  EXPECT_NE(t.text.find(word), std::string::npos) << t.text;
}

TEST_F(redis_tls, a_verified_server_is_used_by_address_and_by_name) {
  const redis_server server({.tls = "server"});
  EXPECT_EQ(told_of(with(server, "127.0.0.1", trusting(server))).text, "");
  EXPECT_EQ(told_of(with(server, "localhost", trusting(server))).text, "");
}

TEST_F(redis_tls, locks_and_waits_as_without) {
  redis_server server({.tls = "server"});
  {
    const auto url = with(server, "127.0.0.1", trusting(server) + "&ttl=2s");
    contenders all({url, url}, {.check = {.wake_bound = in_bounds}});
    for (int i = 0; i < 10; ++i) {
      server.command({"CLIENT", "KILL", "TYPE", i % 2 ? "pubsub" : "normal"});
      all.wait_for_plays(20);
    }
  }
  expect_nothing_left(server);
}

TEST_F(redis_tls, a_certificate_that_has_expired) {
  const redis_server server({.tls = "expired"});
  expect_refused(with(server, "127.0.0.1", trusting(server)), "expired");
}

TEST_F(redis_tls, a_certificate_of_another_host) {
  const redis_server server({.tls = "stranger"});
  expect_refused(with(server, "127.0.0.1", trusting(server)), "127.0.0.1");
  expect_refused(with(server, "localhost", trusting(server)), "localhost");
}

TEST_F(redis_tls, a_certificate_that_nobody_known_has_signed) {
  const redis_server server({.tls = "server"});
  expect_refused(with(server, "127.0.0.1", trusting(server, "other-ca")), "tls-ca");
  expect_refused(with(server, "127.0.0.1", ""), "tls-ca");
}

TEST_F(redis_tls, a_client_s_certificate_where_the_server_wants_one) {
  const redis_server server({.tls = "server", .tls_clients = true});
  const auto& files = server.tls_files();
  const auto mine = "&tls-cert=" + files.certificate("client") + "&tls-key=" + files.key("client");
  EXPECT_EQ(told_of(with(server, "127.0.0.1", trusting(server) + mine)).text, "");
  const auto t = told_of(with(server, "127.0.0.1", trusting(server)));
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
}

TEST_F(redis_tls, to_a_server_that_speaks_plain_text) {
  const redis_server server;
  const auto t = told_of("rediss://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_NE(t.text.find("TLS"), std::string::npos) << t.text;
}

TEST_F(redis_tls, is_named_where_plain_text_meets_it) {
  const redis_server server({.tls = "server"});
  const auto t = told_of("redis://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_NE(t.text.find("TLS"), std::string::npos) << t.text;
}

TEST_F(redis_tls, a_key_of_another_certificate_is_told_from_one_that_cannot_be_read) {
  const redis_server server({.tls = "server"});
  const auto& files = server.tls_files();
  const auto cert = "&tls-cert=" + files.certificate("client");
  const auto other = told_of(with(server, "127.0.0.1", cert + "&tls-key=" + files.key("server")));
  EXPECT_EQ(other.code, errc::bad_option) << other.text;
  EXPECT_NE(other.text.find("is not that of the certificate in "), std::string::npos) << other.text;
  const auto none = told_of(with(server, "127.0.0.1", cert));
  EXPECT_EQ(none.code, errc::bad_option) << none.text;
  EXPECT_NE(none.text.find("cannot be read as the certificate's private key"), std::string::npos)
      << none.text;
  const auto alone = told_of(with(server, "127.0.0.1", "&tls-key=" + files.key("client")));
  EXPECT_EQ(alone.code, errc::bad_option) << alone.text;
}

TEST_F(redis_tls, files_that_cannot_be_read_are_named) {
  const redis_server server({.tls = "server"});
  const auto missing = told_of(with(server, "127.0.0.1", "&tls-ca=/nowhere/ca.crt"));
  EXPECT_EQ(missing.code, errc::bad_option) << missing.text;
  EXPECT_NE(missing.text.find("tls-ca names /nowhere/ca.crt: No such file"), std::string::npos)
      << missing.text;
  for (const std::string options : {"&tls-ca=/", "&tls-cert=/"}) {
    const auto folder = told_of(with(server, "127.0.0.1", options));
    EXPECT_EQ(folder.code, errc::bad_option) << folder.text;
    EXPECT_NE(folder.text.find("/ cannot be read as "), std::string::npos) << folder.text;
    EXPECT_EQ(folder.text.find("(error "), std::string::npos) << "a number: " << folder.text;
  }
}

}  // namespace
}  // namespace holdfast::redis_test
