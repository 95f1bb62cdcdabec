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

holdfast::seam::client_options options_of(std::string_view query) {
  std::vector<url::option> rest;
  return read_client_options(url::parse("memory:?" + std::string(query)), rest);
}

TEST(client_options, each_have_a_field_of_their_own) {
  const auto o = options_of(
      "ttl=7s&renew=no&grace=1s&clock-skew=2ms&connect-timeout=3s&op-timeout=4s&close-timeout=6s&"
      "outage-timeout=8s&turns=9&turn-time=10ms&linger=11ms&admit-after-loss=yes&metrics=on&"
      "recorder=off&strict=true");
  EXPECT_EQ(o.ttl, 7s);
  EXPECT_FALSE(o.renew);
  EXPECT_EQ(o.grace, 1s);
  EXPECT_EQ(o.clock_skew, 2ms);
  EXPECT_EQ(o.connect_timeout, 3s);
  EXPECT_EQ(o.op_timeout, 4s);
  EXPECT_EQ(o.close_timeout, 6s);
  EXPECT_EQ(o.outage_timeout, 8s);
  EXPECT_EQ(o.turns, 9u);
  EXPECT_EQ(o.turn_time, 10ms);
  EXPECT_EQ(o.linger, 11ms);
  EXPECT_TRUE(o.admit_after_loss && o.metrics && o.strict);
  EXPECT_FALSE(o.recorder);
}

TEST(client_options, may_have_the_values_at_the_ends_of_their_ranges) {
  EXPECT_EQ(options_of("ttl=100ms").ttl, 100ms);
  EXPECT_EQ(options_of("ttl=8784h").ttl, 8784h);
  EXPECT_EQ(options_of("ttl=100.2ms").ttl, 101ms) << "rounded up";
  EXPECT_EQ(options_of("ttl=3s&grace=1s").grace, 1s);
  EXPECT_EQ(options_of("connect-timeout=1ms").connect_timeout, 1ms);
  EXPECT_EQ(options_of("op-timeout=24h").op_timeout, 24h);
  EXPECT_EQ(options_of("close-timeout=0").close_timeout, 0s);
  EXPECT_EQ(options_of("outage-timeout=0").outage_timeout, 0s);
  EXPECT_EQ(options_of("outage-timeout=none").outage_timeout, holdfast::base::duration::max());
  EXPECT_EQ(options_of("turns=1024").turns, 1024u);
  EXPECT_EQ(options_of("turn-time=0").turn_time, 0s);
  EXPECT_EQ(options_of("linger=24h").linger, 24h);
  for (const char* query :
       {"ttl=8785h", "ttl=3s&grace=1001ms", "connect-timeout=999us", "op-timeout=25h",
        "close-timeout=25h", "turn-time=25h", "linger=25h", "clock-skew=25h", "outage-timeout=-1s"})
    EXPECT_NE(refusal_of(query), "") << query;
}

TEST(client_options, name_what_to_give_instead) {
  EXPECT_NE(refusal_of("op-timeout=0").find("op-timeout=0: give 1ms to 24h"), std::string::npos);
  EXPECT_NE(refusal_of("turns=1.5").find("give a whole number"), std::string::npos);
  EXPECT_NE(refusal_of("turns=1025").find("give a number from 1 to 1024"), std::string::npos);
  EXPECT_NE(refusal_of("renew=maybe").find("renew=maybe: give 1 or 0"), std::string::npos);
  EXPECT_NE(refusal_of("ttl=-1s").find("it is negative"), std::string::npos);
  EXPECT_NE(refusal_of("ttl=3000000h").find("it is longer than 292 years"), std::string::npos);
  EXPECT_NE(refusal_of("ttl=5d").find("give a number with a unit"), std::string::npos);
  EXPECT_NE(refusal_of("clock-skew=20s").find("clock-skew takes half of the ttl"),
            std::string::npos);
}

TEST(client_options, are_true_or_false_in_four_words_each) {
  using holdfast::seam::parse_bool;
  for (const char* const yes : {"1", "true", "yes", "on"}) EXPECT_TRUE(parse_bool(yes, "x")) << yes;
  for (const char* const no : {"0", "false", "no", "off"}) EXPECT_FALSE(parse_bool(no, "x")) << no;
}

TEST(client_options, are_numbers_in_their_range_and_nothing_else) {
  using holdfast::seam::parse_number;
  EXPECT_EQ(parse_number("0", "x", 0, 1), 0);
  EXPECT_EQ(parse_number("1", "x", 0, 1), 1);
  EXPECT_EQ(parse_number("0.25", "x", 0, 1), 0.25);
  for (const char* const wrong : {"", "-0.1", "1.1", "1x", "nan", "x"})
    EXPECT_THROW((void)parse_number(wrong, "x", 0, 1), lock_error) << wrong;
}

TEST(client_options, leave_the_path_of_a_store_as_it_is) {
  EXPECT_EQ(without_client_options("file:///srv/me@home?ttl=5s"), "file:///srv/me@home");
  EXPECT_EQ(without_client_options("memory:shop"), "memory:shop");
  EXPECT_EQ(without_client_options("redis://u:***@h/0?password=***&layout=lua&ttl=1s&db=1"),
            "redis://h/0?layout=lua&db=1");
}

TEST(a_ttl, has_to_leave_half_of_itself_after_the_clock_skew) {
  using holdfast::seam::limit_fault;
  using holdfast::seam::ttl_fault;
  using holdfast::seam::worth;
  EXPECT_EQ(worth(10s, 300ms), 10s - 100ms - 2ms - 300ms);
  holdfast::seam::client_options o;
  o.clock_skew = 488ms;  // 1 s, less a hundredth and 2 ms, less this: 500 ms
  EXPECT_EQ(ttl_fault(1s, o), "");
  o.clock_skew = 488ms + 1ns;
  EXPECT_NE(ttl_fault(1s, o), "");
  EXPECT_FALSE(limit_fault(10s, 10s).code);
  EXPECT_EQ(limit_fault(10s + 1ns, 10s).code, errc::bad_option);
  EXPECT_EQ(limit_fault(11s, 10s).text,
            "the ttl is longer than max-ttl, which is 10 s; give all clients of these servers a "
            "larger ?max-ttl=");
}

}  // namespace
