#include "claim/store_claim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/claim/scripted_store.hpp"

namespace holdfast::claims {
namespace {

using namespace std::chrono_literals;
using claim = scripted::claim;
using operation = scripted::operation;
using reply = scripted::reply;
using step = scripted::step;

static_assert(store_of<scripted::store, claim>);
static_assert(with_succession<scripted::recipe> && !with_waiter_check<scripted::recipe>);

class store_claim_case : public testing::Test {
 protected:
  std::unique_ptr<claim> open(std::deque<step> steps, sink& to) {
    store.steps = std::move(steps);
    auto made = std::make_unique<claim>(store, "a", to);
    store.news();
    return made;
  }
  scripted::store store;
  sink heard, next_heard;
};

TEST_F(store_claim_case, effects_are_carried_out_in_one_order) {
  const auto c = open({{.orphan = true,
                        .new_owner = true,
                        .sleeps = true,
                        .send = operation::take,
                        .wake = store.clock.now() + 1s}},
                      heard);
  c->acquire({});
  EXPECT_EQ(store.news(), "orphan owner take sleep after deliver flush");
}

TEST_F(store_claim_case, an_answer_that_is_returned_takes_the_place_of_the_sleep) {
  const auto c =
      open({{.sleeps = true, .send = operation::take, .wake = store.clock.now() + 1s}}, heard);
  store.answers = {{.event = claim_event::granted}};
  c->acquire({});
  EXPECT_EQ(store.news(), "take after deliver flush");
  EXPECT_EQ(heard.heard, "g");
}

TEST_F(store_claim_case, what_is_meant_for_others_is_delivered_after_the_step) {
  const auto other = open({}, next_heard);
  const auto c = open({{.send = operation::take}}, heard);
  store.outbox = {{other.get(), {.event = claim_event::wanted}}};
  c->acquire({});
  EXPECT_EQ(store.news(), "take after deliver after flush");
  EXPECT_EQ(next_heard.heard, "w");
}

TEST_F(store_claim_case, a_ticket_is_noted_whenever_a_lease_is_extended) {
  const auto c = open({{.send = operation::take}}, heard);
  const reply r{.ticket = 7, .event = claim_event::extended | claim_event::wanted};
  store.answers = {r};
  c->renew(1s, 7);
  EXPECT_EQ(heard.heard, "wx");
  EXPECT_EQ(heard.ticket, 7u);
  event_queue events;
  {
    const std::lock_guard guard(store.mutex());
    c->on_reply({.ticket = 8, .event = claim_event::extended}, {}, store.clock.now(), events);
  }
  events.dispatch();
  EXPECT_EQ(heard.ticket, 8u);
}

TEST_F(store_claim_case, what_is_given_up_becomes_an_orphan) {
  const auto c = open({}, heard);
  event_queue events;
  {
    const std::lock_guard guard(store.mutex());
    c->give_up(errc::closed, "it was closed", store.clock.now(), events);
  }
  events.dispatch();
  EXPECT_EQ(store.news(), "orphan after");
  EXPECT_EQ(heard.failure.text, "it was closed");
}

TEST_F(store_claim_case, a_failure_has_the_text_of_its_reply_or_a_fixed_one) {
  const step refused{.event = claim_event::refused, .why = errc::unavailable};
  const step busy{.event = claim_event::refused, .why = errc::timed_out};
  const auto c = open({refused, busy, refused}, heard);
  event_queue events;
  {
    const std::lock_guard guard(store.mutex());
    const reply r{.event = claim_event::refused, .why = errc::refused};
    c->on_reply(r, "the server says no", store.clock.now(), events);
  }
  events.dispatch();
  EXPECT_EQ(heard.failure.text, "the server says no");
  c->acquire({});
  EXPECT_EQ(heard.failure.text, "a fixed sentence");
  c->acquire({});
  EXPECT_EQ(heard.failure.text, "");
  c->acquire({.note = "mine"});
  EXPECT_EQ(c->note(), "") << "the reason has taken its place";
  c->acquire({.note = "mine"});
  EXPECT_EQ(c->note(), "mine");
}

TEST_F(store_claim_case, a_store_may_refuse_to_begin_a_verb) {
  const auto c = open({{.send = operation::take}, {.send = operation::give}}, heard);
  store.refused = verb::acquire;
  c->acquire({});
  EXPECT_EQ(store.news(), "after deliver flush");
  EXPECT_EQ(heard.failure.code, errc::closed);
  store.refused = verb::renew;
  c->renew(1s, 1);
  EXPECT_EQ(store.news(), "after deliver");
  store.refused = verb::release;
  c->release(nullptr);
  EXPECT_EQ(store.news(), "orphan after deliver flush") << "what would be sent is given up";
}

TEST_F(store_claim_case, a_release_that_sends_nothing_ends_with_the_reason_of_its_recipe) {
  const auto c = open({{.event = claim_event::ended, .why = errc::not_held}}, heard);
  store.refused = verb::release;
  c->release(nullptr);
  EXPECT_EQ(store.news(), "after deliver flush") << "nothing is left at the store";
  EXPECT_EQ(heard.heard, "e");
  EXPECT_EQ(heard.failure.code, errc::not_held);
}

TEST_F(store_claim_case, a_busy_lock_needs_no_text_and_takes_no_note_away) {
  const auto c = open({{.event = claim_event::refused, .why = errc::timed_out}}, heard);
  c->acquire({.note = "mine"});
  EXPECT_EQ(heard.failure.code, errc::timed_out);
  EXPECT_EQ(c->note(), "mine");
}

TEST_F(store_claim_case, a_successor_requests_in_the_step_of_the_release) {
  const auto next = open({{.new_owner = true}, {.send = operation::take}}, next_heard);
  const auto c = open({{.send = operation::give}, {.send = operation::give}}, heard);
  const seam::successor after{next.get(), {.note = "mine", .permits = 3}};
  store.takes_next = true;
  c->release(&after);
  EXPECT_EQ(store.news(), "owner after give+take after deliver flush");
  EXPECT_EQ(next->details.permits, 3u) << "it is a request like any other";
  EXPECT_EQ(next->note(), "mine");
  store.takes_next = false;
  c->release(&after);
  EXPECT_EQ(store.news(), "give after deliver flush take after deliver flush");
}

TEST_F(store_claim_case, a_release_that_others_wait_for_is_written_at_once) {
  const auto c = open({{.send = operation::give}}, heard);
  event_queue nobody;
  c->on([](scripted::recipe& r) { return r.held.others_wait = true, step(); }, {}, nobody);
  store.news();
  c->release(nullptr);
  EXPECT_EQ(store.news(), "give after deliver flush:now");
}

TEST_F(store_claim_case, a_release_that_the_store_knows_a_waiter_of_is_written_at_once) {
  const auto c = open({{.send = operation::give}}, heard);
  store.waiter_is_known = true;
  store.news();
  c->release(nullptr);
  EXPECT_EQ(store.news(), "give after deliver flush:now");
}

TEST_F(store_claim_case, no_random_number_is_drawn_for_a_sleep_that_never_ends) {
  const step forever{.sleeps = true, .wake = base::never, .spread = 1s};
  const auto c = open({forever}, heard);
  scripted::store same;
  c->cancel();
  EXPECT_EQ(store.news(), "sleep:never after deliver flush");
  std::byte here[8], there[8];
  store.clock.random(here);
  same.clock.random(there);
  EXPECT_EQ(std::to_integer<int>(here[0]), std::to_integer<int>(there[0]));
}

TEST_F(store_claim_case, a_doubt_follows_an_extension_and_is_reported_only_while_it_lasts) {
  const auto c = open({}, heard);
  event_queue events;
  const auto doubt = [&](bool lasts) {
    const std::lock_guard guard(store.mutex());
    c->on(
        [&](scripted::recipe& r) {
          r.doubted = lasts;
          return step{.event = claim_event::doubtful | claim_event::extended};
        },
        {}, events);
  };
  doubt(true);
  events.dispatch();
  EXPECT_EQ(heard.heard, "xd");
  doubt(false);
  events.dispatch();
  EXPECT_EQ(heard.heard, "xdx");
}

TEST_F(store_claim_case, a_sleep_ends_within_its_spread) {
  const time_point wake = store.clock.now() + 1s;
  const step naps{.sleeps = true, .wake = wake, .spread = 10ms};
  const auto c = open(std::deque<step>(200, naps), heard);
  time_point earliest = base::never, latest{};
  for (int i = 0; i < 200; ++i) {
    c->cancel();
    earliest = std::min(earliest, store.wakes);
    latest = std::max(latest, store.wakes);
  }
  EXPECT_GE(earliest, wake);
  EXPECT_LT(earliest, wake + 2ms);
  EXPECT_GT(latest, wake + 8ms);
  EXPECT_LT(latest, wake + 10ms);
}

TEST_F(store_claim_case, a_grant_shows_whether_others_waited_by_then) {
  const auto c = open({{.event = claim_event::granted}, {.event = claim_event::granted}}, heard);
  c->acquire({});
  EXPECT_FALSE(heard.grant.others_wait);
  event_queue none;
  c->on([](scripted::recipe& r) { return r.held.others_wait = true, step(); }, {}, none);
  c->acquire({});
  EXPECT_TRUE(heard.grant.others_wait);
}

TEST_F(store_claim_case, a_loss_has_its_reason_and_takes_no_note_away) {
  const auto c = open({{.event = claim_event::granted},
                       {.event = claim_event::lost, .why = errc::lost},
                       {.event = claim_event::lost, .why = errc::not_held}},
                      heard);
  c->acquire({.note = "mine"});
  c->cancel();
  EXPECT_EQ(heard.loss, errc::lost);
  EXPECT_EQ(c->note(), "mine");
  c->cancel();
  EXPECT_EQ(heard.loss, errc::not_held);
}

TEST_F(store_claim_case, an_end_has_its_reason_or_none) {
  const auto c = open({{.event = claim_event::ended},
                       {.event = claim_event::ended, .why = errc::not_held},
                       {.event = claim_event::ended, .why = errc::outcome_unknown}},
                      heard);
  c->cancel();
  EXPECT_FALSE(heard.failure.code);
  c->cancel();
  EXPECT_EQ(heard.failure.code, errc::not_held);
  EXPECT_EQ(heard.failure.text, "");
  c->cancel();
  EXPECT_EQ(heard.failure.code, errc::outcome_unknown);
  EXPECT_EQ(heard.failure.text, "a fixed sentence");
}

TEST_F(store_claim_case, a_request_without_a_note_has_not_that_of_the_last_one) {
  const auto c = open({}, heard);
  c->acquire({.note = "mine"});
  EXPECT_EQ(c->note(), "mine");
  c->acquire({});
  EXPECT_EQ(c->note(), "");
}

TEST_F(store_claim_case, a_request_for_the_release_reaches_the_holder) {
  const auto c = open({{.event = claim_event::revocation}}, heard);
  c->cancel();
  EXPECT_EQ(heard.heard, "v");
}

TEST_F(store_claim_case, a_downgrade_is_written_soon_and_only_where_the_store_begins_it) {
  const auto c = open({{.send = operation::take}, {.send = operation::take}}, heard);
  c->downgrade();
  EXPECT_EQ(store.news(), "take after deliver flush");
  store.refused = verb::downgrade;
  c->downgrade();
  EXPECT_EQ(store.news(), "after deliver flush");
}

// A heartbeat extends the lease while another thread dispatches the grant: run under TSan.
TEST_F(store_claim_case, a_lease_may_be_extended_while_its_grant_is_dispatched) {
  std::deque<step> grants(200, step{.event = claim_event::granted});
  const auto c = open(std::move(grants), heard);
  std::thread heartbeat([&] {
    for (int i = 0; i < 200; ++i) {
      event_queue nobody;
      const std::lock_guard guard(store.mutex());
      c->on(
          [&](scripted::recipe& r) {
            r.held.deadline = base::time_point(base::duration(i));
            return step();
          },
          {}, nobody);
    }
  });
  for (int i = 0; i < 200; ++i) c->acquire({});
  heartbeat.join();
  EXPECT_EQ(heard.heard, std::string(200, 'g'));
}

}  // namespace
}  // namespace holdfast::claims
