// The query for the holders of many locks.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

struct counted_holders final : seam::holders_handler {
  int answers = 0;
  void on_result(std::vector<holder>) override { ++answers; }
  void on_failed(base::failure) override { ADD_FAILURE(); }
};

TEST(zookeeper_holders_query, asks_about_a_few_locks_at_a_time) {
  constexpr int locks = 500, most_at_once = 100;
  std::vector<std::string> names;
  for (int i = 0; i < locks; ++i) names.push_back("lock" + std::to_string(i));
  layout_fixture t;
  counted_holders told;
  t.layout().inspect("", told);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children(names));
  int asked = 0, answered = 0;
  while (told.answers == 0) {
    const std::string sent = t.requests();
    if (!sent.empty()) asked += 1 + static_cast<int>(std::ranges::count(sent, ' '));
    ASSERT_LT(answered, asked);
    EXPECT_LE(asked - answered, most_at_once);
    t.answer(5, zookeeper::error::no_node);
    ++answered;
  }
  EXPECT_EQ(answered, locks);
}

const std::string first_in_queue = "_c_a-lock-0000000001", second_in_queue = "_c_b-lock-0000000002";

TEST(zookeeper_holders_query, shows_the_holder_and_the_number_of_waiters) {
  shown_holders to;
  layout_fixture t;
  t.layout().holders("job", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children({second_in_queue, first_in_queue}));
  EXPECT_EQ(t.requests(), "watch");
  EXPECT_NE(t.last_request.find("/job/" + first_in_queue), std::string::npos);
  t.answer(5, layout_fixture::data(9, "web7 12 a note"));
  ASSERT_TRUE(to.result && to.result->size() == 1);
  const holder& h = to.result->front();
  EXPECT_EQ(h.name + ' ' + h.owner + ' ' + h.host + ' ' + h.note,
            "job " + first_in_queue + " web7 a note");
  EXPECT_EQ(h.pid, 12);
  EXPECT_EQ(h.token, 9 * 1024);
  EXPECT_EQ(h.waiting, 1);
  EXPECT_EQ(h.mode, lock_mode::exclusive);
  EXPECT_GE(h.held_for.count(), 0);
}

TEST(zookeeper_holders_query, of_an_absent_lock_is_empty_and_of_an_unreadable_one_is_refused) {
  shown_holders absent, unreadable;
  layout_fixture t;
  t.layout().holders("job", absent);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, zookeeper::error::no_node);
  ASSERT_TRUE(absent.result);
  EXPECT_TRUE(absent.result->empty());
  t.layout().holders("job", unreadable);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, zookeeper::error::no_auth);
  EXPECT_EQ(unreadable.why.code, errc::refused);
}

TEST(zookeeper_holders_query, asks_again_about_a_lock_whose_holder_has_just_left) {
  shown_holders to;
  layout_fixture t;
  t.layout().holders("job", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children({first_in_queue}));
  EXPECT_EQ(t.requests(), "watch");
  t.answer(5, zookeeper::error::no_node);
  EXPECT_EQ(t.requests(), "list");
  t.answer(5, layout_fixture::children({second_in_queue}));
  EXPECT_EQ(t.requests(), "watch");
  t.answer(5, layout_fixture::data(9));
  ASSERT_TRUE(to.result && to.result->size() == 1);
  EXPECT_EQ(to.result->front().owner, second_in_queue);
}

TEST(zookeeper_holders_query, lists_the_locks_that_begin_so_without_those_that_cannot_be_read) {
  shown_holders to;
  layout_fixture t;
  t.layout().inspect("jo", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children({"other", "job", "jo%2Fx", "%zz", "zookeeper"}));
  EXPECT_EQ(t.requests(), "list list");
  EXPECT_NE(t.last_request.find("/job"), std::string::npos) << "in the order of the names";
  t.answer(5, zookeeper::error::no_auth);
  t.answer(5, layout_fixture::children({first_in_queue}));
  EXPECT_EQ(t.requests(), "watch");
  t.answer(5, layout_fixture::data(9));
  ASSERT_TRUE(to.result && to.result->size() == 1);
  EXPECT_EQ(to.result->front().name, "job");
}

TEST(zookeeper_holders_query, leaves_out_the_node_of_the_servers) {
  shown_holders to;
  layout_fixture t;
  t.layout().inspect("", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children({"zookeeper"}));
  EXPECT_EQ(t.requests(), "");
  ASSERT_TRUE(to.result);
  EXPECT_TRUE(to.result->empty());
}

TEST(zookeeper_holders_query, of_a_root_that_cannot_be_listed_is_refused) {
  shown_holders to;
  layout_fixture t;
  t.layout().inspect("", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, zookeeper::error::no_auth);
  EXPECT_EQ(to.why.code, errc::refused);
}

struct query_of_two_readers : layout_fixture {
  query_of_two_readers() : layout_fixture("layout=curator-rw") {
    layout().holders("job", to);
    EXPECT_EQ(requests(), "sync list");
    answer(5);
    answer(5, children({"_c_a-__READ__0000000001", "_c_b-__READ__0000000002"}));
    EXPECT_EQ(requests(), "watch watch");
  }
  shown_holders to;
};

TEST(zookeeper_holders_query, of_a_shared_lock_shows_a_holder_once_when_another_has_ended) {
  query_of_two_readers t;
  t.answer(5, layout_fixture::data(9));
  t.answer(5, zookeeper::error::no_node);
  EXPECT_EQ(t.requests(), "");
  ASSERT_TRUE(t.to.result);
  EXPECT_EQ(t.to.result->size(), 1u);
}

TEST(zookeeper_holders_query, of_a_shared_lock_follows_its_other_holders_when_one_has_ended) {
  query_of_two_readers t;
  t.answer(5, zookeeper::error::no_node);
  EXPECT_EQ(t.requests(), "") << "the lock is not free: its other holder is still asked about";
  t.answer(5, layout_fixture::data(9));
  ASSERT_TRUE(t.to.result && t.to.result->size() == 1);
  EXPECT_EQ(t.to.result->front().owner, "_c_b-__READ__0000000002");
}

TEST(zookeeper_holders_query, that_has_failed_sends_no_further_requests) {
  shown_holders to;
  layout_fixture t;
  t.layout().holders("job", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5, zookeeper::error::no_auth);
  t.answer(5, layout_fixture::children({first_in_queue}));
  EXPECT_EQ(t.requests(), "");
  EXPECT_EQ(to.why.code, errc::refused);
}

TEST(zookeeper_holders_query, that_begins_without_a_connection_is_sent_over_the_next_one) {
  shown_holders to;
  layout_fixture t;
  t.lose();
  t.layout().holders("job", to);
  t.attach_again();
  ASSERT_EQ(t.sent_again(), "sync list");
  t.answer(5);
  t.answer(5, zookeeper::error::no_node);
  ASSERT_TRUE(to.result) << to.why.text;
  EXPECT_TRUE(to.result->empty());
}

TEST(zookeeper_holders_query, shows_no_lock_as_free_when_the_connection_is_lost) {
  shown_holders to;
  layout_fixture t;
  t.layout().holders("job", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.lose();
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.code, errc::unavailable);
  t.attach_again();
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
