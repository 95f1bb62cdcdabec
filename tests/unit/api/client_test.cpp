// A client: empty, closed twice, and what it tells in both forms.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <future>
#include <thread>

#include "testkit/thrown_by.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::testkit::thrown_by;

// Both forms of a call end with this code.
template <class Call>
void both_end_with(std::error_code code, Call call) {
  EXPECT_EQ(thrown_by([&] { (void)call(); }), code);
  std::error_code ec = make_error_code(errc::outcome_unknown);
  (void)call(ec);
  EXPECT_EQ(ec, code);
}

TEST(an_empty_client, has_nothing_and_reports_it) {
  holdfast::client none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.url_text(), "");
  EXPECT_FALSE(none.features().ttl);
  EXPECT_EQ(none.metrics().backend, "");
  EXPECT_TRUE(none.close());
  EXPECT_EQ(thrown_by([&] { none.mutex("job"); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { none.semaphore("job", 2); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { holdfast::redis_guard(none, "key"); }), errc::closed);
  both_end_with(errc::closed, [&](auto&... ec) { return none.holders("job", ec...); });
  both_end_with(errc::closed, [&](auto&... ec) { return none.list("", ec...); });
  both_end_with(errc::closed, [&](auto&... ec) { return none.break_lock("job", "x", ec...); });
  both_end_with(errc::closed, [&](auto&... ec) { return none.prune(ec...); });
  both_end_with(errc::closed, [&](auto&... ec) { return none.acquire_all({"a", "b"}, ec...); });
  none = holdfast::client::open("memory:");
  EXPECT_TRUE(none.mutex("job").try_acquire());
}

TEST(a_client, reports_the_same_in_both_forms) {
  auto client = holdfast::client::open("memory:");
  const auto lease = client.mutex("job").acquire({.note = "mine"});
  std::error_code ec = make_error_code(errc::mismatch);
  EXPECT_EQ(client.holders("job", ec).at(0).note, "mine");
  EXPECT_FALSE(ec);
  EXPECT_EQ(client.list("", ec).size(), 1u);
  EXPECT_FALSE(client.break_lock("job", "somebody else", ec));
  EXPECT_FALSE(ec);
  both_end_with(errc::unsupported, [&](auto&... c) { return client.prune(c...); });
  both_end_with(errc::bad_name, [&](auto&... c) { return client.holders("\n", c...); });
  both_end_with(errc::bad_name, [&](auto&... c) { return client.break_lock("\n", "x", c...); });
  EXPECT_TRUE(client.break_lock("job", lease.owner(), ec));
  client.close();
  both_end_with(errc::closed, [&](auto&... c) { return client.list("", c...); });
  both_end_with(errc::bad_url, [](auto&... c) { return holdfast::client::open("x:y:z", c...); });
}

TEST(a_client, refuses_a_foreign_lease_in_both_forms) {
  auto client = holdfast::client::open("memory:");
  const auto mine = client.recursive_mutex("mine");
  const auto table = client.shared_mutex("table");
  auto other = client.mutex("other").acquire();
  both_end_with(errc::mismatch, [&](auto&... c) { return mine.reacquire(other, c...); });
  both_end_with(errc::mismatch,
                [&](auto&... c) { return table.downgrade(std::move(other), c...); });
  EXPECT_TRUE(other.held()) << "it stays as it was";
  auto writer = table.acquire();
  std::error_code ec;
  auto reader = table.downgrade(std::move(writer), ec);
  EXPECT_FALSE(ec);
  EXPECT_TRUE(reader.held());
}

// The store answers after the close-timeout: something is left behind, which both must say.
TEST(a_client, closed_by_two_threads_is_closed_when_either_returns) {
  auto client = holdfast::client::open("memory:?latency=300ms&close-timeout=150ms");
  auto lease = client.mutex("job").acquire();
  auto first = std::async(std::launch::async, [&] { return client.close(); });
  while (lease.held()) std::this_thread::yield();
  EXPECT_FALSE(client.close()) << "it waits for the first";
  EXPECT_FALSE(first.get());
  EXPECT_FALSE(client.close()) << "and again";
}

TEST(a_lease, names_its_lock_and_its_mode) {
  const auto client = holdfast::client::open("memory:");
  auto lease = client.mutex("job").acquire();
  EXPECT_EQ(lease.name(), "job");
  EXPECT_EQ(lease.mode(), holdfast::lock_mode::exclusive);
  EXPECT_EQ(lease.permits(), 1u);
  auto moved = std::move(lease);
  EXPECT_EQ(moved.name(), "job");
  EXPECT_EQ(lease.name(), "");
  EXPECT_EQ(lease.permits(), 0u);
  const auto permits = client.semaphore("slots", 5).acquire({.permits = 3});
  EXPECT_EQ(permits.mode(), holdfast::lock_mode::permit);
  EXPECT_EQ(permits.permits(), 3u);
  const auto table = client.shared_mutex("table");
  auto writer = table.acquire();
  EXPECT_EQ(writer.mode(), holdfast::lock_mode::exclusive);
  const auto reader = table.downgrade(std::move(writer));
  EXPECT_EQ(reader.mode(), holdfast::lock_mode::shared);
  EXPECT_EQ(table.acquire_shared().mode(), holdfast::lock_mode::shared);
}

}  // namespace
