#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "io/fork_mark.hpp"
#include "io/random.hpp"
#include "io/real_environment.hpp"
#include "testkit/manual_environment.hpp"
#include "testkit/seccomp.hpp"

namespace holdfast {
namespace {

using id = std::array<std::byte, 16>;

id draw() {
  id out;
  io::real_environment().random(out);
  return out;
}

TEST(io_random, threads_never_draw_the_same) {
  std::mutex mutex;
  std::set<id> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      std::vector<id> mine;
      for (int i = 0; i < 2000; ++i) mine.push_back(draw());
      const std::lock_guard lock(mutex);
      seen.insert(mine.begin(), mine.end());
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(seen.size(), 8u * 2000u);
}

TEST(io_random, a_forks_child_does_not_draw_what_its_parent_draws) {
  draw();  // the pool is filled
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  const id mine = draw();
  if (child == 0) _exit(write(ends[1], mine.data(), mine.size()) == 16 ? 0 : 1);
  id theirs;
  ASSERT_EQ(read(ends[0], theirs.data(), theirs.size()), 16);
  waitpid(child, nullptr, 0);
  EXPECT_NE(mine, theirs);
  close(ends[0]);
  close(ends[1]);
}

TEST(io_random, more_than_a_pool_at_once_is_filled) {
  std::vector<std::byte> big(100'000);
  io::real_environment().random(big);
  EXPECT_LT(std::count(big.begin() + 90'000, big.end(), std::byte{0}), 1000);
}

// The exit code of the tests below, which run in a program of their own, where there is no filter.
constexpr int without_filter = 77;
bool is_passed_in_a_sandbox(int status) {
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (code == without_filter) std::puts("skipped: no seccomp filter here");
  return code == 0 || code == without_filter;
}

TEST(io_random, ends_the_process_where_the_kernel_has_none) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto in_a_sandbox = [] {
    ::alarm(20);
    std::vector<std::byte> much(100'000);
    if (testkit::deny(SYS_getrandom, ENOSYS)) io::fill_random(much);
    ::_exit(without_filter);  // the C library may need no system call
  };
  const auto is_ended = [](int status) {
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) || is_passed_in_a_sandbox(status);
  };
  EXPECT_EXIT(in_a_sandbox(), is_ended, "");
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__  // they need memory themselves
TEST(io_random, a_forks_child_draws_its_own_where_forks_cannot_be_noticed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto in_a_sandbox = [] {
    if (!testkit::deny(SYS_mmap, ENOMEM)) ::_exit(without_filter);
    id before, mine, theirs;
    io::fill_random(before);
    int ends[2];
    if (io::fork_mark() != 0 || ::pipe(ends) != 0) ::_exit(1);
    const pid_t child = ::fork();
    io::fill_random(mine);
    if (child == 0) ::_exit(::write(ends[1], mine.data(), mine.size()) == 16 ? 0 : 1);
    const bool is_read = ::read(ends[0], theirs.data(), theirs.size()) == 16;
    ::_exit(is_read && mine != theirs ? 0 : 1);
  };
  EXPECT_EXIT(in_a_sandbox(), is_passed_in_a_sandbox, "");
}
#endif

// qemu-user answers like this. The test runs in a program of its own, whose page is not made yet.
TEST(io_fork_mark, a_fork_is_noticed_where_the_kernel_only_claims_to_zero_the_page) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto in_a_sandbox = [] {
    if (!testkit::deny(SYS_madvise, 0)) ::_exit(without_filter);
    std::array<std::byte, 16> before;
    io::fill_random(before);
    const std::uint32_t mine = io::fork_mark();
    const pid_t child = fork();
    if (child == 0) ::_exit(io::fork_mark() != mine && mine != 0 ? 0 : 1);
    int status = 1;
    ::waitpid(child, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  };
  EXPECT_EXIT(in_a_sandbox(), is_passed_in_a_sandbox, "");
}

TEST(io_fork_mark, is_the_same_until_a_fork_and_another_in_each_child) {
  const std::uint32_t mine = io::fork_mark();
  ASSERT_NE(mine, 0u);
  EXPECT_EQ(io::fork_mark(), mine);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint32_t second = io::fork_mark();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      const std::uint32_t third = io::fork_mark();
      _exit(third != second && third != mine ? 0 : 1);
    }
    int status = 1;
    waitpid(grandchild, &status, 0);
    _exit(second != mine && status == 0 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(io::fork_mark(), mine);
}

TEST(jittered, stays_within_its_share_and_varies) {
  testkit::manual_environment env(7);
  std::set<base::duration> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto d = base::jittered(env, std::chrono::seconds{10}, 0.2);
    EXPECT_GE(d, std::chrono::seconds{8});
    EXPECT_LE(d, std::chrono::seconds{12});
    seen.insert(d);
  }
  EXPECT_GT(seen.size(), 990u);
  EXPECT_LT(*seen.begin(), std::chrono::milliseconds{8'200});
  EXPECT_GT(*seen.rbegin(), std::chrono::milliseconds{11'800});
}

TEST(jittered, saturates_instead_of_overflowing) {
  testkit::manual_environment env(7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(base::jittered(env, base::duration::max(), 0.5), base::duration::zero());
    EXPECT_EQ(base::jittered(env, base::duration::zero(), 0.5), base::duration::zero());
  }
}

TEST(io_random, is_drawn_whatever_error_was_there_before) {
  std::vector<std::byte> much(100'000);
  errno = EINTR;
  io::real_environment().random(much);
  EXPECT_NE(much, std::vector<std::byte>(much.size()));
}

}  // namespace
}  // namespace holdfast
