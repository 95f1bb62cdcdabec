#include "backend/file/interrupter.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "backend/file/repeated_calls.hpp"

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
    const interrupter one;
    ASSERT_TRUE(one.ready());
    EXPECT_EQ(timers_of_this_process(), before + 1);
  }
  EXPECT_EQ(timers_of_this_process(), before);
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
