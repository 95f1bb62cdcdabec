#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <sstream>
#include <string>

#include "seam/client_options.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::lock_error;
using holdfast::url;
using holdfast::seam::parse_duration;
using holdfast::seam::read_client_options;
using holdfast::seam::without_client_options;

std::string refusal_of(std::string_view query) {
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
    const std::string said = refusal_of(query);
    const std::string name = std::string(query).substr(0, std::string(query).find('='));
    EXPECT_NE(said.find(name), std::string::npos) << said;
    EXPECT_NE(said.find(':'), std::string::npos) << said;
  }
}

TEST(client_options, include_the_bounds_of_their_ranges) {
  const auto read = [](const std::string& query) {
    std::vector<url::option> rest;
    return read_client_options(url::parse("memory:?" + query), rest);
  };
  EXPECT_EQ(read("ttl=100ms").ttl, 100ms);
  EXPECT_EQ(read("ttl=8784h").ttl, 8784h);
  EXPECT_EQ(read("ttl=100.5ms").ttl, 101ms) << "whole milliseconds, rounded up";
  EXPECT_EQ(read("turns=1024").turns, 1024u);
  EXPECT_EQ(read("op-timeout=1ms").op_timeout, 1ms);
  EXPECT_EQ(read("op-timeout=24h").op_timeout, 24h);
  EXPECT_EQ(read("connect-timeout=1ms").connect_timeout, 1ms);
  EXPECT_EQ(read("connect-timeout=24h").connect_timeout, 24h);
  EXPECT_EQ(read("close-timeout=0").close_timeout, 0s);
  EXPECT_EQ(read("close-timeout=24h").close_timeout, 24h);
  EXPECT_EQ(read("turn-time=0").turn_time, 0s);
  EXPECT_EQ(read("turn-time=24h").turn_time, 24h);
  EXPECT_EQ(read("linger=24h").linger, 24h);
  EXPECT_EQ(read("ttl=8784h&clock-skew=24h").clock_skew, 24h);
  EXPECT_EQ(read("outage-timeout=7s").outage_timeout, 7s);
  EXPECT_EQ(read("outage-timeout=none").outage_timeout, holdfast::base::duration::max());
  EXPECT_EQ(read("ttl=3s&grace=1s").grace, 1s);
  for (const std::string query :
       {"ttl=31622401s", "op-timeout=999us", "op-timeout=86401s", "connect-timeout=999us",
        "connect-timeout=86401s", "close-timeout=86401s", "turn-time=86401s", "linger=86401s",
        "clock-skew=86401s", "outage-timeout=31622401s", "grace=31622401s", "turns=0.5"}) {
    const std::string said = refusal_of(query);
    EXPECT_NE(said.find(query.substr(0, query.find('=') + 1)), std::string::npos) << said;
  }
}

TEST(client_options, are_switched_on_and_off_by_eight_words) {
  for (const std::string word : {"1", "true", "yes", "on", "0", "false", "no", "off"}) {
    const bool is_on = word == "1" || word == "true" || word == "yes" || word == "on";
    std::vector<url::option> rest;
    const auto o = read_client_options(url::parse("memory:?renew=" + word + "&metrics=" + word +
                                                  "&recorder=" + word + "&strict=" + word +
                                                  "&admit-after-loss=" + word),
                                       rest);
    EXPECT_EQ(o.renew, is_on) << word;
    EXPECT_EQ(o.metrics, is_on) << word;
    EXPECT_EQ(o.recorder, is_on) << word;
    EXPECT_EQ(o.strict, is_on) << word;
    EXPECT_EQ(o.admit_after_loss, is_on) << word;
    EXPECT_TRUE(rest.empty());
  }
}

TEST(client_options, leave_a_lease_at_least_half_of_its_ttl) {
  std::vector<url::option> rest;
  EXPECT_EQ(read_client_options(url::parse("memory:?ttl=1s&clock-skew=488ms"), rest).clock_skew,
            488ms);
  EXPECT_NE(refusal_of("ttl=1s&clock-skew=489ms").find("clock-skew takes half of the ttl"),
            std::string::npos);
  for (const std::chrono::milliseconds ttl : {99ms, 31'622'400'001ms}) {
    try {
      (void)read_client_options(url::parse("memory:"), rest, {.ttl = ttl});
      ADD_FAILURE() << ttl.count();
    } catch (const lock_error& e) {
      EXPECT_NE(e.reason().find("from 100 ms to 366 days"), std::string_view::npos) << e.what();
    }
  }
}

TEST(client_options, bound_the_ttl_by_that_of_the_servers) {
  EXPECT_FALSE(holdfast::seam::limit_fault(10s, 10s).code);
  const auto fault = holdfast::seam::limit_fault(10s + 1ns, 10s);
  EXPECT_EQ(fault.code, errc::bad_option);
  EXPECT_NE(fault.text.find("max-ttl, which is 10 s"), std::string::npos) << fault.text;
}

TEST(client_options, refuse_a_grace_above_a_third_of_the_ttl) {
  EXPECT_NE(refusal_of("ttl=3s&grace=1100ms").find("third"), std::string::npos);
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

TEST(client_options, name_the_url_and_the_range) {
  for (const std::string query : {"ttl=1ms", "turns=0", "lifetime=x", "lose-replies=2"}) {
    try {
      (void)holdfast::client::open("memory:?password=canary&" + query);
      ADD_FAILURE() << query;
    } catch (const lock_error& e) {
      const std::string said = e.what();
      EXPECT_EQ(e.code(), errc::bad_option) << said;
      EXPECT_EQ(said.find("open at memory:?" + query + "&password=***: "), 0u) << said;
    }
  }
  EXPECT_NE(refusal_of("ttl=1ms").find("give 100ms to 8784h"), std::string::npos);
}

// The values of all others are blanked: they may be passwords.
TEST(client_options, are_shown_with_their_values_when_they_exist) {
  for (const std::string place :
       {"file:", "memory:", "rediss://h", "rediss+sentinel://h/m", "rediss+cluster://h",
        "redlocks://a,b,c", "rediss+shards://a,b", "zookeepers://h", "mysql://h/d"}) {
    std::string said;
    try {
      (void)holdfast::client::open(place + "?no-such-option=canary");
    } catch (const lock_error& e) {
      said = e.what();
    }
    EXPECT_EQ(said.find("canary"), said.npos) << said;
    std::istringstream known(said.substr(said.find("known are") + 9));
    std::size_t count = 0;
    for (std::string name; known >> name; ++count) {
      name = name.substr(0, name.find(','));
      if (name.starts_with("password")) continue;
      EXPECT_EQ(url::parse("memory:?" + name + "=7").text(), "memory:?" + name + "=7");
    }
    EXPECT_GT(count, 15u) << said;
  }
}

// Names in one table and in another are different locks: `holdfast explain` has to tell them apart.
TEST(client_options, are_left_out_of_what_identifies_a_store_and_no_other_option_is) {
  const auto identity = [](const char* text) {
    return without_client_options(url::parse(text).text());
  };
  EXPECT_EQ(identity("mysql://me:canary@h/db?ttl=5s&strategy=row&metrics=1&table=a"),
            "mysql://h/db?strategy=row&table=a");
  for (const char* option : {"strategy=named", "table=b", "key-column=k", "prefix=p", "layout=lua"})
    EXPECT_EQ(identity((std::string("mysql://h/db?recorder=1&") + option).c_str()),
              std::string("mysql://h/db?") + option);
}

TEST(client_options, leave_out_the_user_and_the_password_of_a_store) {
  EXPECT_EQ(without_client_options("zookeeper://u:***@h/locks?password=***"),
            "zookeeper://h/locks");
  EXPECT_EQ(without_client_options("mysql://h/a?ttl=5s&table=a&strict=1&prefix=b"),
            "mysql://h/a?table=a&prefix=b");
  EXPECT_EQ(without_client_options("file:///srv/a@b"), "file:///srv/a@b");
}

TEST(number, is_refused_with_its_range) {
  using holdfast::seam::parse_number;
  EXPECT_EQ(parse_number("0.5", "share", 0.5, 2), 0.5);
  EXPECT_EQ(parse_number("2", "share", 0.5, 2), 2);
  for (const char* const text : {"0.4", "2.1", "x", "1x", "", "nan"}) {
    try {
      (void)parse_number(text, "share", 0.5, 2);
      ADD_FAILURE() << text;
    } catch (const lock_error& e) {
      EXPECT_NE(e.reason().find("give a number from 0.500000 to 2"), std::string_view::npos)
          << e.what();
    }
  }
}

TEST(duration, is_shorter_than_292_years) {
  EXPECT_EQ(parse_duration("9000000000s", "x"), 9000000000s);
  EXPECT_THROW(static_cast<void>(parse_duration("9200000000s", "x")), lock_error);
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
    const std::string text = e.what();
    EXPECT_EQ(text.find("open at redsi://h: there is no backend for \"redsi:\"; known are "), 0u)
        << text;
    EXPECT_NE(text.find("\"file:\""), std::string::npos) << text;
  }
}

TEST(open_options, are_used_instead_of_the_url_and_not_shown) {
  std::vector<url::option> rest;
  const auto o = read_client_options(url::parse("memory:?ttl=9s"), rest, {.ttl = 6s, .grace = 1s});
  EXPECT_EQ(o.ttl, 6s);
  EXPECT_EQ(o.grace, 1s);
  EXPECT_EQ(holdfast::client::open("memory:?ttl=9s", {.ttl = 6s}).url_text(), "memory:?ttl=9s");
}

}  // namespace
