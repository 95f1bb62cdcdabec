#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

void a_token_grows_from_grant_to_grant(fixture& on) {
  const auto client = on.client();
  const auto lock = on.lock(client);
  std::int64_t last = 0;
  for (int times = 0; times < 20; ++times) {
    auto lease = lock.acquire();
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    lease.unlock();
  }
}

void a_token_grows_from_thread_to_thread(fixture& on) {
  constexpr int threads = 8;
  constexpr int each = 300;  // more turns in all than the numbers of one grant suffice for
  const auto client = on.client();
  const auto lock = on.lock(client);
  std::vector<std::int64_t> tokens;  // guarded by the lock itself
  std::vector<std::jthread> contenders;
  for (int i = 0; i < threads; ++i) {
    contenders.emplace_back([&] {
      for (int times = 0; times < each; ++times) {
        const auto lease = lock.acquire();
        tokens.push_back(lease.token());
      }
    });
  }
  contenders.clear();
  ASSERT_EQ(tokens.size(), std::size_t{threads} * each);
  for (std::size_t i = 1; i < tokens.size(); ++i) ASSERT_GT(tokens[i], tokens[i - 1]);
}

void a_token_grows_from_client_to_client(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto lock = on.lock(client);
  std::int64_t last = 0;
  for (int times = 0; times < 10; ++times) {
    auto lease = lock.acquire();
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    lease.release();
    const auto token = token_of(other->ask("try job"));
    EXPECT_GT(token, last);
    last = token;
    EXPECT_EQ(other->ask("release job"), "ok");
  }
}

// An attempt may lose its short lease on a loaded machine; a wait goes on.
std::int64_t token_after_wait(contender& other) {
  EXPECT_EQ(other.ask("acquire job"), "calling");
  const auto answer = other.receive(generous);
  EXPECT_NE(token_of(answer), 0) << answer;
  return token_of(answer);
}

void a_token_grows_over_a_crash(fixture& on) {
  const auto client = on.client();
  const auto other = on.short_lived_other();
  const auto before = token_after_wait(*other);
  other->kill();
  const auto lease = on.lock(client).acquire();
  EXPECT_GT(lease.token(), before);
}

void a_token_grows_when_all_have_gone(fixture& on) {
  std::int64_t before = 0;
  {
    const auto other = on.short_lived_other();
    before = token_after_wait(*other);
  }
  const auto client = on.client();
  EXPECT_GT(on.lock(client).acquire().token(), before);
}

}  // namespace

behaviours tokens() {
  return {
      CONTRACT_BEHAVIOUR(23, a_token_grows_from_grant_to_grant, in_threads, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(24, a_token_grows_from_thread_to_thread, in_threads, exclusively, nothing),
      CONTRACT_BEHAVIOUR(25, a_token_grows_from_client_to_client, in_both, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(26, a_token_grows_over_a_crash, in_processes, on_both_sides, nothing),
      CONTRACT_BEHAVIOUR(27, a_token_grows_when_all_have_gone, in_processes, at_the_store,
                         durability),
  };
}

}  // namespace contract
