#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "io/real_environment.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
constexpr auto worker_bound = 30s;

TEST(io_worker, runs_jobs_in_order_on_one_thread_of_its_own) {
  auto worker = io::real_environment().make_worker("test");
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 100; ++i)
    worker->post([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  worker.reset();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  for (const auto& t : threads) EXPECT_EQ(t, threads.front());
  EXPECT_NE(threads.front(), std::this_thread::get_id());
}

TEST(io_worker, a_job_may_post_and_what_it_posts_is_run_before_the_end) {
  auto worker = io::real_environment().make_worker("test");
  bool ran = false;
  base::worker* w = worker.get();
  std::promise<void> posted;
  worker->post([&] {
    w->post([&] { ran = true; });
    posted.set_value();
  });
  posted.get_future().wait();
  worker.reset();
  EXPECT_TRUE(ran);
}

TEST(io_worker, may_be_destroyed_by_a_job_of_its_own) {
  auto worker = io::real_environment().make_worker("test");
  std::promise<void> first, second;
  std::promise<void> go;
  auto wait = go.get_future().share();
  worker->post([&, wait] {
    wait.wait();
    worker.reset();
    first.set_value();
  });
  worker->post([&] { second.set_value(); });
  go.set_value();
  ASSERT_EQ(first.get_future().wait_for(worker_bound), std::future_status::ready);
  ASSERT_EQ(second.get_future().wait_for(worker_bound), std::future_status::ready);
}

TEST(io_worker, in_a_forks_child_it_is_dead_and_destroying_it_does_not_hang) {
  auto worker = io::real_environment().make_worker("test");
  std::promise<void> ran;
  worker->post([&] { ran.set_value(); });
  ran.get_future().wait();
  const pid_t child = fork();
  if (child == 0) {
    ::alarm(20);  // ends the child if it hangs
    bool dropped = true;
    worker->post([&] { dropped = false; });
    worker.reset();
    _exit(dropped ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace holdfast
