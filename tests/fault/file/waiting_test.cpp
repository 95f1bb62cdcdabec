// Waiting for a file's lock, and ceasing to.
#include <holdfast/holdfast.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(all, {}));
}

TEST(file_waiting, a_blocked_wait_can_be_cancelled) {
  const opened store;
  contender holder(*store, "x"), waiter(*store, "x");
  holder.hold();
  waiter.acquire();
  ASSERT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  EXPECT_FALSE(waiter.answered());
  waiter.cancel();
  EXPECT_EQ(waiter.next().what, kind::ended);
  EXPECT_FALSE(holder.claim().others_wait());
  holder.let_go();
  waiter.hold();  // it is as new
  waiter.let_go();
}

TEST(file_waiting, a_cancel_at_any_moment_is_answered_once) {
  const opened store;
  contender holder(*store, "x"), waiter(*store, "x");
  std::mt19937_64 random(5);
  for (int i = 0; i < 2'000; ++i) {
    holder.hold();
    waiter.acquire();
    for (std::uint64_t spins = random() % 20'000; spins > 0; --spins)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    waiter.cancel();
    ASSERT_EQ(waiter.next().what, kind::ended);
    ASSERT_FALSE(waiter.answered());
    holder.let_go();
  }
}

TEST(file_waiting, a_cancel_that_races_with_the_grant_ends_or_is_too_late) {
  const opened store;
  contender holder(*store, "x"), waiter(*store, "x");
  std::mt19937_64 random(6);
  int granted = 0, ended = 0;
  for (int i = 0; i < 20'000 && (i < 1'000 || !granted || !ended); ++i) {
    holder.hold();
    waiter.acquire();
    std::thread releasing([&] { holder.claim().release(nullptr); });
    for (std::uint64_t spins = random() % 50'000; spins > 0; --spins)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    waiter.cancel();
    const answer a = waiter.next();
    releasing.join();
    ASSERT_EQ(holder.next().what, kind::ended);
    if (a.what == kind::granted) {
      ++granted;
      waiter.let_go();
    } else {
      ASSERT_EQ(a.what, kind::ended);
      ++ended;
    }
    ASSERT_FALSE(waiter.answered());
  }
  EXPECT_GT(granted, 0);
  EXPECT_GT(ended, 0);
}

TEST(file_waiting, a_holder_sees_whether_another_process_waits) {
  const opened store;
  contender holder(*store, "x");
  holder.hold();
  EXPECT_FALSE(holder.claim().others_wait());
  other_process waiter([&](const other_process::line& l) {
    const auto its = open_backend(store.folder.url());
    contender p(*its, "x");
    p.acquire();
    l.hear();
  });
  EXPECT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  waiter.kill();
  EXPECT_FALSE(holder.claim().others_wait());
  holder.let_go();
}

TEST(file_waiting, a_holder_sees_waiters_though_their_file_was_deleted) {
  const opened store;
  contender holder(*store, "x"), waiter(*store, "x");
  holder.hold();
  EXPECT_FALSE(holder.claim().others_wait());
  std::filesystem::remove(store.folder.file("x.waiters"));
  waiter.acquire();
  EXPECT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  holder.let_go();
  EXPECT_EQ(waiter.next().what, kind::granted);
  waiter.let_go();
}

TEST(file_waiting, a_request_with_the_release_is_granted_after_the_waiter) {
  const opened store;
  contender a(*store, "x"), b(*store, "x"), heir(*store, "x");
  for (int i = 0; i < 200; ++i) {
    a.hold();
    b.acquire();
    const seam::successor next{&heir.claim(), {}};
    a.claim().release(&next);
    ASSERT_EQ(a.next().what, kind::ended);
    contender *first = nullptr, *second = nullptr;
    ASSERT_TRUE(eventually([&] { return b.answered() || heir.answered(); }));
    first = b.answered() ? &b : &heir;
    second = first == &b ? &heir : &b;
    ASSERT_EQ(first->next().what, kind::granted);
    ASSERT_FALSE(second->answered());
    first->let_go();
    ASSERT_EQ(second->next().what, kind::granted);
    second->let_go();
  }
}

TEST(file_waiting, closing_answers_those_that_wait) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  contender holder(*store, "x"), one(*store, "x"), two(*store, "x");
  holder.hold();
  one.acquire();
  two.acquire();
  store->close(base::never);
  for (contender* p : {&one, &two}) {
    const answer a = p->next();
    EXPECT_EQ(a.what, kind::refused);
    EXPECT_EQ(a.why.code, errc::closed);
  }
  holder.let_go();
}

// Whether a thread is blocked in flock(2) on the file.
bool is_waited_for(const std::filesystem::path& file) {
  struct stat st;
  if (::stat(file.c_str(), &st) != 0) return false;
  std::ifstream locks("/proc/locks");
  const std::string inode = ':' + std::to_string(st.st_ino) + ' ';
  for (std::string one; std::getline(locks, one);)
    if (one.find("-> FLOCK") != one.npos && one.find(inode) != one.npos) return true;
  return false;
}

TEST(file_waiting, a_wait_can_be_cancelled_while_another_process_keeps_the_file_of_waiters) {
  const opened store;
  contender holder(*store, "x"), waiter(*store, "x");
  holder.hold();
  const int other =
      ::open(store.folder.file("x.waiters").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  waiter.acquire();
  ASSERT_TRUE(eventually([&] { return is_waited_for(store.folder.file("x.waiters")); }));
  waiter.cancel();
  const answer a = waiter.next();
  EXPECT_EQ(a.what, kind::ended) << a.why.text;
  ::close(other);
  holder.let_go();
}

TEST(file_waiting, many_locks_are_waited_for_at_once) {
  const opened store;
  std::vector<std::unique_ptr<contender>> holders, waiters;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "lock " + std::to_string(i);
    holders.push_back(std::make_unique<contender>(*store, name));
    waiters.push_back(std::make_unique<contender>(*store, name));
    holders.back()->hold();
    waiters.back()->acquire();
  }
  for (const auto& h : holders) h->let_go();
  for (const auto& w : waiters) {
    EXPECT_EQ(w->next().what, kind::granted);
    w->let_go();
  }
}

TEST(file_waiting, signals_of_the_program_neither_end_a_wait_nor_reach_its_thread) {
  static std::atomic<int> caught{0};
  struct sigaction how = {}, before = {};
  how.sa_handler = [](int) { ++caught; };
  ASSERT_EQ(::sigaction(SIGUSR1, &how, &before), 0);
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  contender holder(*store, "x"), waiter(*store, "x");
  holder.hold();
  waiter.acquire();
  ASSERT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  for (int i = 0; i < 100; ++i) ::kill(::getpid(), SIGUSR1);
  EXPECT_TRUE(eventually([] { return caught > 0; }));
  EXPECT_FALSE(waiter.answered());
  holder.let_go();
  EXPECT_EQ(waiter.next().what, kind::granted);
  waiter.let_go();
  store->close(base::never);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(file_waiting, a_real_time_signal_that_the_program_uses_is_left_alone) {
  static std::atomic<int> caught{0};
  struct sigaction how = {}, before = {};
  how.sa_handler = [](int) { ++caught; };
  ASSERT_EQ(::sigaction(SIGRTMAX - 1, &how, &before), 0);
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  contender holder(*store, "x"), waiter(*store, "x");
  for (int i = 0; i < 100; ++i) {
    holder.hold();
    waiter.acquire();
    waiter.cancel();
    EXPECT_EQ(waiter.next().what, kind::ended);
    holder.let_go();
  }
  EXPECT_EQ(caught, 0);
  store->close(base::never);
  ::sigaction(SIGRTMAX - 1, &before, nullptr);
}

TEST(file_waiting, descriptors_are_given_back) {
  const lock_folder folder;
  const std::size_t before = open_files();
  for (int i = 0; i < 5; ++i) {
    const auto store = open_backend(folder.url());
    contender holder(*store, "x"), waiter(*store, "x");
    holder.hold();
    waiter.acquire();
    EXPECT_EQ(inspect(*store).size(), 1u);
    holder.let_go();
    EXPECT_EQ(waiter.next().what, kind::granted);
    waiter.let_go();
    store->close(base::never);
  }
  EXPECT_EQ(open_files(), before);
}

TEST(file_waiting, many_idle_locks_do_not_use_up_the_descriptors) {
  const opened store;
  const std::size_t before = open_files();
  std::vector<std::unique_ptr<contender>> all;
  for (int i = 0; i < 700; ++i) {
    all.push_back(std::make_unique<contender>(*store, "lock " + std::to_string(i)));
    all.back()->hold();
    all.back()->let_go();
  }
  EXPECT_LT(open_files(), before + 300);
}

}  // namespace
}  // namespace holdfast::file_test
