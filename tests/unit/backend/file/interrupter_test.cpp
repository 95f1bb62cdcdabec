#include "backend/file/interrupter.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "backend/file/repeated_calls.hpp"
#include "testkit/seccomp.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::file {
namespace {

// The timers of this process, one for each line "ID: ...".
int timers_of_this_process() {
  std::ifstream list("/proc/self/timers");
  int count = 0;
  for (std::string line; std::getline(list, line);) count += line.starts_with("ID:");
  return count;
}

TEST(file_interrupter, has_one_timer_and_deletes_it) {
  if (!std::ifstream("/proc/self/timers")) GTEST_SKIP() << "this kernel does not list timers";
  const int before = timers_of_this_process();
  {
    errno = EAGAIN;  // of an earlier call
    const interrupter one;
    ASSERT_TRUE(one.ready());
    EXPECT_EQ(one.error(), 0);
    EXPECT_EQ(timers_of_this_process(), before + 1);
  }
  EXPECT_EQ(timers_of_this_process(), before);
}

// The real-time signals that have a handler.
std::vector<int> handled_signals() {
  std::vector<int> all;
  for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) {
    struct sigaction now;
    if (::sigaction(s, nullptr, &now) == 0 && now.sa_handler != SIG_DFL) all.push_back(s);
  }
  return all;
}

TEST(file_interrupter, sends_no_signal_that_the_program_has_taken_since) {
  static volatile sig_atomic_t caught = 0;
  { const interrupter before; }
  const std::vector<int> taken = handled_signals();
  ASSERT_FALSE(taken.empty());
  std::vector<struct sigaction> former(taken.size());
  struct sigaction of_program = {};
  of_program.sa_handler = [](int) { caught = 1; };
  for (std::size_t i = 0; i < taken.size(); ++i)
    ASSERT_EQ(::sigaction(taken[i], &of_program, &former[i]), 0);
  {
    interrupter after;
    ASSERT_TRUE(after.ready());
    after.interrupt();
    EXPECT_EQ(::pause(), -1);
    after.calm();
  }
  EXPECT_EQ(caught, 0);
  for (std::size_t i = 0; i < taken.size(); ++i) ::sigaction(taken[i], &former[i], nullptr);
}

TEST(file_interrupter, takes_no_other_signal_where_every_real_time_signal_is_in_use) {
  EXPECT_TRUE(unit_tests::is_true_in_a_child([] {
    for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) ::signal(s, [](int) {});
    const interrupter none;
    return !none.ready() && none.error() == 0;
  }));
}

TEST(file_interrupter, reports_why_it_has_no_timer) {
  EXPECT_TRUE(unit_tests::is_true_in_a_child([] {
    for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) ::signal(s, SIG_DFL);  // as in a new process
    if (!testkit::deny(SYS_timer_create, EPERM)) return true;
    const interrupter none;
    return !none.ready() && none.error() == EPERM;
  }));
}

TEST(file_interrupted_call, is_repeated_until_no_signal_interrupts_it) {
  int calls = 0;
  const auto third_time = [&] {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  };
  EXPECT_EQ(repeat_interrupted(third_time), 7);
  EXPECT_EQ(calls, 3);
}

TEST(file_interrupted_call, that_fails_otherwise_is_not_repeated) {
  int calls = 0;
  const auto fails = [&] {
    ++calls;
    errno = ENOSPC;
    return -1;
  };
  EXPECT_EQ(repeat_interrupted(fails), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace holdfast::file
