// How the holder of a lost lease is told, and why it was lost.
#include <mutex>
#include <string>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;

void the_holder_is_notified_of_a_loss(fixture& on) {
  const auto client = on.short_lived_client();
  const auto lease = on.lock(client).acquire();
  EXPECT_FALSE(lease.loss_token().stop_requested());
  on.store().lose_leases_of(client);
  EXPECT_TRUE(comes(lease.loss_token()));
  EXPECT_TRUE(lease) << "lost is not released";
  EXPECT_FALSE(lease.held());
  EXPECT_EQ(lease.status(), holdfast::outcome::lost);
  EXPECT_EQ(thrown_by([&] { lease.check(); }), lease.status());
}

void doubt_is_reported_before_loss(fixture& on) {
  const auto client = on.short_lived_client();
  const auto lease = on.lock(client).acquire();
  std::mutex mutex;
  std::vector<std::string> told;
  const auto note = [&](const char* what) {
    const std::lock_guard guard(mutex);
    told.emplace_back(what);
  };
  const std::stop_callback on_loss(lease.loss_token(), [&] { note("lost"); });
  const std::stop_callback on_doubt(lease.doubt_token(), [&] { note("doubtful"); });
  on.store().lose_leases_of(client);
  EXPECT_TRUE(becomes([&] {
    const std::lock_guard guard(mutex);
    return told.size() == 2;
  }));
  const std::lock_guard guard(mutex);
  EXPECT_EQ(told, (std::vector<std::string>{"doubtful", "lost"}));
}

std::string why_lost(const holdfast::lease& lease) {
  EXPECT_TRUE(comes(lease.loss_token()));
  try {
    lease.check();
  } catch (const holdfast::lock_error& error) {
    EXPECT_EQ(error.code(), errc::lost);
    return error.what();
  }
  return "it is not lost";
}

// What an extension, or the session's watch, finds of a lease that was broken, with a rival in its
// place or with nobody.
std::string why_broken(fixture& on, const holdfast::client& client, bool has_rival) {
  const auto other = on.client();
  auto lease = on.lock(client).acquire();
  const std::string owner = lease.owner();
  EXPECT_TRUE(other.break_lock("job", other.holders("job").at(0).owner));
  auto theirs = has_rival ? on.rival(other).acquire() : holdfast::lease();
  while (has_rival && theirs.owner() == owner) {  // both are one millisecond of the clock
    theirs.release();
    theirs = on.rival(other).acquire();
  }
  if (on.has_ttl()) {
    EXPECT_EQ(thrown_by([&] { lease.extend(std::chrono::seconds(30)); }), errc::lost);
  }
  return why_lost(lease);
}

void expect_mentioned(const std::string& what, const std::string& text) {
  EXPECT_NE(text.find(what), text.npos) << text;
}

void a_loss_has_a_reason(fixture& on) {
  const auto client = on.client();
  const auto lock = on.lock(client);
  expect_mentioned("its max_hold has ended", why_lost(lock.acquire({.max_hold = short_ttl})));
  if (on.has_ttl())
    expect_mentioned("it expired", why_lost(lock.acquire(
                                       {.ttl = short_ttl, .renew = holdfast::renewal::manual})));
  if (!on.can().breakable) return;
  expect_mentioned("the store no longer has a holder", why_broken(on, client, false));
  // Where no lease is renewed by itself, each is watched by itself.
  expect_mentioned(on.has_ttl() ? "the store reports another owner"
                                : "the store no longer has a holder",
                   why_broken(on, client, true));
}

}  // namespace

behaviours losses() {
  return {
      CONTRACT_BEHAVIOUR(45, the_holder_is_notified_of_a_loss, in_threads, in_every_mode, nothing),
      CONTRACT_BEHAVIOUR(46, doubt_is_reported_before_loss, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(132, a_loss_has_a_reason, in_threads, at_the_store, nothing),
  };
}

}  // namespace contract
