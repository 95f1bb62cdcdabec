// One candidate of an election, over the memory store. tests/contract/elections.cpp has what every
// backend shows.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "testkit/manual_environment.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/unit/cohort/noting_store.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::election;
using holdfast::errc;
using holdfast::testkit::thrown_by;

struct store_for_elections {
  holdfast::memory_store store{"elections"};
  holdfast::client client = open();
  holdfast::client open() const { return holdfast::client::open(store.url()); }
};

TEST(election, campaigns_in_every_form_of_a_verb) {
  const store_for_elections at;
  election office(at.client, "office");
  const std::stop_token s;
  std::error_code ec = make_error_code(errc::mismatch);
  const auto leads = [&](const holdfast::lease& term) {
    const bool led = office.is_leader() && &term == &office.term() && term.held();
    office.resign();
    return led && !office.is_leader() && !office.term();
  };
  EXPECT_TRUE(leads(office.campaign("a")));
  EXPECT_TRUE(leads(office.campaign("a", s)));
  EXPECT_TRUE(leads(office.campaign("a", ec)));
  EXPECT_FALSE(ec);
  EXPECT_TRUE(leads(office.campaign("a", s, ec)));
  EXPECT_TRUE(leads(office.try_campaign("a")));
  EXPECT_TRUE(leads(office.try_campaign("a", s, ec)));
  EXPECT_TRUE(leads(office.try_campaign_for(1h, "a", s)));
  EXPECT_TRUE(leads(office.try_campaign_for(1h, "a", s, ec)));
  EXPECT_TRUE(leads(office.try_campaign_until(std::chrono::steady_clock::now() + 1h, "a")));
  EXPECT_TRUE(leads(office.try_campaign_until(std::chrono::steady_clock::now() + 1h, "a", ec)));
  EXPECT_FALSE(ec);
}

TEST(election, of_another_leader_is_busy_and_that_is_no_error) {
  const store_for_elections at;
  election leader(at.client, "office"), candidate(at.open(), "office");
  leader.campaign("a");
  std::error_code ec = make_error_code(errc::mismatch);
  EXPECT_FALSE(candidate.try_campaign("b", ec));
  EXPECT_FALSE(ec);
  EXPECT_FALSE(candidate.try_campaign_for(1ms, "b"));
  EXPECT_FALSE(candidate.is_leader());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(thrown_by([&] { candidate.campaign("b", stop.get_token()); }), errc::canceled);
  candidate.campaign("b", stop.get_token(), ec);
  EXPECT_EQ(ec, errc::canceled);
}

TEST(election, campaign_of_the_leader_keeps_its_term_and_its_value) {
  const store_for_elections at;
  election office(at.client, "office");
  const auto token = office.campaign("a").token();
  EXPECT_EQ(office.campaign("b").token(), token);
  EXPECT_EQ(office.try_campaign("b").token(), token);
  EXPECT_EQ(office.observe().value().note, "a");
}

TEST(election, an_empty_value_is_the_note_of_the_defaults) {
  const store_for_elections at;
  election office(at.client, "office", {.note = "by default"});
  office.campaign("");
  EXPECT_EQ(office.observe().value().note, "by default");
}

TEST(election, refuses_a_value_that_is_no_note) {
  const store_for_elections at;
  election office(at.client, "office");
  EXPECT_EQ(thrown_by([&] { office.campaign(std::string(257, 'a')); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { office.campaign("two\nlines"); }), errc::bad_option);
  EXPECT_FALSE(office.is_leader());
}

TEST(election, reports_at_its_resignation_whether_it_led_until_then) {
  const store_for_elections at;
  auto store = at.store;
  election office(at.client, "office", {.ttl = 400ms});  // a renewal reports the removal
  EXPECT_EQ(thrown_by([&] { office.resign(); }), errc::not_held);
  office.campaign("a");
  ASSERT_TRUE(store.remove("office"));
  std::error_code ec;
  while (office.is_leader()) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(office.term()) << "it stays until the resignation";
  EXPECT_TRUE(office.term().in_doubt());
  office.resign(ec);
  EXPECT_EQ(ec, errc::lost);
  EXPECT_FALSE(office.term());
}

TEST(election, a_deposed_leader_campaigns_again_under_a_later_token) {
  const store_for_elections at;
  auto store = at.store;
  election office(at.client, "office");
  const auto token = office.campaign("a").token();
  store.advance(1h);
  EXPECT_FALSE(office.is_leader());
  EXPECT_GT(office.campaign("a").token(), token);
  EXPECT_TRUE(office.is_leader());
}

TEST(election, is_in_doubt_until_a_renewal_is_confirmed) {
  const store_for_elections at;
  auto store = at.store;
  election office(at.client, "office", {.ttl = 10s, .renew = holdfast::renewal::manual});
  office.campaign("a");
  EXPECT_FALSE(office.term().in_doubt());
  const std::stop_token doubt = office.term().doubt_token();
  store.advance(9500ms);
  EXPECT_TRUE(office.is_leader());
  EXPECT_TRUE(office.term().in_doubt());
  store.advance(1h);
  EXPECT_FALSE(office.is_leader());
  EXPECT_TRUE(office.term().in_doubt());
}

TEST(election, that_ends_resigns) {
  const store_for_elections at;
  const election observer(at.open(), "office");
  {
    election office(at.client, "office");
    office.campaign("a");
    EXPECT_TRUE(observer.observe());
  }
  EXPECT_TRUE(election(at.open(), "office").try_campaign_for(1h, "b"));
}

TEST(an_observer, gets_the_first_state_and_each_change_of_it) {
  const store_for_elections at;
  const election observed(at.open(), "office");
  election office(at.client, "office");
  std::stop_source stop;
  std::vector<std::string> seen;
  observed.observe(
      [&](const std::optional<holdfast::holder>& leader) {
        seen.push_back(leader ? leader->note : "nobody");
        if (seen.size() == 1) office.campaign("a");
        if (seen.size() == 2) {
          office.resign();
          office.campaign("b");
        }
        if (seen.size() == 3) office.resign();
        if (seen.size() == 4) stop.request_stop();
      },
      stop.get_token(), 10ms);
  EXPECT_EQ(seen, (std::vector<std::string>{"nobody", "a", "b", "nobody"}));
}

TEST(an_observer, gets_each_change_of_a_store_without_tokens) {
  holdfast::testkit::manual_environment env;
  const auto client = holdfast::cohort_tests::noting_store::open(env);
  std::stop_source stop;
  const std::vector<std::string> owners = {"no quorum", "", "a", "a", "", "a", "b"};
  auto next = owners.begin();
  holdfast::cohort_tests::noting_store::of(client).on_holders = [&](auto& to) {
    const std::string& owner = *next;
    if (++next == owners.end()) stop.request_stop();
    if (owner == "no quorum") return to.on_failed({errc::no_quorum, {}});
    std::vector<holdfast::holder> now;
    if (!owner.empty()) now.emplace_back().owner = owner;
    to.on_result(std::move(now));
  };
  std::vector<std::string> seen;
  election(client, "office")
      .observe([&](const auto& leader) { seen.push_back(leader ? leader->owner : "nobody"); },
               stop.get_token(), 10ms);
  EXPECT_EQ(seen, (std::vector<std::string>{"nobody", "a", "nobody", "a", "b"}));
}

// A lock file shows its former holder until the new one has written its record.
TEST(an_observer, reports_a_term_that_has_ended_only_if_it_is_there_again_at_the_next_poll) {
  holdfast::testkit::manual_environment env;
  const auto client = holdfast::cohort_tests::noting_store::open(env);
  std::stop_source stop;
  const std::string polls = "a.ab.bc.cc";
  std::size_t poll = 0;
  holdfast::cohort_tests::noting_store::of(client).on_holders = [&](auto& to) {
    std::vector<holdfast::holder> now;
    if (const char c = polls[poll]; c != '.') {
      now.emplace_back().owner = c;
      now.back().token = c - 'a' + 1;
    }
    if (++poll == polls.size()) stop.request_stop();
    to.on_result(std::move(now));
  };
  std::string seen;
  election(client, "office")
      .observe([&](const auto& leader) { seen += leader ? leader->owner : "."; }, stop.get_token(),
               10ms);
  EXPECT_EQ(seen, "a.b.c.c");
}

TEST(an_observer, polls_on_through_an_outage) {
  holdfast::memory_store store("elections with outages");
  const auto client = holdfast::client::open(store.url() + "?op-timeout=50ms");
  const election observed(client, "office");
  election office(holdfast::client::open(store.url()), "office");
  std::stop_source stop;
  std::vector<std::string> seen;
  std::jthread end_outage;
  const auto begin_outage = [&] {
    store.begin_outage();
    end_outage = std::jthread([&] {
      // The outage lasts for several polls of the observer.
      for (int failed = 0; failed < 4;) {
        std::error_code ec;
        (void)client.holders("office", ec);
        failed += ec == errc::unavailable;
      }
      store.end_outage();
      office.campaign("a");
    });
  };
  observed.observe(
      [&](const std::optional<holdfast::holder>& leader) {
        seen.push_back(leader ? leader->note : "nobody");
        if (seen.size() == 1) begin_outage();
        if (leader) stop.request_stop();
      },
      stop.get_token(), 10ms);
  EXPECT_EQ(seen, (std::vector<std::string>{"nobody", "a"}));
}

TEST(an_observer, refuses_an_interval_that_is_out_of_range) {
  const store_for_elections at;
  const election office(at.client, "office");
  const auto ignore = [](const std::optional<holdfast::holder>&) {};
  for (const auto interval : {0ms, 9ms, std::chrono::milliseconds(1h) + 1ms, -1ms}) {
    EXPECT_EQ(thrown_by([&] { office.observe(ignore, {}, interval); }), errc::bad_option);
    std::error_code ec;
    office.observe(ignore, {}, interval, ec);
    EXPECT_EQ(ec, errc::bad_option);
  }
  EXPECT_EQ(thrown_by([&] { office.observe(nullptr, {}); }), errc::bad_option);
}

TEST(an_observer, reports_what_no_later_poll_can_change) {
  const store_for_elections at;
  auto client = at.open();
  const election office(client, "office");
  EXPECT_TRUE(client.close());
  std::error_code ec;
  EXPECT_FALSE(office.observe(ec));
  EXPECT_EQ(ec, errc::closed);
  EXPECT_EQ(thrown_by([&] { office.observe([](auto&) {}, {}); }), errc::closed);
}

}  // namespace
