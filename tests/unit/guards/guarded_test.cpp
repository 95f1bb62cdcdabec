// Resources that are used through a lease; tests/refused/ has the uses that do not compile.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "testkit/thrown_by.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::fence;
using holdfast::testkit::thrown_by;

// A store behind its own check of the token, as a database has one.
struct ledger {
  bool book(int cents, const fence& by) {
    if (!guard.admit(by.token(), by.owner())) return false;
    total += cents;
    return true;
  }
  holdfast::fencing_guard guard;
  int total = 0;
};

const auto book = [](ledger& l, const fence& by) { return l.book(5, by); };

struct store_with_a_ledger {
  holdfast::memory_store store{"guarded"};
  holdfast::client client = holdfast::client::open(store.url());
  holdfast::guarded<ledger> accounts{"accounts"};

  holdfast::lease acquire(const holdfast::acquire_options& o = {}) const {
    return client.mutex("accounts").acquire(o);
  }
  // Of both forms, which call the function or report the same reason.
  std::error_code refusal(const holdfast::lease& by) {
    int calls = 0;
    const auto use = [&](ledger&, const fence&) { ++calls; };
    const auto thrown = thrown_by([&] { accounts.with(by, use); });
    std::error_code ec;
    const bool was_called = accounts.with(by, use, ec);
    EXPECT_EQ(thrown, ec);
    EXPECT_EQ(was_called, !ec);
    EXPECT_EQ(calls, ec ? 0 : 2);
    return ec;
  }
};

TEST(guarded, is_used_with_the_token_and_the_owner_of_a_live_lease) {
  store_with_a_ledger at;
  const auto lease = at.acquire();
  EXPECT_TRUE(at.accounts.with(lease, book));
  at.accounts.with(lease, [&](const ledger& l, const fence& by) {
    EXPECT_EQ(l.total, 5);
    EXPECT_EQ(by.token(), lease.token());
    EXPECT_EQ(by.owner(), lease.owner());
    EXPECT_EQ(&by.holder(), &lease);
  });
  std::error_code ec = make_error_code(errc::mismatch);
  const std::optional<bool> booked = at.accounts.with(lease, book, ec);
  EXPECT_EQ(booked, true);
  EXPECT_FALSE(ec);
  EXPECT_EQ(at.accounts.name(), "accounts");
}

TEST(guarded, is_made_of_the_arguments_of_its_resource) {
  store_with_a_ledger at;
  holdfast::guarded<std::unique_ptr<std::string>> text("accounts",
                                                       std::make_unique<std::string>("a"));
  const auto read = [](auto& t, const fence&) { return *t; };
  EXPECT_EQ(text.with(at.acquire(), read), "a");
}

TEST(guarded, refuses_a_lease_that_is_empty_or_lost) {
  store_with_a_ledger at;
  EXPECT_EQ(at.refusal({}), errc::not_held);
  const auto lease = at.acquire();
  at.store.advance(1h);
  EXPECT_EQ(at.refusal(lease), errc::lost);
}

TEST(guarded, refuses_a_lease_in_doubt_until_a_renewal_is_confirmed) {
  store_with_a_ledger at;
  auto lease = at.acquire({.ttl = 10s, .renew = holdfast::renewal::manual});
  EXPECT_EQ(at.refusal(lease), std::error_code{});
  at.store.advance(9500ms);
  EXPECT_TRUE(lease.held());
  EXPECT_TRUE(lease.in_doubt());
  EXPECT_EQ(at.refusal(lease), errc::unavailable);
  lease.extend(10s);
  EXPECT_FALSE(lease.in_doubt());
  EXPECT_EQ(at.refusal(lease), std::error_code{});
}

TEST(guarded, refuses_a_lease_whose_longest_hold_ends) {
  store_with_a_ledger at;
  const auto lease = at.acquire({.ttl = 10s, .max_hold = 5s});
  at.store.advance(4500ms);
  EXPECT_EQ(at.refusal(lease), errc::unavailable);
}

TEST(guarded, refuses_leases_of_other_locks_and_those_that_are_not_exclusive) {
  store_with_a_ledger at;
  EXPECT_EQ(at.refusal(at.client.mutex("other").acquire()), errc::mismatch);
  EXPECT_EQ(at.refusal(at.client.shared_mutex("accounts").acquire_shared()), errc::mismatch);
  EXPECT_EQ(at.refusal(at.client.shared_mutex("accounts").acquire()), std::error_code{});
}

TEST(guarded, refuses_a_permit) {
  store_with_a_ledger at;
  EXPECT_EQ(at.refusal(at.client.semaphore("accounts", 1).acquire()), errc::mismatch);
}

TEST(guarded, refuses_an_earlier_lease_after_a_later_one) {
  // Two stores: each believes that its lease is live.
  const auto one = holdfast::client::open("memory:"), other = holdfast::client::open("memory:");
  const auto earlier = one.mutex("accounts").acquire();
  const auto later = [&] {
    for (;;)
      if (auto lease = other.mutex("accounts").acquire(); lease.token() > earlier.token())
        return lease;
  }();
  holdfast::guarded<ledger> accounts("accounts");
  EXPECT_TRUE(accounts.with(earlier, book));
  EXPECT_TRUE(accounts.with(later, book));
  EXPECT_EQ(thrown_by([&] { accounts.with(earlier, book); }), errc::lost);
  EXPECT_TRUE(accounts.with(later, book));
}

TEST(guarded, names_the_lock_and_the_reason) {
  store_with_a_ledger at;
  try {
    at.accounts.with(at.client.mutex("other").acquire(), book);
    ADD_FAILURE() << "not refused";
  } catch (const holdfast::lock_error& e) {
    EXPECT_EQ(e.lock(), "accounts");
    EXPECT_EQ(e.reason(), "the lease is of another lock");
  }
}

TEST(guarded, stays_usable_after_its_function_threw) {
  store_with_a_ledger at;
  const auto lease = at.acquire();
  const auto fails = [](ledger&, const fence&) { throw std::runtime_error("on purpose"); };
  EXPECT_THROW(at.accounts.with(lease, fails), std::runtime_error);
  EXPECT_TRUE(at.accounts.with(lease, book));
}

}  // namespace
