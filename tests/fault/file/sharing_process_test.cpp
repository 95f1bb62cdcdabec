// Readers of a lock file that are killed, stopped, forked, or many.
#include <holdfast/holdfast.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "backend/file/holder_bytes.hpp"
#include "shared_page.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;
using line = other_process::line;

TEST(file_sharing_process, a_killed_reader_frees_its_share) {
  const lock_folder folder;
  other_process reader(hold(folder.url(), share()));
  EXPECT_FALSE(reader.hear().empty());
  const auto store = open_backend(folder.url());
  contender writer(*store, "x");
  writer.acquire();
  EXPECT_FALSE(writer.answered());
  reader.kill();
  EXPECT_EQ(writer.next().what, kind::granted);
  writer.let_go();
  store->close(base::never);
}

TEST(file_sharing_process, a_stream_of_readers_does_not_starve_a_writer) {
  const lock_folder folder;
  std::vector<std::unique_ptr<other_process>> readers;
  for (int p = 0; p < 6; ++p)
    readers.push_back(std::make_unique<other_process>([&](const line& l) {
      const auto store = open_backend(folder.url());
      contender reader(*store, "x");
      for (bool said = false;; said = true) {  // together they are always there
        reader.get(share());
        if (!said) l.say("reading");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        reader.let_go();
      }
    }));
  for (const auto& r : readers) EXPECT_EQ(r->hear(), "reading");
  const auto store = open_backend(folder.url());
  contender writer(*store, "x");
  for (int i = 0; i < 20; ++i) {
    writer.hold();
    writer.let_go();
  }
  store->close(base::never);
}

TEST(file_sharing_process, a_stopped_writer_that_waits_does_not_keep_readers_out_for_ever) {
  const opened store;
  contender reader(*store, "x"), late(*store, "x"), hasty(*store, "x");
  reader.get(share());
  other_process writer([&](const line& l) {
    const auto its = open_backend(store.folder.url());
    contender p(*its, "x");
    l.say(std::to_string(p.hold()));
    p.let_go();
  });
  ASSERT_TRUE(eventually([&] { return reader.claim().others_wait(); }));
  writer.stop();
  late.ask(share());
  reader.let_go();
  EXPECT_EQ(hasty.ask_once(share()).what, kind::granted);
  hasty.let_go();
  EXPECT_EQ(late.next().what, kind::granted);
  late.let_go();
  writer.go_on();
  EXPECT_FALSE(writer.hear().empty());  // it goes on waiting, and is served
}

TEST(file_sharing_process, a_job_that_inherits_the_descriptor_keeps_the_share) {
  const lock_folder folder;
  other_process wrapper([&](const line& l) {
    const auto store = open_backend(folder.url());
    contender reader(*store, "x");
    reader.get(share());
    const int inherited = ::fcntl(reader.claim().native_handle(), F_DUPFD, 0);
    const pid_t job = ::vfork();
    if (job == 0) {
      ::execlp("sleep", "sleep", "1000", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(inherited);
    l.say(std::to_string(job));
    l.hear();
  });
  const pid_t job = static_cast<pid_t>(std::stol(wrapper.hear()));
  wrapper.kill();
  const auto store = open_backend(folder.url());
  contender writer(*store, "x"), reader(*store, "x");
  EXPECT_EQ(writer.try_once().why.code, errc::timed_out);
  EXPECT_EQ(reader.ask_once(share()).what, kind::granted);
  EXPECT_EQ(inspect(*store).size(), 2u);
  reader.let_go();
  ::kill(job, SIGKILL);
  writer.hold();
  writer.let_go();
  store->close(base::never);
}

TEST(file_sharing_process, a_process_stopped_on_entry_delays_the_others_which_get_an_error) {
  const opened store;
  contender a(*store, "x"), b(*store, "x");
  a.get(share());
  other_process entering([&](const line& l) {
    const int fd = ::open(store.folder.file("x.lock").c_str(), O_RDWR | O_CLOEXEC);
    file::holder_bytes all(fd);
    l.say(all.take_guard() == file::holder_bytes::outcome::done ? "in" : "not in");
    l.hear();
  });
  ASSERT_EQ(entering.hear(), "in");
  const answer attempt = b.ask_once(share());
  EXPECT_EQ(attempt.why.code, errc::unavailable);
  EXPECT_NE(attempt.why.text.find("stopped"), std::string::npos) << attempt.why.text;
  b.ask(share());
  EXPECT_TRUE(eventually([&] { return a.claim().others_wait(); }));
  EXPECT_FALSE(b.answered());
  b.cancel();
  EXPECT_EQ(b.next().what, kind::ended);
  b.ask(share());
  entering.kill();
  EXPECT_EQ(b.next().what, kind::granted);
  b.let_go();
  a.let_go();
}

TEST(file_sharing_process, a_forks_child_that_lives_on_keeps_neither_share_nor_permit) {
  for (const seam::acquire_request& how : {share(), permits(2, 2)}) {
    const lock_folder folder;
    other_process parent([&](const line& l) {
      const auto client = client::open(folder.url());
      const lease held = how.mode == lock_mode::shared
                             ? client.shared_mutex("x").acquire_shared()
                             : client.semaphore("x", 2).acquire({.permits = 2});
      const pid_t child = ::fork();
      if (child == 0) {
        ::signal(SIGHUP, SIG_IGN);
        l.say(std::to_string(::getpid()));  // after fork() has closed its descriptors
        for (;;) ::pause();
      }
      l.hear();
    });
    const auto child = static_cast<pid_t>(std::stol(parent.hear()));
    const auto store = open_backend(folder.url());
    contender next(*store, "x");
    EXPECT_NE(next.ask_once(how.mode == lock_mode::shared ? seam::acquire_request{} : how).what,
              kind::granted);
    parent.kill();
    next.hold();
    next.let_go();
    ::kill(child, SIGKILL);
    store->close(base::never);
  }
}

struct readers_and_writers {
  std::atomic<int> readers{0}, writers{0}, wrong{0};
  std::atomic<std::int64_t> last{0};

  void read(std::int64_t number) noexcept {
    ++readers;
    if (writers != 0) ++wrong;
    std::int64_t seen = last;
    while (seen < number && !last.compare_exchange_weak(seen, number)) {}
    if (seen > number) ++wrong;
    --readers;
  }
  void write(std::int64_t number) noexcept {
    ++writers;
    if (writers != 1 || readers != 0) ++wrong;
    if (last.exchange(number) >= number) ++wrong;
    --writers;
  }
};

TEST(file_sharing_process, eight_processes_of_readers_and_writers_never_mix_and_numbers_only_grow) {
  const lock_folder folder;
  const shared_page<readers_and_writers> seen;
  std::vector<std::unique_ptr<other_process>> all;
  for (int p = 0; p < 8; ++p) {
    all.push_back(std::make_unique<other_process>([&, p](const line& l) {
      const auto store = open_backend(folder.url());
      contender one(*store, "x");
      for (int i = 0; i < 300; ++i) {
        const bool writes = (i + p) % 4 == 0;
        const std::int64_t number = one.get(writes ? seam::acquire_request{} : share());
        if (writes) {
          seen->write(number);
        } else {
          seen->read(number);
        }
        one.let_go();
      }
      store->close(base::never);
      l.say("done");
    }));
  }
  for (const auto& p : all) EXPECT_EQ(p->hear(), "done");
  for (const auto& p : all) EXPECT_EQ(p->wait(), 0);
  EXPECT_EQ(seen->wrong, 0);
  EXPECT_GT(seen->last, 0);
}

}  // namespace
}  // namespace holdfast::file_test
