// The acquire_options that a lock is made with.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <mutex>
#include <shared_mutex>
#include <string>

namespace {

using namespace std::chrono_literals;
using holdfast::errc;

struct lock_defaults : ::testing::Test {
  holdfast::client client = holdfast::client::open("memory:");
  std::string note_of(std::string_view name) const {
    const auto all = client.holders(name);
    return all.empty() ? "nobody" : all.front().note;
  }
};

TEST_F(lock_defaults, hold_for_the_guards_of_the_standard_library) {
  auto nightly = client.mutex("nightly", {.note = "nightly"});
  {
    const std::lock_guard guard(nightly);
    EXPECT_EQ(note_of("nightly"), "nightly");
  }
  auto table = client.shared_mutex("table", {.note = "reader"});
  const std::shared_lock guard(table);
  EXPECT_EQ(note_of("table"), "reader");
}

TEST_F(lock_defaults, keep_a_copy_of_the_note) {
  std::string note = "a note that is too long for a small string";
  auto job = client.mutex("job", {.note = note});
  note.assign(note.size(), 'x');
  auto moved = std::move(job);
  const auto lease = moved.acquire();
  EXPECT_EQ(note_of("job"), "a note that is too long for a small string");
}

TEST_F(lock_defaults, fill_in_what_a_call_leaves_unset) {
  const auto job = client.mutex("job", {.ttl = 10s, .note = "default", .max_hold = 1h});
  const auto expires_within = [](const holdfast::lease& l, std::chrono::seconds d) {
    return l.expires() <= holdfast::lease_clock::now() + d;
  };
  {
    const auto lease = job.acquire({.ttl = 5s});
    EXPECT_TRUE(expires_within(lease, 5s));
    EXPECT_EQ(note_of("job"), "default");
  }
  {
    const auto lease = job.acquire({.note = "own"});
    EXPECT_TRUE(expires_within(lease, 10s));
    EXPECT_EQ(note_of("job"), "own");
  }
  const auto short_hold = client.mutex("short", {.max_hold = 50ms});
  EXPECT_TRUE(expires_within(short_hold.acquire({.ttl = 20s}), 1s));
}

TEST_F(lock_defaults, leave_nothing_unset_that_is_given_as_zero) {
  const auto job = client.mutex("job", {.ttl = 10s, .max_hold = 1h});
  std::error_code ec;
  EXPECT_FALSE(job.acquire({.ttl = 0ms}, ec));
  EXPECT_EQ(ec, errc::bad_option);
  EXPECT_FALSE(job.acquire({.max_hold = 0ms}, ec));
  EXPECT_EQ(ec, errc::bad_option);
}

TEST_F(lock_defaults, of_a_semaphore_have_permits_for_calls_without_options) {
  const auto slots = client.semaphore("slots", 5, {.permits = 3});
  EXPECT_EQ(slots.acquire().permits(), 3u);
  EXPECT_EQ(slots.acquire({.note = "n"}).permits(), 1u) << "a call's options say how many";
  EXPECT_EQ(slots.try_acquire_for(1s).permits(), 3u);
}

TEST_F(lock_defaults, of_each_lock_hold_in_a_multi_mutex) {
  auto a = client.mutex("a", {.note = "of a"});
  auto b = client.mutex("b", {.note = "of b"});
  holdfast::multi_mutex both(a, b);
  {
    const std::lock_guard guard(both);
    EXPECT_EQ(note_of("a"), "of a");
    EXPECT_EQ(note_of("b"), "of b");
  }
  const auto set = both.acquire({.note = "of both"});
  EXPECT_EQ(note_of("a"), "of both");
}

TEST_F(lock_defaults, that_nobody_can_acquire_with_are_refused_at_once) {
  const auto refused = [](auto make) {
    try {
      make();
    } catch (const holdfast::lock_error& e) {
      return e.code() == errc::bad_option && e.lock() == "job";
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { client.mutex("job", {.ttl = 1ms}); }));
  EXPECT_TRUE(refused([&] { client.shared_mutex("job", {.note = "\n"}); }));
  EXPECT_TRUE(refused([&] { client.recursive_mutex("job", {.permits = 2}); }));
  EXPECT_TRUE(refused([&] { client.semaphore("job", 2, {.permits = 3}); }));
}

}  // namespace
