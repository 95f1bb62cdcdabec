// Permits of a semaphore in a lock file, in one process and in several.
#include <holdfast/holdfast.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backend/file/holder_bytes.hpp"
#include "shared_page.hpp"
#include "testkit/asleep.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;
using line = other_process::line;

TEST(file_permits, there_are_as_many_as_there_are_over_all_processes) {
  const lock_folder folder;
  other_process first(hold(folder.url(), permits(2, 3)));
  const std::int64_t number = std::stoll(first.hear());
  const auto store = open_backend(folder.url());
  contender a(*store, "x"), b(*store, "x");
  EXPECT_EQ(a.ask_once(permits(2, 3)).why.code, errc::timed_out);
  const answer one = a.ask_once(permits(1, 3));
  EXPECT_EQ(one.what, kind::granted);
  EXPECT_GT(one.number, number);
  EXPECT_EQ(b.ask_once(permits(1, 3)).why.code, errc::timed_out);
  first.say("leave");
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(b.ask_once(permits(2, 3)).what, kind::granted);
  a.let_go();
  b.let_go();
  EXPECT_EQ(a.ask_once(permits(3, 3)).what, kind::granted);  // in several pieces, then in one
  a.let_go();
  store->close(base::never);
}

TEST(file_permits, those_of_a_killed_holder_come_back_to_whoever_waits) {
  const lock_folder folder;
  other_process holder(hold(folder.url(), permits(2, 3)));
  EXPECT_FALSE(holder.hear().empty());
  const auto store = open_backend(folder.url());
  contender waiting(*store, "x");
  waiting.ask(permits(3, 3));
  EXPECT_FALSE(waiting.answered());
  holder.kill();
  EXPECT_EQ(waiting.next().what, kind::granted);
  waiting.let_go();
  store->close(base::never);
}

TEST(file_permits, a_release_wakes_the_waiters_that_it_sees) {
  const opened store;
  contender holder(*store, "x"), a(*store, "x"), b(*store, "x");
  holder.get(permits(2, 2));
  EXPECT_FALSE(holder.claim().others_wait());
  a.ask(permits(1, 2));
  b.ask(permits(1, 2));
  EXPECT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  holder.let_go();
  EXPECT_EQ(a.next().what, kind::granted);
  EXPECT_EQ(b.next().what, kind::granted);
  a.let_go();
  b.let_go();
}

// Waiters are woken by a change of the file's time.
TEST(file_permits, an_attempt_that_takes_none_wakes_no_waiter) {
  const opened store;
  contender holder(*store, "x"), waiting(*store, "x"), hasty(*store, "x");
  holder.get(permits(2, 2));
  waiting.ask(permits(1, 2));
  const file::holder_bytes seen(holder.claim().native_handle());
  ASSERT_TRUE(eventually([&] { return seen.has_queue(); }));
  const std::filesystem::path file = store.folder.file("x.lock");
  const std::filesystem::file_time_type before =
      std::filesystem::last_write_time(file) - std::chrono::hours(1);
  std::filesystem::last_write_time(file, before);
  EXPECT_EQ(hasty.ask_once(permits(1, 2)).why.code, errc::timed_out);
  EXPECT_EQ(std::filesystem::last_write_time(file), before);
  holder.let_go();
  EXPECT_EQ(waiting.next().what, kind::granted);
  waiting.let_go();
}

TEST(file_permits, a_large_request_is_not_starved_by_a_stream_of_small_ones) {
  const lock_folder folder;
  std::vector<std::unique_ptr<other_process>> small;
  for (int p = 0; p < 4; ++p)
    small.push_back(std::make_unique<other_process>([&](const line& l) {
      const auto store = open_backend(folder.url());
      contender one(*store, "x");
      for (bool said = false;; said = true) {
        one.get(permits(1, 3));
        if (!said) l.say("there");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        one.let_go();
      }
    }));
  for (const auto& s : small) EXPECT_EQ(s->hear(), "there");
  const auto store = open_backend(folder.url());
  contender large(*store, "x");
  for (int i = 0; i < 10; ++i) {
    large.get(permits(3, 3));
    large.let_go();
  }
  store->close(base::never);
}

TEST(file_permits, small_requests_do_not_pass_a_large_one_that_waits) {
  const opened store;
  contender a(*store, "x"), b(*store, "x"), large(*store, "x"), small(*store, "x");
  a.get(permits(1, 3));
  b.get(permits(1, 3));
  large.ask(permits(3, 3));
  ASSERT_TRUE(eventually([&] { return a.claim().others_wait(); }));
  EXPECT_EQ(small.ask_once(permits(1, 3)).why.code, errc::timed_out);
  small.ask(permits(1, 3));
  a.let_go();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(large.answered() || small.answered());
  b.let_go();
  EXPECT_EQ(large.next().what, kind::granted);
  EXPECT_FALSE(small.answered());
  large.let_go();
  EXPECT_EQ(small.next().what, kind::granted);
  small.let_go();
}

TEST(file_permits, a_stopped_waiter_does_not_keep_the_others_out_for_ever) {
  const opened store;
  contender holder(*store, "x"), waiting(*store, "x"), hasty(*store, "x");
  holder.get(permits(2, 2));
  other_process stopped(hold(store.folder.url(), permits(1, 2)));
  ASSERT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stopped.stop();
  waiting.ask(permits(1, 2));
  holder.let_go();
  EXPECT_EQ(hasty.ask_once(permits(1, 2)).what, kind::granted);
  hasty.let_go();
  EXPECT_EQ(waiting.next().what, kind::granted);
  waiting.let_go();
  stopped.go_on();
  EXPECT_FALSE(stopped.hear().empty());
}

TEST(file_permits, a_wait_can_be_cancelled_at_any_moment_and_takes_nothing) {
  const opened store;
  contender holder(*store, "x"), first(*store, "x"), second(*store, "x");
  holder.get(permits(2, 2));
  for (int i = 0; i < 300; ++i) {
    first.ask(permits(1, 2));
    second.ask(permits(2, 2));
    if (i % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    first.cancel();
    second.cancel();
    ASSERT_EQ(first.next().what, kind::ended);
    ASSERT_EQ(second.next().what, kind::ended);
  }
  EXPECT_FALSE(holder.claim().others_wait());
  holder.let_go();
  EXPECT_EQ(first.ask_once(permits(2, 2)).what, kind::granted);
  first.let_go();
}

TEST(file_permits, another_count_is_reported_while_some_are_held) {
  const lock_folder folder;
  other_process holder(hold(folder.url(), permits(1, 3)));
  holder.hear();
  const auto store = open_backend(folder.url());
  contender other(*store, "x");
  for (const bool attempt : {true, false}) {
    if (attempt) {
      const answer a = other.ask_once(permits(1, 4));
      EXPECT_EQ(a.why.code, errc::mismatch);
      EXPECT_NE(a.why.text.find("a semaphore of 3 permits"), std::string::npos) << a.why.text;
    } else {
      other.ask(permits(1, 4));
      EXPECT_EQ(other.next().why.code, errc::mismatch);
    }
  }
  holder.kill();
  EXPECT_GT(other.get(permits(4, 4)), 0);
  other.let_go();
  store->close(base::never);
}

TEST(file_permits, a_lock_and_a_semaphore_on_one_name_are_reported) {
  const opened store;
  contender semaphore(*store, "x"), lock(*store, "x");
  semaphore.get(permits(1, 3));
  for (const seam::acquire_request& how : {seam::acquire_request{}, share()}) {
    EXPECT_EQ(lock.ask_once(how).why.code, errc::mismatch);
    lock.ask(how);
    EXPECT_EQ(lock.next().why.code, errc::mismatch);
  }
  semaphore.let_go();
  for (const seam::acquire_request& how : {seam::acquire_request{}, share()}) {
    lock.get(how);
    EXPECT_EQ(semaphore.ask_once(permits(1, 3)).why.code, errc::mismatch);
    semaphore.ask(permits(1, 3));
    EXPECT_EQ(semaphore.next().why.code, errc::mismatch);
    lock.let_go();
  }
  EXPECT_GT(semaphore.get(permits(3, 3)), 0);
  semaphore.let_go();
}

// The thread of that process that waits for a lock; 0: none has started.
pid_t waiting_thread_of(pid_t process) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "holdfast-flock") return static_cast<pid_t>(std::stol(task.path().filename()));
  }
  return 0;
}

TEST(file_permits, a_lock_that_came_before_a_waiter_for_permits_is_reported_to_it) {
  const opened store;
  contender semaphore(*store, "x"), lock(*store, "x");
  semaphore.get(permits(1, 1));
  other_process waiting([&](const line& l) {
    const auto its = open_backend(store.folder.url());
    contender p(*its, "x");
    p.ask(permits(1, 1));
    l.say(p.next().why.code == errc::mismatch ? "mismatch" : "another answer, or none");
    its->close(base::never);
  });
  ASSERT_TRUE(eventually([&] { return semaphore.claim().others_wait(); }));
  // In an attempt it has the file locked for a moment, and stopped then it would keep it.
  ASSERT_TRUE(testkit::falls_asleep(waiting.pid(), waiting_thread_of(waiting.pid())));
  waiting.stop();
  semaphore.let_go();
  lock.hold();
  waiting.go_on();
  EXPECT_EQ(waiting.hear(), "mismatch");
  lock.let_go();
}

TEST(file_permits, none_or_more_than_there_are_are_refused) {
  const opened store;
  contender p(*store, "x");
  for (const seam::acquire_request& wrong : {permits(0, 3), permits(4, 3), permits(1, 2'000'000)})
    EXPECT_EQ(p.ask_once(wrong).why.code, errc::bad_option);
  p.get(permits(1'000'000, 1'000'000));
  p.let_go();
}

TEST(file_permits, inspect_shows_each_holder_with_its_permits) {
  const lock_folder folder;
  other_process other(hold(folder.url(), permits(1, 6)));
  other.hear();
  const auto store = open_backend(folder.url());
  contender a(*store, "x"), b(*store, "x"), c(*store, "x");
  a.get(permits(1, 6));
  b.get(permits(2, 6));
  a.let_go();
  c.get(permits(3, 6));  // in two pieces
  const auto all = inspect(*store);
  ASSERT_EQ(all.size(), 3u);
  std::vector<std::uint32_t> counts;
  for (const holder& h : all) {
    EXPECT_EQ(h.mode, lock_mode::permit);
    EXPECT_EQ(h.total_permits, 6u);
    counts.push_back(h.permits);
  }
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{1, 3, 2}));
  EXPECT_EQ(all[0].pid, other.pid());
  b.let_go();
  c.let_go();
  store->close(base::never);
}

TEST(file_permits, the_descriptor_keeps_all_of_a_holder) {
  const opened store;
  contender other(*store, "x");
  int copy = -1;
  {
    const auto its = open_backend(store.folder.url());
    contender holder(*its, "x");
    holder.get(permits(2, 2));
    copy = ::dup(holder.claim().native_handle());
    ASSERT_GE(copy, 0);
    EXPECT_EQ(other.ask_once(permits(1, 2)).why.code, errc::timed_out);
    holder.let_go();  // explicitly, whoever has a copy
    EXPECT_EQ(other.ask_once(permits(2, 2)).what, kind::granted);
    its->close(base::never);
  }
  ::close(copy);
  other.let_go();
}

struct counter {
  std::atomic<int> taken{0}, most{0}, too_many{0};
  void enter(int count, int of) noexcept {
    const int now = taken += count;
    if (now > of) ++too_many;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
  }
  void leave(int count) noexcept { taken -= count; }
};

TEST(file_permits, eight_processes_never_take_more_than_there_are) {
  constexpr int of = 5;
  const lock_folder folder;
  const shared_page<counter> seen;
  std::vector<std::unique_ptr<other_process>> all;
  for (int p = 0; p < 8; ++p) {
    all.push_back(std::make_unique<other_process>([&, p](const line& l) {
      const auto store = open_backend(folder.url());
      contender one(*store, "x");
      for (int i = 0; i < 200; ++i) {
        const int count = 1 + (i + p) % 3;
        one.get(permits(static_cast<std::uint32_t>(count), of));
        seen->enter(count, of);
        if (i % 10 == 0) std::this_thread::yield();
        seen->leave(count);
        one.let_go();
      }
      store->close(base::never);
      l.say("done");
    }));
  }
  for (const auto& p : all) EXPECT_EQ(p->hear(), "done");
  for (const auto& p : all) EXPECT_EQ(p->wait(), 0);
  EXPECT_EQ(seen->too_many, 0);
  EXPECT_GT(seen->most, 1);
}

TEST(file_permits, holders_killed_at_random_leave_all_permits) {
  const opened store;
  contender mine(*store, "x");
  std::int64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    other_process victim([&](const line& l) {
      const auto its = open_backend(store.folder.url());
      contender p(*its, "x"), q(*its, "x");
      l.say("ready");
      for (;;) {
        p.get(permits(2, 5));
        q.get(permits(3, 5));
        p.let_go();
        q.let_go();
      }
    });
    EXPECT_EQ(victim.hear(), "ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 5));
    victim.kill();
    const std::int64_t number = mine.get(permits(5, 5));
    EXPECT_GT(number, last);
    last = number;
    mine.let_go();
  }
}

}  // namespace
}  // namespace holdfast::file_test
