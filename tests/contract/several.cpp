// Several locks as one.
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;
using holdfast::multi_mutex;

// Whether all these come free: nothing of them was kept.
bool come_free(contender& other, std::initializer_list<const char*> names) {
  return becomes([&] {
    bool all = true;
    for (const auto* name : names) {
      const bool free = token_of(other.ask(std::string("try ") + name)) != 0;
      if (free) other.ask(std::string("release ") + name);
      all = all && free;
    }
    return all;
  });
}

void several_locks_are_held_together(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto a = client.mutex("a");
  auto b = client.recursive_mutex("b");
  auto c = client.mutex("c");
  std::vector<holdfast::exclusive_lockable*> three{&a, &b, &c};
  std::optional<holdfast::shared_mutex> shared;  // as a writer, where the store has them
  if (on.can().shared) three[2] = &shared.emplace(client.shared_mutex("d"));
  const std::string last = shared ? "d" : "c";
  const multi_mutex all(three);
  auto set = all.acquire();
  EXPECT_TRUE(set);
  EXPECT_TRUE(set.held());
  EXPECT_NO_THROW(set.check());
  EXPECT_EQ(set.members().size(), 3u);
  const std::vector<std::string> names{"a", "b", (shared ? "writer:" : "") + last};
  for (const std::string& name : names) EXPECT_EQ(other->ask("try " + name), "busy") << name;
  set.release();
  EXPECT_FALSE(set);
  for (const std::string& name : names) EXPECT_NE(token_of(other->ask("try " + name)), 0) << name;
}

void one_busy_lock_and_none_is_granted(fixture& on) {
  const auto client = on.client();
  const auto holder = on.other();
  const auto other = on.other();
  ASSERT_NE(token_of(holder->ask("try b")), 0);
  auto a = client.mutex("a");
  auto b = client.mutex("b");
  auto c = client.mutex("c");
  const multi_mutex all(a, b, c);
  EXPECT_FALSE(all.try_acquire());
  EXPECT_TRUE(come_free(*other, {"a", "c"}));
  EXPECT_FALSE(all.try_acquire_for(std::chrono::milliseconds(30)));
  EXPECT_TRUE(come_free(*other, {"a", "c"}));
  EXPECT_EQ(holder->ask("held b"), "yes");
  EXPECT_EQ(holder->ask("release b"), "ok");
  EXPECT_TRUE(becomes([&] { return static_cast<bool>(all.try_acquire()); }));
}

void a_wait_for_several_ends_when_all_are_free(fixture& on) {
  const auto client = on.client();
  const auto first = on.other();
  const auto second = on.other();
  ASSERT_NE(token_of(first->ask("try a")), 0);
  ASSERT_NE(token_of(second->ask("try b")), 0);
  caller<holdfast::lease_set> waiting([&] { return client.acquire_all({"a", "b"}); });
  ASSERT_TRUE(waiting.waits());
  EXPECT_EQ(first->ask("release a"), "ok");
  ASSERT_TRUE(waiting.waits());
  EXPECT_EQ(second->ask("release b"), "ok");
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_TRUE(waiting.result().held());
}

void a_stopped_wait_for_several_keeps_none(fixture& on) {
  const auto client = on.client();
  const auto holder = on.other();
  const auto other = on.other();
  ASSERT_NE(token_of(holder->ask("try b")), 0);
  std::stop_source stop;
  caller<holdfast::lease_set> waiting([&] {
    return client.acquire_all({"a", "b", "c"}, {}, stop.get_token());
  });
  ASSERT_TRUE(waiting.waits());
  stop.request_stop();
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_EQ(thrown_by([&] { (void)waiting.result(); }), errc::canceled);
  EXPECT_TRUE(come_free(*other, {"a", "c"}));
}

void the_order_of_several_locks_does_not_matter(fixture& on) {
  const auto one = on.client();
  const auto another = on.client();
  const auto work = [](const holdfast::client& client, std::array<const char*, 3> names) {
    for (int times = 0; times < 40; ++times) {
      const auto set = client.acquire_all({names[0], names[1], names[2]});
      if (!set.held()) return false;
    }
    return true;
  };
  caller<bool> forth([&] { return work(one, {"a", "b", "c"}); });
  caller<bool> back([&] { return work(another, {"c", "b", "a"}); });
  caller<bool> beside([&] { return work(another, {"b", "a", "c"}); });
  ASSERT_TRUE(forth.comes_back());
  ASSERT_TRUE(back.comes_back());
  ASSERT_TRUE(beside.comes_back());
  EXPECT_TRUE(forth.result() && back.result() && beside.result());
}

void one_lock_given_twice_is_refused(fixture& on) {
  const auto client = on.client();
  auto a = client.mutex("a");
  auto b = client.mutex("b");
  auto again = client.recursive_mutex("a");
  EXPECT_EQ(thrown_by([&] { multi_mutex(a, b, a); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { multi_mutex(a, b, again); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { (void)client.acquire_all({"a", "b", "a"}); }), errc::bad_option);
  EXPECT_TRUE(client.list().empty()) << "and nothing was taken";
  EXPECT_TRUE(multi_mutex(b, a).try_acquire());
}

// reacquire() takes no lease of another lock: so each member is what it says.
void members_keep_the_order_in_which_they_were_given(fixture& on) {
  const auto client = on.client();
  auto a = client.recursive_mutex("a");
  auto b = client.recursive_mutex("b");
  auto c = client.recursive_mutex("c");
  const multi_mutex all(c, a, b);
  std::vector<std::int64_t> last(3);
  for (int times = 0; times < 3; ++times) {
    const auto set = all.acquire();
    ASSERT_EQ(set.members().size(), 3u);
    EXPECT_EQ(c.reacquire(set.members()[0]).token(), set.members()[0].token());
    EXPECT_EQ(a.reacquire(set.members()[1]).token(), set.members()[1].token());
    EXPECT_EQ(b.reacquire(set.members()[2]).token(), set.members()[2].token());
    for (std::size_t i = 0; i < last.size(); ++i) {
      EXPECT_TRUE(on.is_later(set.members()[i].token(), last[i]));
      last[i] = set.members()[i].token();
    }
  }
}

void several_locks_may_be_of_several_backends(fixture& on) {
  const auto elsewhere = make_file_subject({});
  const auto here = on.client();
  const auto there = holdfast::client::open(elsewhere->url());
  const auto stranger = holdfast::client::open(elsewhere->url());
  const auto other = on.other();
  auto mine = here.mutex("job");
  auto theirs = there.mutex("job");
  const multi_mutex both(theirs, mine);
  auto set = both.acquire();
  EXPECT_TRUE(set.held());
  EXPECT_EQ(other->ask("try job"), "busy");
  EXPECT_FALSE(stranger.mutex("job").try_acquire());
  set.release();
  const auto held = stranger.mutex("job").acquire();
  EXPECT_FALSE(both.try_acquire());
  EXPECT_TRUE(come_free(*other, {"job"}));
}

void the_loss_of_one_is_the_loss_of_all(fixture& on) {
  const auto client = on.client();
  const auto losing = on.short_lived_client();
  auto a = client.mutex("a");
  auto b = losing.mutex("b");
  const multi_mutex both(a, b);
  auto set = both.acquire();
  const auto lost = set.loss_token();
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_LE(set.expires(), set.members()[0].expires());
  on.store().lose_leases_of(losing);
  EXPECT_TRUE(comes(lost));
  EXPECT_FALSE(set.held());
  EXPECT_EQ(set.status(), holdfast::outcome::lost);
  EXPECT_EQ(thrown_by([&] { set.check(); }), holdfast::outcome::lost);
  on.store().go_on(losing);
  EXPECT_EQ(thrown_by([&] { set.release(); }), holdfast::outcome::lost);
  EXPECT_FALSE(set);
}

void lock_guard_takes_several(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto a = client.mutex("a");
  auto b = client.mutex("b");
  multi_mutex both(a, b);
  {
    const std::lock_guard guard(both);
    EXPECT_TRUE(both.current().held());
    EXPECT_EQ(other->ask("try b"), "busy");
  }
  EXPECT_FALSE(both.current());
  std::unique_lock attempt(both, std::try_to_lock);
  EXPECT_TRUE(attempt.owns_lock());
  attempt.unlock();
  EXPECT_TRUE(come_free(*other, {"a", "b"}));
}

void an_error_of_several_names_its_member(fixture& on) {
  const auto client = on.client();
  const auto failure_of = [](auto call) {
    try {
      call();
    } catch (const holdfast::lock_error& e) {
      return std::string(e.lock()) + ' ' + e.code().message();
    }
    return std::string("nothing was thrown");
  };
  if (on.can().breakable) {
    auto both = client.acquire_all({"a", "b"});
    EXPECT_TRUE(client.break_lock("b", client.holders("b").at(0).owner));
    EXPECT_EQ(failure_of([&] { both.release(); }), "b " + make_error_code(errc::lost).message());
  }
  if (on.can().permits && on.has_readers()) {  // one layout keeps all kinds
    const auto other = on.client();
    const auto permit = other.semaphore("b", 2).acquire();
    EXPECT_EQ(failure_of([&] {
                (void)client.acquire_all({"a", "b"});
              }),
              "b " + make_error_code(errc::mismatch).message());
  }
}

}  // namespace

behaviours several() {
  return {
      CONTRACT_BEHAVIOUR(137, an_error_of_several_names_its_member, in_threads, exclusively,
                         nothing),
      CONTRACT_BEHAVIOUR(114, several_locks_are_held_together, in_both, exclusively, nothing),
      CONTRACT_BEHAVIOUR(115, one_busy_lock_and_none_is_granted, in_both, exclusively, nothing),
      CONTRACT_BEHAVIOUR(116, a_wait_for_several_ends_when_all_are_free, in_both, exclusively,
                         nothing),
      CONTRACT_BEHAVIOUR(117, a_stopped_wait_for_several_keeps_none, in_both, exclusively, nothing),
      CONTRACT_BEHAVIOUR(118, the_order_of_several_locks_does_not_matter, in_threads, exclusively,
                         nothing),
      CONTRACT_BEHAVIOUR(119, one_lock_given_twice_is_refused, in_threads, exclusively, nothing),
      CONTRACT_BEHAVIOUR(120, members_keep_the_order_in_which_they_were_given, in_threads,
                         exclusively, nothing),
      CONTRACT_BEHAVIOUR(121, several_locks_may_be_of_several_backends, in_both, exclusively,
                         nothing),
      CONTRACT_BEHAVIOUR(122, the_loss_of_one_is_the_loss_of_all, in_threads, exclusively, nothing),
      CONTRACT_BEHAVIOUR(123, lock_guard_takes_several, in_both, exclusively, nothing),
  };
}

}  // namespace contract
