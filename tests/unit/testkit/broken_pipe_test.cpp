#include "testkit/broken_pipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace holdfast::testkit {
namespace {

bool blocks_broken_pipe() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return ::sigismember(&blocked, SIGPIPE) == 1;
}

bool has_broken_pipe() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

TEST(without_broken_pipe_signal, a_write_to_a_closed_pipe_only_fails) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  const bool was_blocked = blocks_broken_pipe();
  for (int i = 0; i < 2; ++i) {
    const without_broken_pipe_signal guard;
    const auto written = ::write(ends[1], "x", 1);
    const int why = errno;
    EXPECT_EQ(written, -1);
    EXPECT_EQ(why, EPIPE);
  }
  ::close(ends[1]);
  EXPECT_FALSE(has_broken_pipe());
  EXPECT_EQ(blocks_broken_pipe(), was_blocked);
}

}  // namespace
}  // namespace holdfast::testkit
