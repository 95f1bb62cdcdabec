#include "io/network/leader_followers.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "io/network/background_driver.hpp"

namespace holdfast::network_tests {
namespace {

using namespace std::chrono_literals;

// A server in the same process: signals each parker that was asked, in order.
class answering final : public io::engine, public core::loop_user {
 public:
  void run_once(core::duration most) noexcept override {
    std::vector<core::parker*> answered;
    {
      std::unique_lock l(mutex_);
      EXPECT_FALSE(std::exchange(running_, true)) << "two drive at a time";
      const auto due = [&] { return interrupted_ || (!sent_.empty() && !holds_back); };
      if (most == core::duration::max())
        changed_.wait(l, due);
      else
        changed_.wait_until(l, std::chrono::system_clock::now() + most, due);
      interrupted_ = false;
      if (!holds_back) answered.assign(sent_.begin(), sent_.end());
      if (!holds_back) sent_.clear();
      running_ = false;
    }
    expected_.fetch_sub(static_cast<int>(answered.size()));
    for (core::parker* p : answered)
      if (p) p->signal();
  }
  void interrupt() noexcept override {
    const std::lock_guard l(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }
  void flush() noexcept override {
    const std::lock_guard l(mutex_);
    if (!collected_.empty()) ++writes;
    sent_.insert(sent_.end(), collected_.begin(), collected_.end());
    collected_.clear();
    changed_.notify_all();
    flushed_.notify_all();
  }
  bool expects() const noexcept override { return expected_.load() > 0; }

  void ask(core::parker* p) {
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
  void wait_until_all_is_answered() {
    while (expects()) std::this_thread::yield();
  }

  bool holds_back = false;
  int writes = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_, flushed_;
  std::deque<core::parker*> collected_, sent_;
  bool interrupted_ = false, running_ = false;
  std::atomic<int> expected_{0};
};

void ask_and_wait(answering& server, io::baton& baton) {
  core::parker p;
  server.ask(&p);
  baton.run_until_signalled(p);
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

TEST(baton, a_lone_caller_drives_itself) {
  answering server;
  io::baton baton(server, server, false);
  for (int i = 0; i < 10; ++i) {
    ask_and_wait(server, baton);
    EXPECT_FALSE(baton.is_held());
  }
  EXPECT_EQ(baton.taken_by_callers(), 10u);
}

TEST(baton, a_parker_that_has_its_answer_is_not_kept) {
  answering server;
  io::baton baton(server, server, false);
  core::parker p;
  p.signal();
  baton.run_until_signalled(p);
  EXPECT_EQ(baton.taken_by_callers(), 0u);
}

TEST(baton, while_nothing_is_expected_callers_sleep_and_nobody_drives) {
  answering server;
  io::baton baton(server, server, false);
  core::parker p;
  std::thread caller([&] { baton.run_until_signalled(p); });
  p.signal();
  caller.join();
  EXPECT_EQ(baton.taken_by_callers(), 0u);
}

TEST(baton, a_driver_whom_another_thread_answers_comes_out_of_its_sleep) {
  answering server;
  server.holds_back = true;
  io::baton baton(server, server, false);
  core::parker never_answered, p;
  server.ask(&never_answered);
  std::thread caller([&] { baton.run_until_signalled(p); });
  while (!baton.is_held()) std::this_thread::yield();
  p.signal();
  caller.join();
  EXPECT_FALSE(baton.is_held());
}

TEST(baton, a_driver_who_leaves_names_an_heir) {
  answering server;
  server.holds_back = true;
  io::baton baton(server, server, false);
  core::parker first, second;
  server.ask(&first);
  std::thread driver([&] { baton.run_until_signalled(first); });
  while (!baton.is_held()) std::this_thread::yield();
  server.ask(&second);
  std::thread sleeper([&] { baton.run_until_signalled(second); });
  server.wait_until_all_is_written();
  first.signal();  // by this thread: the server has answered nobody yet
  driver.join();
  while (baton.taken_by_callers() < 2) std::this_thread::yield();
  second.signal();
  sleeper.join();
  EXPECT_FALSE(baton.is_held());
}

// A caller that waits for another thread of its client.
struct local_caller {
  core::parker parker;
  core::follower follower{parker};
  std::thread thread;
  explicit local_caller(io::baton& b) : thread([&] { b.sleep_until_signalled(follower); }) {}
};

TEST(baton, a_thread_that_waits_for_another_thread_never_leads) {
  answering server;
  server.holds_back = true;
  io::baton baton(server, server, false);
  local_caller local(baton);
  core::parker pushed;
  server.ask(&pushed);  // it is expected, whoever waits
  EXPECT_FALSE(baton.promote());
  EXPECT_FALSE(baton.is_held());
  local.parker.signal();
  local.thread.join();
  EXPECT_EQ(baton.taken_by_callers(), 0u);
}

TEST(baton, a_thread_that_slept_leads_once_it_awaits_the_store) {
  answering server;
  io::baton baton(server, server, false);
  local_caller local(baton);
  server.ask(&local.parker);
  baton.enlist(local.follower);
  EXPECT_TRUE(baton.promote());
  local.thread.join();
  EXPECT_EQ(baton.taken_by_callers(), 1u);
  EXPECT_FALSE(baton.is_held());
}

// The thread is stopped between its request and its sleep, promoted, and answered by another.
TEST(baton, a_leader_answered_before_it_came_gives_the_leadership_back) {
  answering server;
  server.holds_back = true;
  io::baton baton(server, server, false);
  core::parker p;
  core::follower f(p);
  baton.enlist(f);
  server.ask(&p);
  EXPECT_TRUE(baton.promote());
  p.signal();
  local_caller next(baton);
  baton.enlist(next.follower);
  baton.sleep_until_signalled(f);
  EXPECT_EQ(baton.taken_by_callers(), 2u) << "nobody was made the leader after it";
  next.parker.signal();
  next.thread.join();
  EXPECT_FALSE(baton.is_held());
}

TEST(baton, a_sleeper_drives_when_something_comes_to_be_expected) {
  answering server;
  io::baton baton(server, server, false);
  core::parker p;
  std::thread sleeper([&] { baton.run_until_signalled(p); });
  server.ask(&p);  // by another: a hand-over
  baton.write_now();
  while (!p.signalled()) baton.promote();
  sleeper.join();
}

TEST(baton, many_callers_are_all_answered_on_one_cpu_and_on_many) {
  for (const bool one_cpu : {true, false}) {
    answering server;
    io::baton baton(server, server, one_cpu);
    in_threads(8, 2000, [&](int) { ask_and_wait(server, baton); });
    EXPECT_FALSE(baton.is_held());
    EXPECT_FALSE(server.expects());
  }
}

TEST(baton, more_callers_than_bits_are_all_answered) {
  answering server;
  io::baton baton(server, server, false);
  in_threads(100, 20, [&](int) { ask_and_wait(server, baton); });
  EXPECT_FALSE(server.expects());
}

TEST(stand_in, writes_what_was_collected_when_nobody_comes) {
  answering server;
  io::baton baton(server, server, false);
  io::stand_in stand_in(baton, server, "test");
  for (int i = 0; i < 20; ++i) {
    server.ask(nullptr);
    if (baton.note_collected()) stand_in.rouse();
    server.wait_until_all_is_written();
  }
  server.wait_until_all_is_answered();
}

TEST(stand_in, drives_when_it_is_told_to_attend) {
  answering server;
  io::baton baton(server, server, false);
  io::stand_in stand_in(baton, server, "test");
  for (int i = 0; i < 20; ++i) {
    server.ask(nullptr);
    baton.write_now();
    stand_in.attend();
    server.wait_until_all_is_answered();
  }
  EXPECT_EQ(baton.taken_by_callers(), 0u);
}

TEST(stand_in, is_relieved_by_a_caller) {
  answering server;
  io::baton baton(server, server, false);
  io::stand_in stand_in(baton, server, "test");
  for (int i = 0; i < 20; ++i) {
    server.holds_back = true;
    core::parker pushed;
    server.ask(&pushed);  // answered by nobody for long
    stand_in.attend();
    while (!baton.is_held()) std::this_thread::yield();
    core::parker p;
    server.ask(&p);
    const auto before = baton.taken_by_callers();
    std::thread caller([&] { baton.run_until_signalled(p); });
    while (baton.taken_by_callers() == before) std::this_thread::yield();
    server.release();
    caller.join();
    server.wait_until_all_is_answered();
  }
}

TEST(stand_in, drives_on_when_the_last_caller_leaves_and_something_is_expected) {
  answering server;
  server.holds_back = true;
  io::baton baton(server, server, false);
  io::stand_in stand_in(baton, server, "test");
  core::parker p;
  server.ask(nullptr);
  std::thread caller([&] { baton.run_until_signalled(p); });
  while (baton.taken_by_callers() == 0) std::this_thread::yield();
  p.signal();
  caller.join();
  server.release();
  server.wait_until_all_is_answered();
}

// A push grant or the end of the connection comes while only local waiters are there.
TEST(stand_in, reads_what_comes_unasked_while_callers_wait_for_each_other) {
  answering server;
  io::baton baton(server, server, false);
  io::stand_in stand_in(baton, server, "test");
  for (int i = 0; i < 20; ++i) {
    local_caller local(baton);
    server.ask(&local.parker);  // a push that wakes it
    baton.write_now();
    stand_in.attend();
    local.thread.join();
  }
  EXPECT_EQ(baton.taken_by_callers(), 0u);
}

TEST(stand_in, callers_and_what_nobody_waits_for_go_together) {
  answering server;
  io::baton baton(server, server, false);
  io::stand_in stand_in(baton, server, "test");
  in_threads(4, 1000, [&](int t) {
    ask_and_wait(server, baton);
    server.ask(nullptr);
    if (t % 2) {
      baton.write_now();
      stand_in.attend();
    } else if (baton.note_collected()) {
      stand_in.rouse();
    }
  });
  server.wait_until_all_is_answered();
}

}  // namespace
}  // namespace holdfast::network_tests
