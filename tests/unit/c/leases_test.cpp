// Leases of the C API: modes, tokens, losses and log lines.
#include <holdfast/memory.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>

#include "tests/unit/c/fixture.hpp"

namespace holdfast::c_test {
namespace {

using namespace std::chrono_literals;

TEST(c_leases, exclude_each_other_and_have_growing_tokens) {
  const auto c = opened("memory:");
  const auto first = acquired(c, "x");
  EXPECT_EQ(holdfast_lease_held(first.get()), 1);
  EXPECT_EQ(holdfast_lease_in_doubt(first.get()), 0);
  EXPECT_EQ(holdfast_lease_check(first.get(), nullptr), HOLDFAST_OK);
  EXPECT_STREQ(holdfast_lease_name(first.get()), "x");
  EXPECT_STRNE(holdfast_lease_owner(first.get()), "");
  EXPECT_EQ(attempt(c, "x"), HOLDFAST_TIMED_OUT);
  int held = 0;
  EXPECT_EQ(holdfast_is_held(c.get(), "x", &held, nullptr), HOLDFAST_OK);
  EXPECT_EQ(held, 1);
  const auto token = holdfast_lease_token(first.get());
  EXPECT_EQ(holdfast_lease_release(first.get(), nullptr), HOLDFAST_OK);
  EXPECT_EQ(holdfast_lease_release(first.get(), nullptr), HOLDFAST_NOT_HELD);
  EXPECT_EQ(holdfast_lease_token(first.get()), 0);
  EXPECT_STREQ(holdfast_lease_name(first.get()), "x");
  EXPECT_EQ(holdfast_is_held(c.get(), "x", &held, nullptr), HOLDFAST_OK);
  EXPECT_EQ(held, 0);
  const auto second = acquired(c, "x");
  EXPECT_GT(holdfast_lease_token(second.get()), token);
}

TEST(c_leases, are_released_when_they_are_freed) {
  const auto c = opened("memory:");
  auto lease = acquired(c, "x");
  lease.reset();
  EXPECT_TRUE(acquired(c, "x"));
}

TEST(c_leases, outlive_the_handle_of_their_client) {
  auto c = opened("memory:");
  const auto lease = acquired(c, "x");
  c.reset();
  EXPECT_EQ(holdfast_lease_held(lease.get()), 1);
  EXPECT_EQ(holdfast_lease_release(lease.get(), nullptr), HOLDFAST_OK);
}

TEST(c_leases, of_readers_share_and_exclude_a_writer) {
  const auto c = opened("memory:");
  const holdfast_acquire_options read{.size = sizeof read, .mode = HOLDFAST_SHARED};
  const holdfast_acquire_options write{.size = sizeof write, .mode = HOLDFAST_EXCLUSIVE};
  auto one = acquired(c, "x", &read);
  auto two = acquired(c, "x", &read);
  EXPECT_EQ(attempt(c, "x", &write), HOLDFAST_TIMED_OUT);
  EXPECT_EQ(holdfast_lease_release(one.get(), nullptr), HOLDFAST_OK);
  EXPECT_EQ(holdfast_lease_release(two.get(), nullptr), HOLDFAST_OK);
  const auto writer = acquired(c, "x", &write);
  EXPECT_EQ(attempt(c, "x", &read), HOLDFAST_TIMED_OUT);
}

TEST(c_leases, of_permits_divide_the_total) {
  const auto c = opened("memory:");
  const holdfast_acquire_options two{.size = sizeof two,
                                     .mode = HOLDFAST_PERMIT,
                                     .permits = 2,
                                     .total_permits = 3};
  holdfast_acquire_options one = two;
  one.permits = 0;  // the default: 1
  const auto most = acquired(c, "x", &two);
  EXPECT_EQ(attempt(c, "x", &two), HOLDFAST_TIMED_OUT);
  const auto last = acquired(c, "x", &one);
  EXPECT_EQ(attempt(c, "x", &one), HOLDFAST_TIMED_OUT);
}

TEST(c_leases, have_the_ttl_of_their_options_and_are_extended) {
  holdfast_client* made = nullptr;
  const holdfast_open_options open{.size = sizeof open, .ttl_ms = 20'000};
  ASSERT_EQ(holdfast_client_open("memory:", &open, &made, nullptr), HOLDFAST_OK);
  const client_handle c(made);
  const auto by_client = acquired(c, "x");
  EXPECT_LE(holdfast_lease_remaining_ms(by_client.get()), 20'000);
  EXPECT_GT(holdfast_lease_remaining_ms(by_client.get()), 10'000);
  const holdfast_acquire_options o{.size = sizeof o,
                                   .renew = HOLDFAST_RENEW_MANUAL,
                                   .ttl_ms = 5'000};
  const auto by_options = acquired(c, "y", &o);
  EXPECT_LE(holdfast_lease_remaining_ms(by_options.get()), 5'000);
  EXPECT_EQ(holdfast_lease_extend(by_options.get(), 60'000, nullptr), HOLDFAST_OK);
  EXPECT_GT(holdfast_lease_remaining_ms(by_options.get()), 30'000);
  EXPECT_EQ(holdfast_lease_extend(by_options.get(), 1, nullptr), HOLDFAST_BAD_OPTION);
  const auto unending = opened("memory:?lifetime=process");
  EXPECT_EQ(holdfast_lease_remaining_ms(acquired(unending, "x").get()), INT64_MAX);
}

TEST(c_leases, that_are_lost_say_so_everywhere) {
  memory_store store("c-loss");
  const auto c = opened("memory:c-loss");
  const auto lease = acquired(c, "x");
  store.advance(1h);
  EXPECT_EQ(holdfast_lease_held(lease.get()), 0);
  EXPECT_EQ(holdfast_lease_in_doubt(lease.get()), 1);
  EXPECT_EQ(holdfast_lease_remaining_ms(lease.get()), 0);
  const auto sentence = failure(HOLDFAST_LOST, [&](holdfast_error** e) {
    return holdfast_lease_check(lease.get(), e);
  });
  EXPECT_NE(sentence.find("lost"), std::string::npos);
  EXPECT_EQ(holdfast_lease_extend(lease.get(), 1000, nullptr), HOLDFAST_LOST);
  EXPECT_EQ(holdfast_lease_release(lease.get(), nullptr), HOLDFAST_LOST);
}

void fulfil(void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); }
void count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

TEST(c_leases, that_are_lost_call_the_last_callback_once) {
  memory_store store("c-callback");
  const auto c = opened("memory:c-callback");
  const auto lease = acquired(c, "x");
  std::atomic<int> replaced = 0, late = 0;
  std::promise<void> lost;
  EXPECT_EQ(holdfast_lease_on_loss(lease.get(), count_up, &replaced, nullptr), HOLDFAST_OK);
  EXPECT_EQ(holdfast_lease_on_loss(lease.get(), fulfil, &lost, nullptr), HOLDFAST_OK);
  store.advance(1h);
  EXPECT_EQ(lost.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_EQ(replaced, 0);
  EXPECT_EQ(holdfast_lease_on_loss(lease.get(), count_up, &late, nullptr), HOLDFAST_OK);
  EXPECT_EQ(late, 1) << "the lease is lost already";
}

TEST(c_leases, that_are_released_call_no_callback) {
  const auto c = opened("memory:");
  const auto lease = acquired(c, "x");
  std::atomic<int> calls = 0;
  EXPECT_EQ(holdfast_lease_on_loss(lease.get(), count_up, &calls, nullptr), HOLDFAST_OK);
  EXPECT_EQ(holdfast_lease_release(lease.get(), nullptr), HOLDFAST_OK);
  EXPECT_EQ(holdfast_client_close(c.get()), 1);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(holdfast_lease_on_loss(lease.get(), count_up, &calls, nullptr), HOLDFAST_NOT_HELD);
}

struct kept_line {
  std::once_flag once;
  std::promise<std::string> first;
};

void keep_line(holdfast_log_level level, const char* line, void* context) {
  auto& to = *static_cast<kept_line*>(context);
  EXPECT_EQ(level, HOLDFAST_LOG_WARNING);
  std::call_once(to.once, [&] { to.first.set_value(line); });
}

TEST(c_leases, that_are_lost_are_logged_to_the_hook_of_their_client) {
  memory_store store("c-log");
  kept_line lines;
  const holdfast_open_options open{.size = sizeof open, .log = keep_line, .log_context = &lines};
  holdfast_client* made = nullptr;
  ASSERT_EQ(holdfast_client_open("memory:c-log", &open, &made, nullptr), HOLDFAST_OK);
  client_handle c(made);
  const auto lease = acquired(c, "nightly");
  c.reset();  // the hook stays in use while there is a lease
  store.advance(1h);
  auto seen = lines.first.get_future();
  ASSERT_EQ(seen.wait_for(30s), std::future_status::ready);
  EXPECT_NE(seen.get().find("\"nightly\""), std::string::npos);
}

}  // namespace
}  // namespace holdfast::c_test
