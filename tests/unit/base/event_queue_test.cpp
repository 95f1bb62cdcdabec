#include "base/event_queue.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/intrusive_queue.hpp"

namespace holdfast::base {
namespace {

// Writes its events down, one letter each.
struct noted_source final : event_source {
  noted_source(std::string& to, char first_letter) : log(to), letter(first_letter) {}
  void on_event(claim_event e) override {
    log += letter;
    log += std::to_string(static_cast<int>(e));
    also(e);
  }
  void on_retired() noexcept override { log += "retired"; }

  std::string& log;
  char letter;
  std::function<void(claim_event)> also = [](claim_event) {};
};

class event_queues : public testing::Test {
 protected:
  std::string log;
  noted_source a{log, 'a'}, b{log, 'b'};
  event_queue events;
};

TEST_F(event_queues, dispatch_in_the_order_of_their_posts_and_once) {
  events.post(b, claim_event::granted);
  events.post(a, claim_event::refused);
  events.post(b, claim_event::wanted);
  events.dispatch();
  EXPECT_EQ(log, "b1b4a2");
  events.dispatch();
  EXPECT_EQ(log, "b1b4a2");
  events.post(a, claim_event::lost);
  events.dispatch();
  EXPECT_EQ(log, "b1b4a2a64");
}

TEST_F(event_queues, report_the_events_of_a_claim_in_one_order) {
  events.post(a, claim_event::lost);
  events.post(a, claim_event::revocation | claim_event::doubtful);
  events.post(a, claim_event::granted);
  events.post(a, claim_event::extended);
  events.post(a, claim_event::wanted);
  events.dispatch();
  EXPECT_EQ(log, "a1a4a8a16a32a64");
  EXPECT_FALSE(a.is_dispatching());
}

TEST_F(event_queues, leave_what_is_posted_meanwhile_to_the_thread_that_dispatches) {
  a.also = [&](claim_event e) {
    EXPECT_TRUE(a.is_dispatching());
    EXPECT_TRUE(event_queue::dispatching_here());
    if (e != claim_event::granted) return;
    EXPECT_FALSE(a.post(claim_event::wanted));
  };
  events.post(a, claim_event::granted);
  events.dispatch();
  EXPECT_EQ(log, "a1a4");
  EXPECT_FALSE(event_queue::dispatching_here());
}

TEST_F(event_queues, report_nothing_after_the_end_of_a_claim) {
  events.post(a, claim_event::ended);
  events.post(a, claim_event::wanted);
  events.dispatch();
  EXPECT_EQ(log, "a4a128");
  events.post(a, claim_event::refused | claim_event::lost);
  events.dispatch();
  EXPECT_EQ(log, "a4a128a2") << "a refused claim has lost nothing";
}

TEST_F(event_queues, free_a_claim_that_its_last_event_has_retired) {
  a.also = [&](claim_event) { EXPECT_FALSE(a.retire()) << "it is in use"; };
  events.post(a, claim_event::ended);
  events.dispatch();
  EXPECT_EQ(log, "a128retired");
  EXPECT_TRUE(b.retire());
}

TEST_F(event_queues, hold_several_events_in_a_mask) {
  constexpr claim_event both = claim_event::granted | claim_event::wanted;
  EXPECT_TRUE(has(both, claim_event::granted));
  EXPECT_TRUE(has(both, claim_event::wanted));
  EXPECT_FALSE(has(both, claim_event::refused));
  EXPECT_FALSE(has(claim_event::none, claim_event::granted));
}

struct linked_number {
  int value = 0;
  linked_number* next = nullptr;
};

TEST(intrusive_queues, are_first_in_first_out) {
  linked_number one{1}, two{2}, three{3};
  intrusive_queue<linked_number, &linked_number::next> all;
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(all.pop(), nullptr);
  EXPECT_EQ(all.take_all(), nullptr);
  for (linked_number* const n : {&one, &two, &three}) all.push(*n);
  EXPECT_EQ(all.pop(), &one);
  all.push(one);
  EXPECT_FALSE(all.empty());
  EXPECT_EQ(all.take_all(), &two);
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(two.next, &three);
  EXPECT_EQ(three.next, &one);
  EXPECT_EQ(one.next, nullptr);
  all.push(two);
  EXPECT_EQ(all.pop(), &two);
  EXPECT_TRUE(all.empty());
}

}  // namespace
}  // namespace holdfast::base
