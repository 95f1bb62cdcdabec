// Semaphores of more than one permit, and what does not fit together.
#include <atomic>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;

holdfast::lease take(const holdfast::client& c, std::uint32_t wanted, std::uint32_t of) {
  return any_lock(c, "job", wanted, of).try_acquire();
}

void as_many_hold_permits_as_there_are(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto first = take(client, 1, 3);
  const auto second = take(client, 1, 3);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_NE(token_of(other->ask("try 1of3:job")), 0);
  EXPECT_FALSE(take(client, 1, 3)) << "a fourth of three";
  EXPECT_EQ(client.semaphore("job", 3).total_permits(), 3u);
  first.release();
  EXPECT_TRUE(take(client, 1, 3));
  EXPECT_EQ(other->ask("held 1of3:job"), "yes");
}

void several_permits_are_granted_at_once(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto two = take(client, 2, 3);
  EXPECT_TRUE(two);
  EXPECT_EQ(other->ask("try 2of3:job"), "busy");
  EXPECT_NE(token_of(other->ask("try 1of3:job")), 0);
  EXPECT_FALSE(take(client, 1, 3));
  two.release();
  EXPECT_NE(token_of(other->ask("try 2of3:job")), 0) << "both came back";
}

void permits_are_granted_all_or_none(fixture& on) {
  const auto client = on.client();
  const auto greedy = on.other();
  const auto other = on.other();
  const auto one = take(client, 1, 3);
  EXPECT_EQ(greedy->ask("try 3of3:job"), "busy");
  ASSERT_EQ(greedy->ask("acquire 3of3:job 30"), "calling");
  EXPECT_EQ(greedy->receive(generous), "busy");
  EXPECT_TRUE(becomes([&] { return token_of(other->ask("try 2of3:job")) != 0; }));
  EXPECT_TRUE(one.held());
}

void a_large_request_is_not_passed_by_small_ones(fixture& on) {
  const auto client = on.client();
  const auto large = on.other();
  const auto small = on.other();
  auto two = take(client, 2, 3);
  ASSERT_EQ(large->ask("acquire 3of3:job"), "calling");
  ASSERT_TRUE(falls_asleep(large->process(), large->thread()));
  // It has its place; an attempt may find the permits taken a moment before.
  ASSERT_TRUE(becomes([&] {
    const auto all = client.holders("job");
    return !all.empty() && all.front().waiting != 0;
  }));
  ASSERT_TRUE(becomes([&] { return finds_busy(*small, "1of3:job"); }));
  ASSERT_EQ(small->ask("acquire 1of3:job"), "calling");
  ASSERT_TRUE(falls_asleep(small->process(), small->thread()));
  two.release();
  EXPECT_NE(token_of(large->receive(generous)), 0);
  EXPECT_TRUE(small->answers_nothing_yet());
  EXPECT_EQ(large->ask("release 3of3:job"), "ok");
  EXPECT_NE(token_of(small->receive(generous)), 0);
}

void permits_of_a_killed_holder_become_free(fixture& on) {
  const auto client = on.client();
  const auto killed = on.short_lived_other();
  const auto mine = take(client, 1, 3);
  ASSERT_NE(token_of(killed->ask("try 2of3:job")), 0);
  const any_lock lock(client, "job", 2, 3);
  caller<bool> waiting([&] { return static_cast<bool>(lock.acquire()); });
  ASSERT_TRUE(waiting.waits());
  killed->kill();
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_TRUE(waiting.result());
  EXPECT_TRUE(mine.held());
}

void contenders_never_hold_more_permits_than_there_are(fixture& on) {
  constexpr std::uint32_t permits = 4;
  const auto one = on.client();
  const auto another = on.client();
  std::atomic<std::uint32_t> inside = 0, served = 0;
  std::atomic<bool> too_many = false;
  std::vector<std::jthread> contenders;
  for (std::uint32_t i = 0; i < 8; ++i) {
    contenders.emplace_back([&, wanted = i % 3 + 1, client = i % 2 ? one : another] {
      const any_lock lock(client, "job", wanted, permits);
      for (int times = 0; times < 20; ++times) {
        const auto held = lock.acquire();
        if (inside.fetch_add(wanted) + wanted > permits) too_many = true;
        std::this_thread::yield();
        inside.fetch_sub(wanted);
        ++served;
      }
    });
  }
  contenders.clear();
  EXPECT_FALSE(too_many);
  EXPECT_EQ(served, 160u);
}

void permits_that_there_cannot_be_are_refused(fixture& on) {
  const auto client = on.client();
  constexpr auto most = holdfast::semaphore::permits_max;
  EXPECT_EQ(thrown_by([&] { (void)client.semaphore("job", 0); }), errc::bad_option);
  EXPECT_EQ(thrown_by([&] { (void)client.semaphore("job", most + 1); }), errc::bad_option);
  const auto three = client.semaphore("job", 3);
  for (const std::uint32_t wanted : {0u, 4u, 1'000'000u, 0xffff'ffffu}) {
    EXPECT_EQ(thrown_by([&] { (void)three.acquire({.permits = wanted}); }), errc::bad_option);
    EXPECT_EQ(thrown_by([&] { (void)three.try_acquire({.permits = wanted}); }), errc::bad_option);
  }
  EXPECT_EQ(thrown_by([&] { (void)client.mutex("job").acquire({.permits = 2}); }),
            errc::bad_option);
  EXPECT_TRUE(client.list().empty()) << "and nothing was taken";
  EXPECT_TRUE(client.semaphore("job", most).try_acquire({.permits = most}));
}

// Whether it is said by the verb that waits and by the one that does not; says what it is about.
bool says_mismatch(const any_lock& lock) {
  try {
    (void)lock.acquire();
  } catch (const holdfast::lock_error& error) {
    const bool named = std::string(error.what()).find("job") != std::string::npos;
    return error.code() == errc::mismatch && named &&
           thrown_by([&] { (void)lock.try_acquire(); }) == errc::mismatch;
  }
  return false;
}

void another_number_of_permits_is_reported(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  auto held = take(client, 1, 3);
  EXPECT_TRUE(says_mismatch({other, "job", 1, 5}));
  EXPECT_TRUE(says_mismatch({client, "job", 1, 2}));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(take(other, 2, 3)) << "and nothing is lost";
  held.release();
  EXPECT_TRUE(becomes([&] {
    std::error_code ec;
    return static_cast<bool>(other.semaphore("job", 5).try_acquire({}, ec));
  }));
}

void a_mutex_and_a_semaphore_of_one_name_are_reported(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  {
    const auto held = take(client, 1, 3);
    for (const kind another : {kind::mutex, kind::recursive}) {
      EXPECT_TRUE(says_mismatch({other, "job", another})) << word_of(another);
      EXPECT_TRUE(says_mismatch({client, "job", another})) << word_of(another);
    }
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(take(other, 2, 3)) << "and nothing is lost";
  }
  const auto granted = [&] {
    std::error_code ec;
    return other.mutex("job").try_acquire({}, ec);
  };
  holdfast::lease alone;
  EXPECT_TRUE(becomes([&] { return static_cast<bool>(alone = granted()); }));
  EXPECT_TRUE(says_mismatch({client, "job", 1, 3}));
  EXPECT_TRUE(says_mismatch({other, "job", 1, 1}));
  EXPECT_TRUE(alone.held());
}

void tokens_of_permits_differ_and_grow(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto first = take(client, 1, 4);
  const auto second = take(client, 2, 4);
  EXPECT_GT(first.token(), 0);
  EXPECT_GT(second.token(), first.token());
  EXPECT_GT(token_of(other->ask("try 1of4:job")), second.token());
}

}  // namespace

behaviours permits() {
  return {
      CONTRACT_BEHAVIOUR(93, as_many_hold_permits_as_there_are, in_both, with_permits, nothing),
      CONTRACT_BEHAVIOUR(94, several_permits_are_granted_at_once, in_both, with_permits, nothing),
      CONTRACT_BEHAVIOUR(95, permits_are_granted_all_or_none, in_both, with_permits, nothing),
      CONTRACT_BEHAVIOUR(96, a_large_request_is_not_passed_by_small_ones, in_both, with_permits,
                         nothing),
      CONTRACT_BEHAVIOUR(97, permits_of_a_killed_holder_become_free, in_processes, with_permits,
                         nothing),
      CONTRACT_BEHAVIOUR(98, contenders_never_hold_more_permits_than_there_are, in_threads,
                         with_permits, nothing),
      CONTRACT_BEHAVIOUR(99, permits_that_there_cannot_be_are_refused, in_threads, with_permits,
                         nothing),
      CONTRACT_BEHAVIOUR(100, another_number_of_permits_is_reported, in_threads, with_permits,
                         nothing),
      CONTRACT_BEHAVIOUR(101, a_mutex_and_a_semaphore_of_one_name_are_reported, in_threads,
                         with_permits, nothing),
      CONTRACT_BEHAVIOUR(102, tokens_of_permits_differ_and_grow, in_both, with_permits, nothing),
  };
}

}  // namespace contract
