#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;

std::vector<std::string> names_of(const std::vector<holdfast::holder>& holders) {
  std::vector<std::string> names;
  for (const auto& one : holders) names.push_back(one.name);
  return names;
}

void inspect_shows_the_holder_and_its_note(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  EXPECT_TRUE(other.list().empty());
  std::string note = "moves the \u00fcbrige rows";
  auto lease = on.lock(client).acquire({.note = note});
  note.assign(note.size(), '?');
  const auto holders = shown_by(other, 1);
  ASSERT_EQ(holders.size(), 1u);
  const auto& shown = holders.front();
  EXPECT_EQ(shown.name, "job");
  EXPECT_EQ(shown.note, "moves the \u00fcbrige rows");
  EXPECT_EQ(shown.mode, on.taken_as());
  EXPECT_FALSE(shown.owner.empty());
  EXPECT_TRUE(shown.token == 0 || shown.token == lease.token()) << shown.token;
  EXPECT_TRUE(shown.pid == 0 || shown.pid == ::getpid()) << shown.pid;
  EXPECT_GE(shown.held_for, std::chrono::milliseconds(0));
  if (on.has_ttl())
    EXPECT_LE(shown.expires_in, std::chrono::seconds(30));
  else
    EXPECT_EQ(shown.expires_in, std::chrono::milliseconds::max());
  lease.release();
  EXPECT_TRUE(other.list().empty());
}

void inspect_finds_by_prefix(fixture& on) {
  const auto client = on.client();
  std::vector<holdfast::lease> leases;
  for (const auto* name : {"shop/b", "shop/a", "shop", "Shop/c", "sh%p", "depot"})
    leases.push_back(on.lock(client, name).acquire());
  using list = std::vector<std::string>;
  EXPECT_EQ(shown_by(client, leases.size()).size(), leases.size());
  EXPECT_EQ(names_of(client.list("shop")), (list{"shop", "shop/a", "shop/b"}));
  EXPECT_EQ(names_of(client.list("shop/")), (list{"shop/a", "shop/b"}));
  EXPECT_EQ(names_of(client.list("sh%")), (list{"sh%p"}));
  EXPECT_EQ(names_of(client.list("nothing")), list{});
}

void the_holders_of_one_lock_are_shown_at_once(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  EXPECT_TRUE(other.holders("job").empty());
  auto lease = on.lock(client).acquire();
  const auto of_a_longer_name = on.lock(client, "job2").acquire();
  const auto of_a_shorter_name = on.lock(client, "jo").acquire();
  const auto holders = other.holders("job");
  EXPECT_EQ(names_of(holders), (std::vector<std::string>{"job"}));
  for (const auto& shown : holders) {
    EXPECT_EQ(shown.mode, on.taken_as());
    EXPECT_FALSE(shown.owner.empty());
    EXPECT_TRUE(shown.token == 0 || shown.token == lease.token()) << shown.token;
  }
  lease.release();
  EXPECT_TRUE(other.holders("job").empty());
  EXPECT_EQ(other.holders("job2").size(), 1u);
  EXPECT_EQ(thrown_by([&] { (void)other.holders(""); }), errc::bad_name);
}

void break_lock_takes_a_lock_away(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  const auto operators = on.client();
  const auto lease = on.lock(client).acquire();
  ASSERT_EQ(other->ask("acquire job"), "calling");
  const auto seen = operators.list("job").at(0).owner;
  EXPECT_TRUE(operators.break_lock("job", seen));
  EXPECT_NE(token_of(other->receive(generous)), 0);
  EXPECT_TRUE(comes(lease.loss_token()));
  EXPECT_FALSE(lease.held());
  EXPECT_FALSE(operators.break_lock("job", seen)) << "the next holder is another";
  EXPECT_EQ(other->ask("held job"), "yes");
}

void a_wrong_holder_breaks_nothing(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  const auto lease = on.lock(client).acquire();
  for (const auto* lock : {"job", "free"}) {
    bool broken = false;
    const auto code = thrown_by([&] { broken = other.break_lock(lock, "nobody"); });
    EXPECT_FALSE(broken);
    EXPECT_EQ(code, on.can().breakable ? std::error_code{} : make_error_code(errc::unsupported));
  }
  EXPECT_EQ(thrown_by([&] { (void)other.break_lock("", "nobody"); }), errc::bad_name);
  EXPECT_TRUE(lease.held());
  EXPECT_FALSE(on.rival(other).try_acquire());
}

void features_are_true(fixture& on) {
  const auto told = on.client().features();
  EXPECT_EQ(told.ttl, on.can().ttl);
  EXPECT_EQ(told.fifo, on.can().fifo);
  EXPECT_EQ(told.durable, on.can().durable);
  EXPECT_EQ(told.processes, on.can().processes);
  EXPECT_EQ(told.breakable, on.can().breakable);
  EXPECT_EQ(told.shared, on.can().shared);
  EXPECT_EQ(told.permits, on.can().permits);
  EXPECT_EQ(told.tokens, on.has_tokens());
  if (on.has_readers()) {
    EXPECT_EQ(told.writer_preference, on.prefers_writers());
    EXPECT_EQ(told.downgrade, on.downgrades());
  }
  EXPECT_EQ(told.unsafe, on.can().unsafe);
}

}  // namespace

behaviours inspecting() {
  return {
      CONTRACT_BEHAVIOUR(63, inspect_shows_the_holder_and_its_note, in_threads, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(64, inspect_finds_by_prefix, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(124, the_holders_of_one_lock_are_shown_at_once, in_threads, at_the_store,
                         nothing),
      CONTRACT_BEHAVIOUR(65, break_lock_takes_a_lock_away, in_both, at_the_store, breaking),
      CONTRACT_BEHAVIOUR(66, a_wrong_holder_breaks_nothing, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(67, features_are_true, in_threads, exclusively, nothing),
  };
}

}  // namespace contract
