#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <holdfast/log.hpp>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "io/real_environment.hpp"
#include "testkit/no_descriptors.hpp"
#include "testkit/seccomp.hpp"
#include "tests/unit/in_a_child.hpp"
#include "tests/unit/open_descriptors.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
constexpr auto alarm_bound = 30s;

struct ringer final : base::alarm_target {
  std::counting_semaphore<> rung{0};
  std::mutex mutex;
  std::vector<base::time_point> times;
  std::function<void(base::time_point)> also;

  void on_alarm(base::time_point now) override {
    {
      const std::lock_guard lock(mutex);
      times.push_back(now);
    }
    if (also) also(now);
    rung.release();
  }
};

base::environment& env() { return io::real_environment(); }

TEST(io_alarm, rings_at_its_time_and_never_before) {
  ringer r;
  auto alarm = env().make_alarm(r, "test");
  const auto at = env().now() + 20ms;
  alarm->set(at);
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  EXPECT_GE(r.times.at(0), at);
  EXPECT_GE(env().now(), r.times.at(0));
}

TEST(io_alarm, a_time_that_has_passed_rings_at_once) {
  ringer r;
  auto alarm = env().make_alarm(r, "test");
  for (const auto t : {env().now() - 1s, base::time_point{}, base::time_point::min()}) {
    alarm->set(t);
    ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  }
}

TEST(io_alarm, an_earlier_time_replaces_a_later_one_while_it_sleeps) {
  ringer r;
  auto alarm = env().make_alarm(r, "test");
  alarm->set(env().now() + 10h);
  alarm->set(env().now() + 10ms);
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
}

TEST(io_alarm, a_later_time_replaces_an_earlier_one) {
  ringer r, control;
  auto alarm = env().make_alarm(r, "test");
  auto after = env().make_alarm(control, "test");
  const auto soon = env().now() + 100ms;
  alarm->set(soon);
  const auto later = soon + 200ms;
  alarm->set(later);
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  EXPECT_GE(r.times.at(0), later);
}

TEST(io_alarm, never_cancels) {
  ringer r, control;
  auto alarm = env().make_alarm(r, "test");
  auto after = env().make_alarm(control, "test");
  const auto soon = env().now() + 200ms;
  alarm->set(soon);
  alarm->set(base::never);
  after->set(soon + 100ms);
  ASSERT_TRUE(control.rung.try_acquire_for(alarm_bound));
  EXPECT_FALSE(r.rung.try_acquire());
}

TEST(io_alarm, is_set_again_from_its_own_call) {
  ringer r;
  base::alarm* itself = nullptr;  // the owner's pointer changes while the last call runs
  r.also = [&](base::time_point now) { itself->set(now + 1ms); };
  auto alarm = env().make_alarm(r, "test");
  itself = alarm.get();
  alarm->set(env().now());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  alarm.reset();
}

TEST(io_alarm, many_rings_are_gathered_into_few) {
  ringer r;
  base::alarm* itself = nullptr;  // the owner's pointer changes while the last call runs
  r.also = [&](base::time_point now) { itself->set(now); };
  auto alarm = env().make_alarm(r, "test");
  itself = alarm.get();
  alarm->set(env().now());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  alarm.reset();
  for (std::size_t i = 1; i < r.times.size(); ++i) EXPECT_GE(r.times[i] - r.times[i - 1], 500us);
}

TEST(io_alarm, many_threads_setting_it_at_once_lose_no_ring) {
  ringer r;
  auto alarm = env().make_alarm(r, "test");
  for (int round = 0; round < 200; ++round) {
    std::thread a([&] { alarm->set(env().now()); });
    std::thread b([&] { alarm->set(env().now() + 1us); });
    a.join();
    b.join();
    ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
    while (r.rung.try_acquire()) {}
  }
}

TEST(io_alarm, destroying_waits_for_a_call_under_way) {
  ringer r;
  std::binary_semaphore inside{0};
  std::atomic<bool> left = false;
  r.also = [&](base::time_point) {
    inside.release();
    std::this_thread::sleep_for(50ms);
    left = true;
  };
  auto alarm = env().make_alarm(r, "test");
  alarm->set(env().now());
  inside.acquire();
  alarm.reset();
  EXPECT_TRUE(left);
}

TEST(io_alarm, may_be_destroyed_from_its_own_call) {
  auto r = std::make_unique<ringer>();
  std::promise<void> done;
  std::unique_ptr<base::alarm> alarm = env().make_alarm(*r, "test");
  r->also = [&](base::time_point) {
    alarm.reset();
    done.set_value();
  };
  alarm->set(env().now());
  ASSERT_EQ(done.get_future().wait_for(alarm_bound), std::future_status::ready);
  ASSERT_TRUE(r->rung.try_acquire_for(alarm_bound));
}

TEST(io_alarm, its_thread_has_the_name_and_takes_no_signals) {
  ringer r;
  std::string name(32, '\0');
  sigset_t blocked;
  r.also = [&](base::time_point) {
    pthread_getname_np(pthread_self(), name.data(), name.size());
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  };
  auto alarm = env().make_alarm(r, "hf-a-name-that-is-too-long");
  alarm->set(env().now() + 1ms);
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  EXPECT_STREQ(name.c_str(), "hf-a-name-that-");
  for (int s : {SIGTERM, SIGINT, SIGALRM, SIGCHLD, SIGUSR1, SIGHUP})
    EXPECT_TRUE(sigismember(&blocked, s)) << s;
  EXPECT_FALSE(sigismember(&blocked, SIGSEGV));
}

TEST(io_alarm, rings_while_no_descriptor_is_left) {
  if (testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  ringer r;
  const testkit::no_descriptors none;
  auto alarm = env().make_alarm(r, "test");
  const auto at = env().now() + 20ms;
  ASSERT_TRUE(alarm->set(at));
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  EXPECT_GE(r.times.at(0), at);
  ASSERT_TRUE(alarm->set(env().now() + 10h));
  ASSERT_TRUE(alarm->set(env().now() + 10ms));
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
  alarm->set(env().now() + 10h);
}

// Each sleep of its thread is a voluntary switch; a thread that looks again and again makes none.
TEST(io_alarm, sleeps_until_its_time_with_a_descriptor_and_without) {
  if (testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  for (const bool has_one : {true, false}) {
    ringer r;
    std::vector<long> sleeps;
    r.also = [&](base::time_point) {
      rusage used{};
      ::getrusage(RUSAGE_THREAD, &used);
      sleeps.push_back(used.ru_nvcsw);
    };
    std::optional<testkit::no_descriptors> none;
    if (!has_one) none.emplace();
    auto alarm = env().make_alarm(r, "test");
    for (const auto after : {0ms, 50ms}) {
      ASSERT_TRUE(alarm->set(env().now() + after));
      ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
    }
    alarm.reset();
    ASSERT_EQ(sleeps.size(), 2u);
    EXPECT_GT(sleeps[1], sleeps[0]) << has_one;
  }
}

std::size_t timers_open() {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory's own, and those of other threads
    found += std::filesystem::read_symlink(entry, gone) == "anon_inode:[timerfd]" ? 1 : 0;
  }
  return found;
}

TEST(io_alarm, takes_the_descriptor_that_comes_free) {
  if (testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  ringer r;
  auto alarm = env().make_alarm(r, "test");
  {
    const testkit::no_descriptors none;
    ASSERT_TRUE(alarm->set(env().now() + 10h));
  }
  const auto end = env().now() + alarm_bound;
  while (timers_open() == 0 && env().now() < end) std::this_thread::yield();
  EXPECT_EQ(timers_open(), 1u);
  ASSERT_TRUE(alarm->set(env().now() + 10ms));
  ASSERT_TRUE(r.rung.try_acquire_for(alarm_bound));
}

TEST(io_alarm, in_a_forks_child_it_is_dead_and_destroying_it_does_not_hang) {
  ringer r;
  auto alarm = env().make_alarm(r, "test");
  alarm->set(env().now() + 1h);
  const pid_t child = fork();
  if (child == 0) {
    ::alarm(20);  // ends the child if it hangs
    alarm->set(env().now());
    alarm.reset();
#ifdef __SANITIZE_THREAD__  // cannot start a thread in the child of a process with threads
    _exit(0);
#endif
    ringer fresh;
    auto own = env().make_alarm(fresh, "test");
    own->set(env().now());
    _exit(fresh.rung.try_acquire_for(alarm_bound) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  alarm->set(env().now());
  EXPECT_TRUE(r.rung.try_acquire_for(alarm_bound));
}

TEST(timer_alarm, is_refused_and_logged_once_where_no_thread_can_be_started) {
  constexpr int no_filter = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // ends the child if it hangs
    int lines = 0;
    set_log_hook([](log_level, std::string_view, void* to) { ++*static_cast<int*>(to); }, &lines);
    if (!testkit::deny_threads()) ::_exit(no_filter);
    ringer r;
    base::environment& env = io::real_environment();
    const auto alarm = env.make_alarm(r, "test");
    const auto is_refused = [&] { return !alarm->set(env.now() + 1h) && lines == 1; };
    ::_exit(is_refused() && is_refused() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_filter) GTEST_SKIP() << "no seccomp";
  EXPECT_EQ(status, 0);
}

TEST(timer_alarm, leaves_no_descriptor_in_the_child_of_a_fork) {
  ringer r;
  auto alarm = io::real_environment().make_alarm(r, "test");
  ASSERT_TRUE(alarm->set(io::real_environment().now() + 1h));
  EXPECT_TRUE(unit_tests::is_true_in_a_child([&] {
    const auto before = unit_tests::open_descriptors();
    alarm.reset();
    return unit_tests::open_descriptors() < before;
  }));
}

}  // namespace
}  // namespace holdfast
