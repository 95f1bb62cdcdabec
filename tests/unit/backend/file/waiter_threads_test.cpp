#include "backend/file/waiter_threads.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::file {
namespace {

using namespace std::chrono_literals;

struct short_job final : blocking_job {
  void block(interrupter&) override {}
  void answer() override {}
  void stop() noexcept override {}
};

TEST(waiter_threads, take_no_job_once_they_are_closed) {
  short_job job;
  waiter_threads threads;
  threads.close(1min);
  EXPECT_FALSE(threads.post(job));
  threads.close(1min);
}

}  // namespace
}  // namespace holdfast::file
