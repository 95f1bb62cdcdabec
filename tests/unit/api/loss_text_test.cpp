// The log lines and the error texts of a lost lease.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <string>
#include <vector>

#include "api/client_access.hpp"
#include "testkit/manual_environment.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::client;
using holdfast::errc;
using holdfast::renewal;
using holdfast::detail::client_access;

class a_lease_that_is_lost : public ::testing::Test {
 protected:
  a_lease_that_is_lost() { holdfast::set_log_hook(&take, &lines); }
  ~a_lease_that_is_lost() override { holdfast::set_log_hook(nullptr); }

  static void take(holdfast::log_level level, std::string_view line, void* to) {
    if (level == holdfast::log_level::warning)
      static_cast<std::vector<std::string>*>(to)->emplace_back(line);
  }
  template <class Verb>
  static std::string text_of(Verb verb) {
    try {
      verb();
    } catch (const holdfast::lock_error& e) {
      EXPECT_EQ(e.code(), errc::lost);
      return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }
  std::string start_of(const std::string& verb) const { return verb + " \"x\" at " + store.url(); }
  void expect_told(holdfast::lease lease, const std::string& why, std::size_t lines_told = 1) {
    ASSERT_EQ(lines.size(), lines_told);
    EXPECT_EQ(lines.back(), start_of("lease") + ": " + why);
    const std::string of_client = "?ttl=10s: ";
    EXPECT_EQ(text_of([&] { lease.check(); }), start_of("check") + of_client + why);
    EXPECT_EQ(text_of([&] { lease.extend(10s); }), start_of("extend") + of_client + why);
    EXPECT_EQ(text_of([&] { lease.release(); }), start_of("release") + of_client + why);
    EXPECT_EQ(lines.size(), lines_told) << "the caller was told: " << lines.back();
  }

  client open() {
    return client_access::open(holdfast::url::parse(store.url() + "?ttl=10s"), {}, env);
  }

  holdfast::testkit::manual_environment env;
  holdfast::memory_store store{"loss test"};
  client door = open();
  std::vector<std::string> lines;
};

TEST_F(a_lease_that_is_lost, reports_that_it_expired_and_what_prevented_its_renewal) {
  auto lease = door.mutex("x").acquire();
  store.begin_outage();
  const std::string outage = ": no renewal was confirmed in time; the memory store is in an "
                             "outage, or the client's requests "
                             "are stopped";
  env.advance(9s);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], start_of("lease") + ": it may soon be lost" + outage);
  env.advance(1s);
  ASSERT_EQ(lines.size(), 2u);
  const std::string text = text_of([&] { lease.check(); });
  EXPECT_NE(text.find("the lease was lost: it expired, because no renewal was confirmed in time; "
                      "the memory store is in an outage"),
            std::string::npos)
      << text;
  store.end_outage();
}

TEST_F(a_lease_that_is_lost, is_reported_though_only_the_clock_has_seen_it) {
  auto lease = door.mutex("x").acquire({.renew = renewal::manual});
  auto limited = door.mutex("y").acquire({.max_hold = 1s});
  env.freeze(1min);
  EXPECT_NE(text_of([&] { lease.check(); }).find("it expired"), std::string::npos);
  EXPECT_NE(text_of([&] { limited.check(); }).find("its max_hold has ended"), std::string::npos);
}

TEST_F(a_lease_that_is_lost, reports_that_its_max_hold_has_ended) {
  auto lease = door.mutex("x").acquire({.max_hold = 4s});
  env.advance(3900ms);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], start_of("lease") + ": it will soon be lost: its max_hold ends");
  env.advance(100ms);
  expect_told(std::move(lease), "the lease was lost: its max_hold has ended", 2);
}

TEST_F(a_lease_that_is_lost, reports_that_it_was_taken_away) {
  const client other = open();
  auto lease = door.mutex("x").acquire();
  store.remove("x");
  const auto theirs = other.mutex("x").acquire();
  env.advance(4s);
  expect_told(std::move(lease), "the lease was lost: the store reports another owner");
}

TEST_F(a_lease_that_is_lost, reports_that_the_store_has_no_holder) {
  auto lease = door.mutex("x").acquire();
  store.remove("x");
  env.advance(4s);
  expect_told(std::move(lease), "the lease was lost: the store no longer has a holder; the lock "
                                "was broken or deleted there, or the store has lost its data");
}

TEST_F(a_lease_that_is_lost, reports_nothing_when_it_is_released_or_closed) {
  auto lease = door.mutex("x").acquire();
  const auto other = door.mutex("y").acquire();
  lease.release();
  door.close();
  EXPECT_EQ(lines.size(), 0u);
}

}  // namespace
