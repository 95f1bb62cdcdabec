// Looking at those who hold a lock together, and breaking it.
#include <algorithm>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::holder;

// Once the store shows all of these: the note comes with a renewal where it burdens the fast path.
holder shown_with_note(const holdfast::client& client, std::string_view note) {
  holder found;
  EXPECT_TRUE(becomes([&] {
    const auto all = client.list("job");
    const auto one = std::ranges::find(all, note, &holder::note);
    if (one == all.end()) return false;
    found = *one;
    return true;
  }));
  return found;
}

void inspect_shows_each_reader(fixture& on) {
  const auto client = on.client();
  const auto reader = on.peer();
  const auto mine = on.lock(client).acquire({.note = "counts"});
  ASSERT_NE(token_of(reader->ask("try job")), 0);
  const auto shown = shown_by(client, 2);
  ASSERT_EQ(shown.size(), 2u);
  for (const auto& one : shown) {
    EXPECT_EQ(one.name, "job");
    EXPECT_EQ(one.mode, holdfast::lock_mode::shared);
    EXPECT_FALSE(one.owner.empty());
    EXPECT_TRUE(one.token == 0 || one.token == mine.token()) << one.token;
  }
  EXPECT_EQ(shown_with_note(client, "counts").name, "job");
  EXPECT_EQ(reader->ask("release job"), "ok");
  EXPECT_TRUE(becomes([&] { return client.list().size() == 1; }));
}

void inspect_shows_the_permits_of_each(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto mine = client.semaphore("job", 5).acquire({.permits = 2});
  ASSERT_NE(token_of(other->ask("try 1of5:job")), 0);
  const auto shown = shown_by(client, 2);
  ASSERT_EQ(shown.size(), 2u);
  for (const auto& one : shown) {
    EXPECT_EQ(one.mode, holdfast::lock_mode::permit);
    EXPECT_EQ(one.total_permits, 5u);
  }
  EXPECT_EQ(std::min(shown[0].permits, shown[1].permits), 1u);
  EXPECT_EQ(std::max(shown[0].permits, shown[1].permits), 2u);
}

void one_of_several_readers_can_be_broken(fixture& on) {
  const auto client = on.short_lived_client();
  const auto reader = on.peer();
  const auto operators = on.client();
  const auto mine = on.lock(client).acquire();
  std::vector<holder> only;
  ASSERT_TRUE(becomes([&] { return (only = operators.list("job")).size() == 1; }));
  const auto seen = only[0].owner;
  ASSERT_NE(token_of(reader->ask("try job")), 0);
  EXPECT_TRUE(operators.break_lock("job", seen));
  EXPECT_TRUE(comes(mine.loss_token()));
  EXPECT_EQ(reader->ask("held job"), "yes");
  EXPECT_FALSE(on.rival(operators).try_acquire());
  EXPECT_FALSE(operators.break_lock("job", seen)) << "he does not hold it any more";
  EXPECT_EQ(reader->ask("release job"), "ok") << "the store knows it as theirs";
}

void the_owner_of_a_share_breaks_all_of_its_group(fixture& on) {
  const auto client = on.short_lived_client();
  const auto another = on.short_lived_client();
  const auto writer = on.other();
  const auto mine = on.lock(client).acquire();
  const auto beside = on.lock(another).acquire();
  ASSERT_EQ(writer->ask("acquire job"), "calling");
  ASSERT_TRUE(falls_asleep(writer->process(), writer->thread()));
  EXPECT_TRUE(on.client().break_lock("job", mine.owner()));
  EXPECT_NE(token_of(writer->receive(generous)), 0);
  EXPECT_TRUE(comes(mine.loss_token()));
  EXPECT_TRUE(comes(beside.loss_token()));
}

void one_holder_of_permits_can_be_broken(fixture& on) {
  const auto client = on.short_lived_client();
  const auto other = on.other();
  const auto operators = on.client();
  const auto mine = client.semaphore("job", 3).acquire({.note = "stuck", .permits = 2});
  ASSERT_NE(token_of(other->ask("try 1of3:job")), 0);
  const auto seen = shown_with_note(operators, "stuck").owner;
  EXPECT_TRUE(operators.break_lock("job", seen));
  EXPECT_TRUE(comes(mine.loss_token()));
  EXPECT_EQ(other->ask("held 1of3:job"), "yes");
  EXPECT_NE(token_of(other->ask("try 2of3:job")), 0) << "both are there again";
}

}  // namespace

behaviours contenders() {
  return {
      CONTRACT_BEHAVIOUR(109, inspect_shows_each_reader, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(110, inspect_shows_the_permits_of_each, in_both, with_permits, nothing),
      CONTRACT_BEHAVIOUR(111, one_of_several_readers_can_be_broken, in_both, shared, breaking),
      CONTRACT_BEHAVIOUR(112, the_owner_of_a_share_breaks_all_of_its_group, in_both, shared,
                         breaking),
      CONTRACT_BEHAVIOUR(113, one_holder_of_permits_can_be_broken, in_both, with_permits, breaking),
  };
}

}  // namespace contract
