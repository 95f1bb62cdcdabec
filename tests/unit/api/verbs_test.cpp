// The forms of a verb's call: options, stop_token and error_code, each left out or given.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <cstddef>
#include <list>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using holdfast::errc;

const auto in_an_hour = [] { return std::chrono::steady_clock::now() + 1h; };

// Each form is granted, one after the other, and leaves the error_code clear.
template <class Acquire, class Attempt, class For, class Until>
void all_forms_grant(Acquire acquire, Attempt attempt, For within, Until until) {
  const std::stop_token s;
  std::error_code ec = make_error_code(errc::mismatch);
  const holdfast::acquire_options o{.note = "kept"};
  EXPECT_TRUE(acquire());
  EXPECT_TRUE(acquire(o));
  EXPECT_TRUE(acquire(s));
  EXPECT_TRUE(acquire(ec));
  EXPECT_FALSE(ec);
  EXPECT_TRUE(acquire(o, s));
  EXPECT_TRUE(acquire(o, ec));
  EXPECT_TRUE(acquire(s, ec));
  EXPECT_TRUE(acquire(o, s, ec));
  EXPECT_TRUE(attempt());
  EXPECT_TRUE(attempt(s));
  EXPECT_TRUE(attempt(ec));
  EXPECT_TRUE(attempt(o, s, ec));
  EXPECT_TRUE(within(1h));
  EXPECT_TRUE(within(1h, s));
  EXPECT_TRUE(within(1h, ec));
  EXPECT_TRUE(within(1h, o, ec));
  EXPECT_TRUE(within(1h, o, s, ec));
  EXPECT_TRUE(until(in_an_hour()));
  EXPECT_TRUE(until(in_an_hour(), s, ec));
  EXPECT_TRUE(until(in_an_hour(), o, s));
  EXPECT_TRUE(until(in_an_hour(), o, s, ec));
  EXPECT_FALSE(ec);
}

TEST(verbs, of_a_lock_take_options_a_stop_token_and_an_error_code_in_this_order) {
  const auto client = holdfast::client::open("memory:");
  const auto m = client.mutex("job");
  all_forms_grant([&](auto&&... a) { return m.acquire(a...); },
                  [&](auto&&... a) { return m.try_acquire(a...); },
                  [&](auto&&... a) { return m.try_acquire_for(a...); },
                  [&](auto&&... a) { return m.try_acquire_until(a...); });
  const auto s = client.shared_mutex("shared");
  all_forms_grant([&](auto&&... a) { return s.acquire_shared(a...); },
                  [&](auto&&... a) { return s.try_acquire_shared(a...); },
                  [&](auto&&... a) { return s.try_acquire_shared_for(a...); },
                  [&](auto&&... a) { return s.try_acquire_shared_until(a...); });
  std::error_code ec;
  EXPECT_TRUE(m.acquire({.ttl = 10s}, ec));
  EXPECT_TRUE(m.acquire({}, {}, ec)) << "braces as before";
  EXPECT_TRUE(m.try_acquire({}, ec));
}

TEST(verbs, of_several_locks_are_the_same) {
  const auto client = holdfast::client::open("memory:");
  auto a = client.mutex("a");
  auto b = client.mutex("b");
  const holdfast::multi_mutex both(a, b);
  all_forms_grant([&](auto&&... x) { return both.acquire(x...); },
                  [&](auto&&... x) { return both.try_acquire(x...); },
                  [&](auto&&... x) { return both.try_acquire_for(x...); },
                  [&](auto&&... x) { return both.try_acquire_until(x...); });
  all_forms_grant(
      [&](auto&&... x) {
        return client.acquire_all({"a", "b"}, x...);
      },
      [&](auto&&... x) {
        return client.try_acquire_all({"a", "b"}, x...);
      },
      [&](auto d, auto&&... x) {
        return client.try_acquire_all_for({"a", "b"}, d, x...);
      },
      [&](auto t, auto&&... x) {
        return client.try_acquire_all_until({"a", "b"}, t, x...);
      });
}

TEST(verbs, busy_and_broken_differ_in_every_form) {
  auto client = holdfast::client::open("memory:");
  const auto held = client.mutex("b").acquire();
  std::error_code ec = make_error_code(errc::mismatch);
  EXPECT_FALSE(client.mutex("b").try_acquire(ec));
  EXPECT_FALSE(ec) << "busy";
  EXPECT_FALSE(client.try_acquire_all({"a", "b"}));
  EXPECT_FALSE(client.try_acquire_all_for({"a", "b"}, 1ms, ec));
  EXPECT_FALSE(ec) << "busy";
  EXPECT_TRUE(client.mutex("a").try_acquire()) << "none of them is kept";
  EXPECT_FALSE(client.acquire_all({"a", "a"}, ec));
  EXPECT_EQ(ec, errc::bad_option);
  EXPECT_FALSE(client.acquire_all({"a", "\n"}, ec));
  EXPECT_EQ(ec, errc::bad_name);
  client.close();
  EXPECT_FALSE(client.try_acquire_all({"a", "b"}, ec));
  EXPECT_EQ(ec, errc::closed) << "broken";
}

// The time has passed before the second lock's turn: one attempt is left, and no wait without end.
TEST(verbs, several_locks_are_not_waited_for_beyond_the_time) {
  const auto client = holdfast::client::open("memory:");
  const auto held = client.mutex("b").acquire();
  EXPECT_FALSE(client.try_acquire_all_for({"a", "b"}, 1ns));
  EXPECT_TRUE(client.try_acquire_all_for({"a", "c"}, 1ns));
}

TEST(verbs, a_stopped_try_is_busy_and_a_stopped_wait_canceled) {
  const auto client = holdfast::client::open("memory:");
  const auto held = client.mutex("job").acquire();
  std::stop_source stop;
  stop.request_stop();
  std::error_code ec;
  EXPECT_FALSE(client.mutex("job").try_acquire(stop.get_token(), ec));
  EXPECT_FALSE(ec);
  EXPECT_FALSE(client.mutex("job").acquire(stop.get_token(), ec));
  EXPECT_EQ(ec, errc::canceled);
  EXPECT_TRUE(client.mutex("free").acquire(stop.get_token())) << "one attempt is made";
}

TEST(verbs, a_stopped_wait_reports_why_its_attempt_failed) {
  auto client = holdfast::client::open("memory:");
  const auto m = client.mutex("job");
  client.close();
  std::stop_source stop;
  stop.request_stop();
  std::error_code ec;
  EXPECT_FALSE(m.acquire(stop.get_token(), ec));
  EXPECT_EQ(ec, errc::closed);
}

// Four strings, each made when it is read. A standard view would do, but Clang 14 refuses those of
// libstdc++ 12.
struct made_on_the_fly {
  struct iterator {
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    std::string operator*() const {
      return "a name that is too long for a small string " + std::to_string(at);
    }
    iterator& operator++() { return ++at, *this; }
    void operator++(int) { ++at; }
    bool operator==(const iterator&) const = default;
    int at = 0;
  };
  iterator begin() const { return {}; }
  iterator end() const { return {4}; }
};

TEST(verbs, names_come_in_any_range_of_strings) {
  const auto client = holdfast::client::open("memory:");
  const auto size_of = [&](const holdfast::lock_names& names) {
    return client.acquire_all(names).members().size();
  };
  EXPECT_EQ(size_of(std::vector<std::string>{"a", "b", "c"}), 3u);
  EXPECT_EQ(size_of(std::set<std::string>{"a", "b"}), 2u);
  EXPECT_EQ(size_of(std::list<std::string_view>{"a", "b"}), 2u);
  const char* const words[] = {"a", "b"};
  EXPECT_EQ(size_of(words), 2u);
  const std::string c = "c";
  EXPECT_EQ(size_of({"a", c, std::string_view("d")}), 3u);
  EXPECT_EQ(size_of(made_on_the_fly{}), 4u);
  const auto set = client.acquire_all(std::vector<std::string>{"z", "y"});
  EXPECT_EQ(set.members()[0].name(), "z") << "in the order given";
}

TEST(verbs, several_locks_are_timed_lockable) {
  const auto client = holdfast::client::open("memory:");
  auto a = client.mutex("a");
  auto b = client.mutex("b");
  holdfast::multi_mutex both(a, b);
  {
    const std::unique_lock lock(both, 1h);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_FALSE(both.try_lock_for(1h)) << "it is locked: nobody waits for himself";
  }
  const auto held = client.mutex("a").acquire();
  std::unique_lock late(both, std::defer_lock);
  EXPECT_FALSE(late.try_lock_for(1ms));
  EXPECT_FALSE(late.try_lock_until(std::chrono::system_clock::now()));
  EXPECT_TRUE(client.mutex("b").try_acquire());
}

}  // namespace
