// Waiting where the system has no thread, timer or signal left: a clear error, and no endless wait.
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "backend/file/waiter_threads.hpp"
#include "testkit/seccomp.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;

// The error of a process that has to wait after `takes_away`.
std::string refusal_of_a_wait(const std::function<bool()>& takes_away) {
  const lock_folder folder;
  other_process waiting([&](const other_process::line& l) {
    const auto store = open_backend(folder.url());
    contender holder(*store, "x"), waiter(*store, "x"), next(*store, "x");
    holder.hold();
    if (!takes_away()) return l.say("cannot be tested here");
    waiter.acquire();
    const answer a = waiter.next();
    EXPECT_EQ(a.why.code, errc::unavailable);
    l.say(a.what == kind::refused ? a.why.text : "not refused");
    EXPECT_FALSE(holder.claim().others_wait());
    holder.let_go();
    EXPECT_EQ(next.try_once().what, kind::granted);
    store->close(base::never);
  });
  const std::string said = waiting.hear();
  EXPECT_EQ(waiting.wait(), 0) << said;
  return said;
}

struct shortage {
  std::string says;
  std::function<bool()> takes_away;
};

TEST(file_shortage, is_reported_to_a_waiter_with_its_remedy) {
  const shortage all[] = {
      {"raise the limit of processes (ulimit -u)",
       [] { return testkit::deny(SYS_clone3, EAGAIN) && testkit::deny(SYS_clone, EAGAIN); }},
      {"raise the limit of pending signals (ulimit -i)",
       [] { return testkit::deny(SYS_timer_create, EAGAIN); }},
      {"permit this call in the sandbox (seccomp)",
       [] { return testkit::deny(SYS_timer_create, EPERM); }},
      {"every real-time signal is in use",
       [] {
         for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) ::signal(s, [](int) {});
         return true;
       }},
  };
  for (const shortage& one : all) {
    const std::string said = refusal_of_a_wait(one.takes_away);
    if (said == "cannot be tested here") GTEST_SKIP() << said;
    EXPECT_NE(said.find(one.says), std::string::npos) << said;
  }
}

// A job that ends at once, and whose answer does something.
struct answering_job final : file::blocking_job {
  explicit answering_job(std::function<void()> a) : to_do(std::move(a)) {}
  void block(file::interrupter&) override {}
  void answer() override { to_do(); }
  void stop() noexcept override {}

  const std::function<void()> to_do;
};

TEST(file_waiter_threads, are_closed_after_their_answers) {
  file::waiter_threads threads;
  std::atomic<bool> begun = false, answered = false;
  answering_job job([&] {
    begun = true;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(50));  // longer than close() waits wrongly
    answered = true;
  });
  ASSERT_TRUE(threads.post(job));
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  threads.close(std::chrono::hours(1));
  EXPECT_TRUE(answered);
}

TEST(file_waiter_threads, are_closed_from_an_answer_without_waiting_for_it) {
  file::waiter_threads threads;
  std::atomic<bool> closed = false;
  answering_job job([&] {
    threads.close(std::chrono::hours(1));
    closed = true;
  });
  ASSERT_TRUE(threads.post(job));
  EXPECT_TRUE(eventually([&] { return closed.load(); }));
}

}  // namespace
}  // namespace holdfast::file_test
