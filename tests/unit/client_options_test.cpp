#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <string>

#include "core/client_options.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::lock_error;
using holdfast::url;
using holdfast::core::parse_duration;
using holdfast::core::read_client_options;

std::string refusal(std::string_view query) {
  try {
    std::vector<url::option> rest;
    (void)read_client_options(url::parse("memory:?" + std::string(query)), rest);
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_option);
    return e.what();
  }
  ADD_FAILURE() << query << " was accepted";
  return {};
}

TEST(client_options, leave_to_the_backend_what_is_not_theirs) {
  std::vector<url::option> rest;
  const auto o = read_client_options(url::parse("memory:?ttl=2s&latency=1ms&turns=1"), rest);
  EXPECT_EQ(o.ttl, 2s);
  EXPECT_EQ(o.turns, 1u);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].first, "latency");
}

TEST(client_options, name_the_option_and_the_remedy_when_a_value_is_wrong) {
  for (const char* query :
       {"ttl=99ms", "ttl=-1s", "ttl=0", "ttl=400000h", "ttl=x", "ttl=", "ttl=1e3", "ttl=nan",
        "ttl=inf", "ttl=1d", "ttl=99999999999999999999s", "turns=0", "turns=1025", "turns=1.5",
        "turns=-1", "renew=maybe", "op-timeout=0", "connect-timeout=0", "turn-time=-5ms"}) {
    const std::string said = refusal(query);
    const std::string name = std::string(query).substr(0, std::string(query).find('='));
    EXPECT_NE(said.find(name), std::string::npos) << said;
    EXPECT_NE(said.find(':'), std::string::npos) << said;
  }
}

TEST(client_options, refuse_a_grace_above_a_third_of_the_ttl) {
  EXPECT_NE(refusal("ttl=3s&grace=1100ms").find("third"), std::string::npos);
}

TEST(client_options, list_the_options_there_are_when_one_is_unknown) {
  const url u = url::parse("memory:?tll=30s");
  try {
    (void)holdfast::client::open("memory:?tll=30s");
    ADD_FAILURE();
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_option);
    EXPECT_NE(std::string(e.what()).find("tll"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find(" ttl "), std::string::npos);
  }
}

TEST(duration, is_read_with_its_unit) {
  EXPECT_EQ(parse_duration("500ms", "x"), 500ms);
  EXPECT_EQ(parse_duration("1.5s", "x"), 1500ms);
  EXPECT_EQ(parse_duration("0.25", "x"), 250ms);
  EXPECT_EQ(parse_duration("2m", "x"), 2min);
  EXPECT_EQ(parse_duration("1h", "x"), 1h);
  EXPECT_EQ(parse_duration("7us", "x"), 7us);
  EXPECT_EQ(parse_duration("0", "x"), 0s);
}

TEST(client, names_the_schemes_there_are_when_one_is_unknown) {
  try {
    (void)holdfast::client::open("redsi://h");
    ADD_FAILURE();
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_url);
    EXPECT_NE(std::string(e.what()).find("redis:"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("file:"), std::string::npos);
  }
}

TEST(client, says_how_to_get_a_backend_that_was_not_built) {
  std::error_code ec;
  const auto none = holdfast::client::open("zookeeper://h", {}, {}, ec);
  EXPECT_EQ(ec, errc::unsupported);
  EXPECT_FALSE(none);
}

}  // namespace
