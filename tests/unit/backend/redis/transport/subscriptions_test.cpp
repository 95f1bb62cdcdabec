#include "backend/redis/transport/subscriptions.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point listening_since{100s};

class listener final : public message_handler {
 public:
  void on_subscribed(time_point, base::event_queue&) override { heard += "+"; }
  void on_message(std::string_view payload, time_point, base::event_queue&) override {
    heard += payload;
    if (on_each) on_each();
  }
  std::string heard;
  std::function<void()> on_each;
};

class redis_subscriptions : public testing::Test {
 protected:
  std::string requested() {
    std::string out;
    all.request_missing([&](std::string_view channel) { out += std::string(channel) + ' '; });
    return out;
  }
  std::string dropped(time_point now) {
    std::string out;
    all.drop_unused(now, [&](std::string_view channel) { out += std::string(channel) + ' '; });
    return out;
  }
  void confirm(std::string_view channel) {
    all.on_confirmed(channel);
    all.notify_subscribed(channel, listening_since, events);
  }
  void send(std::string_view channel, std::string_view text) {
    all.on_message(channel, text, listening_since, events);
  }
  base::event_queue events;
  subscriptions all;
  listener a, b;
};

TEST_F(redis_subscriptions, request_each_channel_once) {
  all.add("one", a);
  all.add("one", b);
  EXPECT_EQ(requested(), "one ");
  EXPECT_EQ(requested(), "");
  all.add("two", a);
  EXPECT_EQ(requested(), "two ");
}

TEST_F(redis_subscriptions, are_active_once_the_server_has_confirmed_them) {
  all.add("one", a);
  requested();
  EXPECT_FALSE(all.is_active("one"));
  confirm("one");
  EXPECT_TRUE(all.is_active("one"));
  EXPECT_EQ(a.heard, "+");
  confirm("unknown");
  EXPECT_FALSE(all.is_active("unknown"));
}

TEST_F(redis_subscriptions, deliver_to_all_subscribers_of_a_channel) {
  all.add("one", a);
  all.add("one", b);
  all.add("two", b);
  send("one", "x");
  send("two", "y");
  send("three", "z");
  EXPECT_EQ(a.heard, "x");
  EXPECT_EQ(b.heard, "xy");
}

TEST_F(redis_subscriptions, are_requested_anew_after_the_connection_was_lost) {
  all.add("one", a);
  requested();
  confirm("one");
  all.on_lost();
  EXPECT_FALSE(all.is_active("one"));
  EXPECT_EQ(requested(), "one ");
  all.on_confirmed("one");
  all.notify_subscribed(listening_since, events);  // with all others, when the handshake is done
  EXPECT_EQ(a.heard, "++");
}

TEST_F(redis_subscriptions, keep_an_unused_channel_for_a_moment) {
  all.add("one", a);
  requested();
  confirm("one");
  all.remove("one", a, listening_since);
  EXPECT_EQ(all.next_drop(), listening_since + 1s);
  EXPECT_EQ(dropped(listening_since + 999ms), "");
  EXPECT_TRUE(all.is_active("one"));
  EXPECT_EQ(dropped(listening_since + 1s), "one ");
  EXPECT_FALSE(all.is_active("one"));
  EXPECT_EQ(all.next_drop(), base::never);
}

TEST_F(redis_subscriptions, use_a_channel_again_that_was_not_dropped_yet) {
  all.add("one", a);
  requested();
  confirm("one");
  all.remove("one", a, listening_since);
  all.add("one", b);
  EXPECT_EQ(requested(), "");
  EXPECT_EQ(dropped(listening_since + 1h), "");
  send("one", "x");
  EXPECT_EQ(a.heard, "+");
  EXPECT_EQ(b.heard, "x");
}

TEST_F(redis_subscriptions, keep_a_channel_that_another_listener_uses) {
  all.add("one", a);
  all.add("one", b);
  requested();
  confirm("one");
  all.remove("one", a, listening_since);
  EXPECT_EQ(dropped(listening_since + 1h), "");
  EXPECT_TRUE(all.is_active("one"));
}

TEST_F(redis_subscriptions, keep_a_channel_that_was_used_again_before_it_was_confirmed) {
  all.add("one", a);
  requested();
  all.remove("one", a, listening_since);
  all.add("one", b);
  EXPECT_EQ(dropped(listening_since + 1s), "");
  confirm("one");
  EXPECT_EQ(dropped(listening_since + 1h), "");
  EXPECT_TRUE(all.is_active("one"));
}

TEST_F(redis_subscriptions, wait_for_a_confirmation_before_a_channel_is_dropped) {
  all.add("one", a);
  requested();
  all.remove("one", a, listening_since);
  EXPECT_EQ(dropped(listening_since + 1s), "");
  confirm("one");
  EXPECT_EQ(dropped(listening_since + 2s), "one ");
}

TEST_F(redis_subscriptions, that_were_refused_are_requested_again) {
  all.add("one", a);
  requested();
  confirm("one");
  all.add("two", a);
  all.add("three", a);
  requested();
  all.on_refused();
  confirm("three");
  EXPECT_TRUE(all.is_active("one"));
  const std::string again = requested();
  EXPECT_TRUE(again == "two three " || again == "three two ") << again;
  confirm("two");
  EXPECT_TRUE(all.is_active("two"));
}

TEST_F(redis_subscriptions, that_were_refused_are_dropped_without_a_word) {
  all.add("one", a);
  requested();
  all.on_refused();
  all.remove("one", a, listening_since);
  EXPECT_EQ(dropped(listening_since + 1s), "");
  EXPECT_EQ(requested(), "");
}

TEST_F(redis_subscriptions, drop_what_was_never_requested_without_a_word) {
  all.add("one", a);
  all.remove("one", a, listening_since);
  EXPECT_EQ(dropped(listening_since + 1s), "");
  EXPECT_EQ(requested(), "");
}

TEST_F(redis_subscriptions, do_not_request_an_unused_channel_again_that_the_server_has_ended) {
  all.add("one", a, channel_kind::sharded);
  requested();
  confirm("one");
  all.remove("one", a, listening_since);
  EXPECT_TRUE(all.on_ended("one", listening_since, events));
  EXPECT_EQ(requested(), "");
  all.add("one", b, channel_kind::sharded);
  EXPECT_EQ(requested(), "one ");
  EXPECT_EQ(dropped(listening_since + 1s), "") << "it is in use again";
}

TEST_F(redis_subscriptions, a_listener_may_leave_while_it_is_called) {
  all.add("one", a);
  all.add("one", b);
  a.on_each = [&] { all.remove("one", a, listening_since); };
  send("one", "x");
  EXPECT_EQ(b.heard, "x");
  send("one", "y");
  EXPECT_EQ(a.heard, "x");
  EXPECT_EQ(b.heard, "xy");
}

TEST_F(redis_subscriptions, a_listener_that_another_one_has_ended_is_not_called) {
  all.add("one", a);
  all.add("one", b);
  a.on_each = [&] { all.remove("one", b, listening_since); };
  send("one", "x");
  EXPECT_EQ(a.heard, "x");
  EXPECT_EQ(b.heard, "");
}

TEST_F(redis_subscriptions, a_channel_that_was_used_again_meanwhile_is_kept_from_then_on) {
  all.add("one", a);
  requested();
  confirm("one");
  all.remove("one", a, listening_since);
  all.add("one", b);
  all.remove("one", b, listening_since + 500ms);
  EXPECT_EQ(dropped(listening_since + 1s), "");
  EXPECT_TRUE(all.is_active("one"));
  EXPECT_EQ(dropped(listening_since + 1500ms), "one ");
}

TEST_F(redis_subscriptions, the_end_of_an_unknown_channel_is_none) {
  EXPECT_FALSE(all.on_ended("one", listening_since, events));
  EXPECT_FALSE(all.is_sharded("one"));
  all.remove("one", a, listening_since);
  EXPECT_EQ(all.next_drop(), base::never);
}

TEST_F(redis_subscriptions, a_listener_that_does_not_listen_does_not_end_a_channel) {
  all.add("one", a);
  all.remove("one", b, listening_since);
  EXPECT_EQ(all.next_drop(), base::never);
}

TEST_F(redis_subscriptions, the_own_channel_keeps_its_name_until_the_connection_is_lost) {
  EXPECT_EQ(all.own(), "");
  all.renew_own(5);
  EXPECT_EQ(all.own(), "hf:own:5");
  all.renew_own(6);
  EXPECT_EQ(all.own(), "hf:own:5");
  all.on_lost();
  EXPECT_EQ(all.own(), "");
  all.renew_own(6);
  EXPECT_EQ(all.own(), "hf:own:6");
}

TEST_F(redis_subscriptions, plain_channels_are_requested_without_the_sharded_ones) {
  all.add("plain", a);
  all.add("{sharded}", a, channel_kind::sharded);
  std::string out;
  all.request_missing_plain([&](std::string_view channel) { out += channel; });
  EXPECT_EQ(out, "plain");
  EXPECT_EQ(requested(), "{sharded} ");
}

}  // namespace
}  // namespace holdfast::redis
