// Locks of processes that die, stop, fork and start others.
#include <holdfast/holdfast.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>

#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;
using line = other_process::line;

void hold_until_killed(const std::string& url, const line& to_test) {
  const auto store = open_backend(url);
  contender holder(*store, "x");
  to_test.say(std::to_string(holder.hold()));
  to_test.hear();
}

TEST(file_process, a_killed_holder_frees_the_lock_and_its_waiter_gets_a_greater_number) {
  const lock_folder folder;
  other_process holder([&](const line& l) { hold_until_killed(folder.url(), l); });
  const std::int64_t killed = std::stoll(holder.hear());
  const auto store = open_backend(folder.url());
  contender waiter(*store, "x");
  EXPECT_EQ(waiter.try_once().what, kind::refused);
  waiter.acquire();
  holder.kill();
  const answer a = waiter.next();
  ASSERT_EQ(a.what, kind::granted);
  EXPECT_GT(a.number, killed);
  waiter.let_go();
  store->close(base::never);
}

TEST(file_process, a_stopped_holder_keeps_the_lock) {
  const lock_folder folder;
  other_process holder([&](const line& l) { hold_until_killed(folder.url(), l); });
  holder.hear();
  holder.stop();
  const auto store = open_backend(folder.url());
  contender other(*store, "x");
  EXPECT_EQ(other.try_once().why.code, errc::timed_out);
  holder.go_on();
  EXPECT_EQ(other.try_once().why.code, errc::timed_out);
  store->close(base::never);
}

TEST(file_process, a_stopped_waiter_does_not_hold_up_the_others) {
  const opened store;
  contender holder(*store, "x"), waiter(*store, "x");
  holder.hold();
  other_process stopped([&](const line& l) { hold_until_killed(store.folder.url(), l); });
  ASSERT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  stopped.stop();
  waiter.acquire();
  holder.let_go();
  EXPECT_EQ(waiter.next().what, kind::granted);
  waiter.let_go();
  stopped.go_on();
  EXPECT_FALSE(stopped.hear().empty());  // it goes on waiting, and is served
}

TEST(file_process, a_stopped_waiter_does_not_hold_up_a_request_with_the_release) {
  const opened store;
  contender holder(*store, "x"), heir(*store, "x");
  holder.hold();
  other_process stopped([&](const line& l) { hold_until_killed(store.folder.url(), l); });
  ASSERT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
  stopped.stop();
  const seam::successor next{&heir.claim(), {}};
  holder.claim().release(&next);
  EXPECT_EQ(holder.next().what, kind::ended);
  EXPECT_EQ(heir.next().what, kind::granted);
  heir.let_go();
}

TEST(file_process, the_end_of_a_forks_child_does_not_release) {
  const lock_folder folder;
  client mine = client::open(folder.url()), others = client::open(folder.url());
  const auto lock = mine.mutex("x"), same = others.mutex("x");
  const lease held = lock.acquire();
  other_process child([&](const line&) {
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.status(), errc::forked);
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(same.try_acquire());
}

TEST(file_process, a_forks_child_that_lives_on_does_not_keep_its_killed_parents_lock) {
  const lock_folder folder;
  other_process parent([&](const line& to_test) {
    const client c = client::open(folder.url());
    const auto lock = c.mutex("x");
    for (int i = 0; i < 10; ++i) (void)lock.acquire();  // all that a claim keeps between cycles
    const lease held = lock.acquire();
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGHUP, SIG_IGN);
      for (;;) ::pause();
    }
    to_test.say(std::to_string(child));
    to_test.hear();
  });
  const pid_t child = static_cast<pid_t>(std::stol(parent.hear()));
  const auto store = open_backend(folder.url());
  contender waiter(*store, "x");
  waiter.acquire();
  parent.kill();
  EXPECT_EQ(waiter.next().what, kind::granted);
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  waiter.let_go();
  store->close(base::never);
}

TEST(file_process, a_forks_child_can_lock_with_a_client_of_its_own) {
  const lock_folder folder;
  const client before = client::open(folder.url());
  const auto lock = before.mutex("x");
  lease held = lock.acquire();
  other_process child([&](const line& l) {
    l.hear();
    const client own = client::open(folder.url());
    const lease mine = own.mutex("x").acquire();
    EXPECT_TRUE(mine.held());
    EXPECT_GT(mine.token(), held.token());
  });
  held.release();
  child.say("free");
  EXPECT_EQ(child.wait(), 0);
}

TEST(file_process, a_program_that_inherits_the_descriptor_keeps_the_lock_until_it_ends) {
  const lock_folder folder;
  other_process wrapper([&](const line& to_test) {
    const client c = client::open(folder.url());
    const lease held = c.mutex("x").acquire();
    const int inherited = ::fcntl(held.native_handle(), F_DUPFD, 0);  // without CLOEXEC
    const pid_t job = ::vfork();  // as posix_spawn: no atfork handlers
    if (job == 0) {
      ::execlp("sleep", "sleep", "1000", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(inherited);
    to_test.say(std::to_string(job));
    to_test.hear();
  });
  const pid_t job = static_cast<pid_t>(std::stol(wrapper.hear()));
  wrapper.kill();
  const auto store = open_backend(folder.url());
  contender other(*store, "x");
  EXPECT_EQ(other.try_once().why.code, errc::timed_out);
  other.acquire();
  ::kill(job, SIGKILL);
  EXPECT_EQ(other.next().what, kind::granted);
  other.let_go();
  store->close(base::never);
}

struct arena {
  std::atomic<int> inside{0};
  std::atomic<std::int64_t> last{0};
  std::atomic<int> overlaps{0}, steps_back{0};

  void visit(std::int64_t token) noexcept {
    if (inside.fetch_add(1) != 0) ++overlaps;
    if (last.exchange(token) >= token) ++steps_back;
    inside.fetch_sub(1);
  }
};

TEST(file_process, eight_processes_on_one_lock_never_overlap_and_their_tokens_only_grow) {
  const lock_folder folder;
  void* const shared =
      ::mmap(nullptr, sizeof(arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  arena& a = *new (shared) arena;
  std::vector<std::unique_ptr<other_process>> all;
  for (int p = 0; p < 8; ++p) {
    all.push_back(std::make_unique<other_process>([&](const line& l) {
      const client c = client::open(folder.url() + "?turns=4");
      const auto lock = c.mutex("x");
      std::vector<std::thread> threads;
      for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
          for (int i = 0; i < 300; ++i) {
            const lease held = i % 5 ? lock.acquire() : lock.try_acquire();
            if (held) a.visit(held.token());
          }
        });
      for (std::thread& t : threads) t.join();
      l.say("done");
    }));
  }
  for (const auto& p : all) EXPECT_EQ(p->hear(), "done");
  for (const auto& p : all) EXPECT_EQ(p->wait(), 0);
  EXPECT_EQ(a.overlaps, 0);
  EXPECT_EQ(a.steps_back, 0);
  EXPECT_GT(a.last, 0);
  ::munmap(shared, sizeof(arena));
}

TEST(file_process, holders_killed_at_random_leave_no_overlap_no_step_back_and_no_garbage) {
  const lock_folder folder;
  void* const shared =
      ::mmap(nullptr, sizeof(arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  arena& a = *new (shared) arena;
  const auto store = open_backend(folder.url());
  contender mine(*store, "x");
  for (int round = 0; round < 40; ++round) {
    other_process victim([&](const line& l) {
      const client c = client::open(folder.url());
      const auto lock = c.mutex("x");
      l.say("ready");
      for (;;) {
        const lease held = lock.acquire();
        if (a.last.exchange(held.token() >> 10) >= held.token() >> 10) ++a.steps_back;
      }
    });
    EXPECT_EQ(victim.hear(), "ready");
    const std::int64_t seen = a.last;
    ASSERT_TRUE(eventually([&] { return a.last > seen; }));
    victim.kill();
    const std::int64_t number = mine.hold();
    if (a.last.exchange(number) >= number) ++a.steps_back;
    mine.let_go();
  }
  EXPECT_EQ(a.steps_back, 0);
  ::munmap(shared, sizeof(arena));
  store->close(base::never);
}

}  // namespace
}  // namespace holdfast::file_test
