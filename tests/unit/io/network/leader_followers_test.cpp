#include "io/network/leader_followers.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "io/network/background_driver.hpp"

namespace holdfast::network_tests {
namespace {

using namespace std::chrono_literals;

// A server in the same process: signals each parker that was asked, in order.
class answering final : public io::engine, public base::loop_user {
 public:
  void run_once(base::duration most) noexcept override {
    std::vector<base::parker*> answered;
    {
      std::unique_lock l(mutex_);
      EXPECT_FALSE(std::exchange(running_, true)) << "two drive at a time";
      const auto due = [&] { return interrupted_ || (!sent_.empty() && !holds_back); };
      if (most == base::duration::max())
        changed_.wait(l, due);
      else
        changed_.wait_until(l, std::chrono::system_clock::now() + most, due);
      interrupted_ = false;
      if (!holds_back) answered.assign(sent_.begin(), sent_.end());
      if (!holds_back) sent_.clear();
      running_ = false;
    }
    expected_.fetch_sub(static_cast<int>(answered.size()));
    for (base::parker* p : answered)
      if (p) p->signal();
  }
  void interrupt() noexcept override {
    const std::lock_guard l(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }
  void flush() noexcept override {
    if (on_flush) on_flush();
    const std::lock_guard l(mutex_);
    if (!collected_.empty()) ++writes;
    sent_.insert(sent_.end(), collected_.begin(), collected_.end());
    collected_.clear();
    changed_.notify_all();
    flushed_.notify_all();
  }
  bool has_pending_replies() const noexcept override { return expected_.load() > 0; }

  void ask(base::parker* p) {
    const std::lock_guard l(mutex_);
    collected_.push_back(p);
    expected_.fetch_add(1);
  }
  void release() {
    const std::lock_guard l(mutex_);
    holds_back = false;
    changed_.notify_all();
  }
  void wait_until_all_is_written() {
    std::unique_lock l(mutex_);
    flushed_.wait(l, [&] { return collected_.empty(); });
  }
  bool is_written_within(base::duration limit) {
    std::unique_lock l(mutex_);
    return flushed_.wait_for(l, limit, [&] { return collected_.empty(); });
  }
  void wait_until_all_is_answered() {
    while (has_pending_replies()) std::this_thread::yield();
  }

  bool holds_back = false;
  int writes = 0;
  std::function<void()> on_flush;

 private:
  std::mutex mutex_;
  std::condition_variable changed_, flushed_;
  std::deque<base::parker*> collected_, sent_;
  bool interrupted_ = false, running_ = false;
  std::atomic<int> expected_{0};
};

void ask_and_wait(answering& server, io::leader_followers& leader_followers) {
  base::parker p;
  server.ask(&p);
  leader_followers.run_until_signalled(p);
  EXPECT_TRUE(p.signalled());
}

// Each of the threads does it so many times; it is told which thread it is in.
template <class Each>
void in_threads(int threads, int rounds, Each each) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) each(t);
    });
  for (auto& t : all) t.join();
}

TEST(leader_followers, a_lone_caller_drives_itself) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  for (int i = 0; i < 10; ++i) {
    ask_and_wait(server, leader_followers);
    EXPECT_FALSE(leader_followers.is_held());
  }
  EXPECT_EQ(leader_followers.taken_by_callers(), 10u);
}

TEST(leader_followers, a_parker_that_has_its_answer_is_not_kept) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  p.signal();
  leader_followers.run_until_signalled(p);
  EXPECT_EQ(leader_followers.taken_by_callers(), 0u);
}

TEST(leader_followers, while_nothing_is_expected_callers_sleep_and_nobody_drives) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  std::thread caller([&] { leader_followers.run_until_signalled(p); });
  p.signal();
  caller.join();
  EXPECT_EQ(leader_followers.taken_by_callers(), 0u);
}

TEST(leader_followers, while_nothing_is_expected_no_follower_is_woken_to_drive) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  base::parker of_sleeper, p;
  base::follower sleeper(of_sleeper);
  leader_followers.enlist(sleeper);
  server.on_flush = [&] { p.signal(); };
  leader_followers.run_until_signalled(p);
  EXPECT_EQ(leader_followers.taken_by_callers(), 0u);
  of_sleeper.signal();
  leader_followers.sleep_until_signalled(sleeper);
}

TEST(leader_followers, a_driver_whom_another_thread_answers_comes_out_of_its_sleep) {
  answering server;
  server.holds_back = true;
  io::leader_followers leader_followers(server, server, false);
  base::parker never_answered, p;
  server.ask(&never_answered);
  std::thread caller([&] { leader_followers.run_until_signalled(p); });
  while (!leader_followers.is_held()) std::this_thread::yield();
  p.signal();
  caller.join();
  EXPECT_FALSE(leader_followers.is_held());
}

TEST(leader_followers, a_leader_that_leaves_promotes_a_follower) {
  answering server;
  server.holds_back = true;
  io::leader_followers leader_followers(server, server, false);
  base::parker first, second;
  server.ask(&first);
  std::thread driver([&] { leader_followers.run_until_signalled(first); });
  while (!leader_followers.is_held()) std::this_thread::yield();
  server.ask(&second);
  std::thread sleeper([&] { leader_followers.run_until_signalled(second); });
  server.wait_until_all_is_written();
  first.signal();  // by this thread: the server has answered nobody yet
  driver.join();
  while (leader_followers.taken_by_callers() < 2) std::this_thread::yield();
  second.signal();
  sleeper.join();
  EXPECT_FALSE(leader_followers.is_held());
}

// A server whose leader is awake whenever the test is called.
class awake_leader final : public io::engine, public base::loop_user {
 public:
  void run_once(base::duration) noexcept override { when_awake(); }
  void interrupt() noexcept override {}
  void flush() noexcept override { ++flushes; }
  bool has_pending_replies() const noexcept override { return true; }

  std::function<void()> when_awake;
  int flushes = 0;
};

// A server whose loop is a call of the test.
class played_loop final : public io::engine, public base::loop_user {
 public:
  void run_once(base::duration limit) noexcept override { on_round(limit); }
  void interrupt() noexcept override { ++interrupts; }
  void flush() noexcept override {}
  bool has_pending_replies() const noexcept override { return expects; }

  std::function<void(base::duration)> on_round;
  bool expects = true;
  int interrupts = 0;
};

TEST(leader_followers, a_leader_that_leaves_writes_what_was_left_to_it) {
  awake_leader server;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  server.when_awake = [&] {
    leader_followers.awake();
    server.flushes = 0;
    leader_followers.write_now();
    EXPECT_EQ(server.flushes, 0) << "it is left to the leader";
    p.signal();
  };
  leader_followers.run_until_signalled(p);
  EXPECT_EQ(server.flushes, 1);
}

TEST(leader_followers, a_leader_that_leaves_writes_nothing_that_was_not_left_to_it) {
  awake_leader server;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  server.when_awake = [&] {
    leader_followers.awake();
    server.flushes = 0;
    p.signal();
  };
  leader_followers.run_until_signalled(p);
  EXPECT_EQ(server.flushes, 0);
}

TEST(leader_followers, a_leader_writes_once_what_was_left_to_it) {
  awake_leader server;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  int rounds = 0;
  server.when_awake = [&] {
    if (++rounds == 1) return leader_followers.awake(), leader_followers.write_now();
    leader_followers.awake();
    server.flushes = 0;
    p.signal();
  };
  leader_followers.run_until_signalled(p);
  EXPECT_EQ(rounds, 2);
  EXPECT_EQ(server.flushes, 0) << "its second round has written it";
}

// A caller that waits for another thread of its client.
struct local_caller {
  base::parker parker;
  base::follower follower{parker};
  std::thread thread;
  explicit local_caller(io::leader_followers& b)
      : thread([&] { b.sleep_until_signalled(follower); }) {}
};

TEST(leader_followers, a_thread_that_waits_for_another_thread_never_leads) {
  answering server;
  server.holds_back = true;
  io::leader_followers leader_followers(server, server, false);
  local_caller local(leader_followers);
  base::parker pushed;
  server.ask(&pushed);  // it is expected, whoever waits
  EXPECT_FALSE(leader_followers.promote());
  EXPECT_FALSE(leader_followers.is_held());
  local.parker.signal();
  local.thread.join();
  EXPECT_EQ(leader_followers.taken_by_callers(), 0u);
}

TEST(leader_followers, a_thread_that_waits_for_another_thread_first_writes_what_was_collected) {
  answering server;
  server.holds_back = true;
  io::leader_followers leader_followers(server, server, false);
  server.ask(nullptr);
  leader_followers.note_unflushed();
  local_caller local(leader_followers);
  EXPECT_TRUE(server.is_written_within(10s));
  local.parker.signal();
  local.thread.join();
}

TEST(leader_followers, a_thread_that_slept_leads_once_it_awaits_the_store) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  local_caller local(leader_followers);
  server.ask(&local.parker);
  leader_followers.enlist(local.follower);
  EXPECT_TRUE(leader_followers.promote());
  local.thread.join();
  EXPECT_EQ(leader_followers.taken_by_callers(), 1u);
  EXPECT_FALSE(leader_followers.is_held());
}

// The thread is stopped between its request and its sleep, promoted, and answered by another.
TEST(leader_followers, a_leader_answered_before_it_came_gives_the_leadership_back) {
  answering server;
  server.holds_back = true;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  base::follower f(p);
  leader_followers.enlist(f);
  server.ask(&p);
  EXPECT_TRUE(leader_followers.promote());
  p.signal();
  local_caller next(leader_followers);
  leader_followers.enlist(next.follower);
  leader_followers.sleep_until_signalled(f);
  EXPECT_EQ(leader_followers.taken_by_callers(), 2u) << "nobody was made the leader after it";
  next.parker.signal();
  next.thread.join();
  EXPECT_FALSE(leader_followers.is_held());
}

TEST(leader_followers, a_sleeper_drives_when_something_comes_to_be_expected) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  base::parker p;
  std::thread sleeper([&] { leader_followers.run_until_signalled(p); });
  server.ask(&p);  // by another: a hand-over
  leader_followers.write_now();
  while (!p.signalled()) leader_followers.promote();
  sleeper.join();
}

TEST(leader_followers, many_callers_are_all_answered_on_one_cpu_and_on_many) {
  for (const bool one_cpu : {true, false}) {
    answering server;
    io::leader_followers leader_followers(server, server, one_cpu);
    in_threads(8, 2000, [&](int) { ask_and_wait(server, leader_followers); });
    EXPECT_FALSE(leader_followers.is_held());
    EXPECT_FALSE(server.has_pending_replies());
  }
}

TEST(leader_followers, more_callers_than_bits_are_all_answered) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  in_threads(100, 20, [&](int) { ask_and_wait(server, leader_followers); });
  EXPECT_FALSE(server.has_pending_replies());
}

TEST(background_driver, writes_what_was_collected_when_nobody_comes) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  io::background_driver background_driver(leader_followers, server, "test");
  for (int i = 0; i < 20; ++i) {
    server.ask(nullptr);
    if (leader_followers.note_unflushed()) background_driver.wake();
    server.wait_until_all_is_written();
  }
  server.wait_until_all_is_answered();
}

TEST(background_driver, drives_after_attend) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  io::background_driver background_driver(leader_followers, server, "test");
  for (int i = 0; i < 20; ++i) {
    server.ask(nullptr);
    leader_followers.write_now();
    background_driver.attend();
    server.wait_until_all_is_answered();
  }
  EXPECT_EQ(leader_followers.taken_by_callers(), 0u);
}

TEST(background_driver, is_relieved_by_a_caller) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  io::background_driver background_driver(leader_followers, server, "test");
  for (int i = 0; i < 20; ++i) {
    server.holds_back = true;
    base::parker pushed;
    server.ask(&pushed);  // answered by nobody for long
    background_driver.attend();
    while (!leader_followers.is_held()) std::this_thread::yield();
    base::parker p;
    server.ask(&p);
    const auto before = leader_followers.taken_by_callers();
    std::thread caller([&] { leader_followers.run_until_signalled(p); });
    while (leader_followers.taken_by_callers() == before) std::this_thread::yield();
    server.release();
    caller.join();
    server.wait_until_all_is_answered();
  }
}

TEST(background_driver, drives_on_when_the_last_caller_leaves_and_something_is_expected) {
  answering server;
  server.holds_back = true;
  io::leader_followers leader_followers(server, server, false);
  io::background_driver background_driver(leader_followers, server, "test");
  base::parker p;
  server.ask(nullptr);
  std::thread caller([&] { leader_followers.run_until_signalled(p); });
  while (leader_followers.taken_by_callers() == 0) std::this_thread::yield();
  p.signal();
  caller.join();
  server.release();
  server.wait_until_all_is_answered();
}

// A push grant or the end of the connection comes while only local waiters are there.
TEST(background_driver, reads_unasked_messages_while_callers_wait_for_each_other) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  io::background_driver background_driver(leader_followers, server, "test");
  for (int i = 0; i < 20; ++i) {
    local_caller local(leader_followers);
    server.ask(&local.parker);  // a push that wakes it
    leader_followers.write_now();
    background_driver.attend();
    local.thread.join();
  }
  EXPECT_EQ(leader_followers.taken_by_callers(), 0u);
}

TEST(background_driver, callers_and_what_nobody_waits_for_go_together) {
  answering server;
  io::leader_followers leader_followers(server, server, false);
  io::background_driver background_driver(leader_followers, server, "test");
  in_threads(4, 1000, [&](int t) {
    ask_and_wait(server, leader_followers);
    server.ask(nullptr);
    if (t % 2) {
      leader_followers.write_now();
      background_driver.attend();
    } else if (leader_followers.note_unflushed()) {
      background_driver.wake();
    }
  });
  server.wait_until_all_is_answered();
}

TEST(background_driver, that_leads_and_sleeps_is_interrupted_by_what_is_collected) {
  played_loop server;
  io::leader_followers leader_followers(server, server, false);
  std::atomic<bool> enough = false;
  int while_watchful = 0, while_asleep = 0, rounds = 0;
  server.on_round = [&](base::duration limit) {
    const bool sleeps = limit == base::duration::max();
    EXPECT_TRUE(leader_followers.note_unflushed());
    (sleeps ? while_asleep : while_watchful) += std::exchange(server.interrupts, 0);
    leader_followers.write_collected();
    enough = sleeps || ++rounds > 100;
  };
  leader_followers.drive_in_background(enough, 1ms, true);
  EXPECT_GT(rounds, 0) << "it is watchful at first";
  EXPECT_EQ(while_watchful, 0) << "it checks by itself";
  EXPECT_EQ(while_asleep, 1);
}

TEST(background_driver, steps_down_when_no_reply_is_expected_any_more) {
  played_loop server;
  io::leader_followers leader_followers(server, server, false);
  std::atomic<bool> enough = false;
  int rounds = 0;
  server.on_round = [&](base::duration) {
    server.expects = false;
    enough = ++rounds > 100;
  };
  leader_followers.drive_in_background(enough, 1ms, true);
  EXPECT_LE(rounds, 2);
  EXPECT_FALSE(leader_followers.is_held());
}

struct counted_background final : io::background_thread {
  int attended = 0, woken = 0;
  void attend() noexcept override { ++attended; }
  void wake() noexcept override { ++woken; }
};

TEST(leader_followers, leave_what_no_caller_awaits_to_the_background_driver_if_there_is_one) {
  played_loop server;
  io::leader_followers leader_followers(server, server, false);
  leader_followers.attend();
  counted_background background;
  leader_followers.set_background(&background);
  leader_followers.attend();
  EXPECT_EQ(background.attended, 1);
  leader_followers.set_background(nullptr);
}

}  // namespace
}  // namespace holdfast::network_tests
