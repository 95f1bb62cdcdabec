// Readers of a lock file, in one process and in several.
#include <holdfast/holdfast.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <new>
#include <thread>

#include "file_stage.hpp"
#include "shared_page.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;
using line = other_process::line;

// Takes what is asked for, says its number, and has it until a line is heard.
std::function<void(const line&)> hold(const std::string& url, const core::ask& how) {
  return [url, how](const line& l) {
    const auto store = open_backend(url);
    party p(*store, "x");
    l.say(std::to_string(p.get(how)));
    l.hear();
    p.let_go();
    store->close(core::never);
  };
}

TEST(file_sharing, readers_of_several_processes_hold_together_under_one_number) {
  const lock_folder folder;
  other_process first(hold(folder.url(), share()));
  const std::string number = first.hear();
  other_process second(hold(folder.url(), share()));
  EXPECT_EQ(second.hear(), number);
  const auto store = open_backend(folder.url());
  party third(*store, "x"), writer(*store, "x");
  EXPECT_EQ(std::to_string(third.get(share())), number);
  EXPECT_EQ(writer.try_once().why.code, errc::timed_out);
  first.say("leave");
  EXPECT_EQ(first.wait(), 0);
  party late(*store, "x");
  EXPECT_EQ(std::to_string(late.get(share())), number);  // the group goes on without its founder
  late.let_go();
  second.kill();
  third.let_go();
  EXPECT_GT(third.get(share()), std::stoll(number));  // all had gone
  third.let_go();
  store->close(core::never);
}

TEST(file_sharing, readers_and_a_writer_keep_each_other_out) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party reader(*store, "x"), writer(*store, "x");
  const std::int64_t first = reader.get(share());
  EXPECT_EQ(writer.try_once().why.code, errc::timed_out);
  reader.let_go();
  const std::int64_t second = writer.hold();
  EXPECT_GT(second, first);
  EXPECT_EQ(reader.ask_once(share()).why.code, errc::timed_out);
  reader.ask(share());
  EXPECT_FALSE(reader.answered());
  EXPECT_TRUE(eventually([&] { return writer.claim().others_wait(); }));
  writer.let_go();
  const answer a = reader.next();
  EXPECT_EQ(a.what, kind::granted);
  EXPECT_GT(a.number, second);
  reader.let_go();
  store->close(core::never);
}

TEST(file_sharing, a_killed_reader_frees_its_share) {
  const lock_folder folder;
  other_process reader(hold(folder.url(), share()));
  EXPECT_FALSE(reader.hear().empty());
  const auto store = open_backend(folder.url());
  party writer(*store, "x");
  writer.acquire();
  EXPECT_FALSE(writer.answered());
  reader.kill();
  EXPECT_EQ(writer.next().what, kind::granted);
  writer.let_go();
  store->close(core::never);
}

TEST(file_sharing, a_reader_that_comes_while_a_writer_waits_comes_in_after_it) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party reader(*store, "x"), writer(*store, "x"), late(*store, "x"), hasty(*store, "x");
  const std::int64_t first = reader.get(share());
  writer.acquire();
  ASSERT_TRUE(eventually([&] { return reader.claim().others_wait(); }));
  EXPECT_EQ(hasty.ask_once(share()).why.code, errc::timed_out);
  late.ask(share());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(late.answered());
  reader.let_go();
  const answer w = writer.next();
  EXPECT_EQ(w.what, kind::granted);
  EXPECT_GT(w.number, first);
  EXPECT_FALSE(late.answered());
  writer.let_go();
  const answer r = late.next();
  EXPECT_EQ(r.what, kind::granted);
  EXPECT_GT(r.number, w.number);
  late.let_go();
  store->close(core::never);
}

TEST(file_sharing, a_reader_that_waits_for_a_writer_that_gives_up_comes_in) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party reader(*store, "x"), writer(*store, "x"), late(*store, "x");
  reader.get(share());
  writer.acquire();
  ASSERT_TRUE(eventually([&] { return reader.claim().others_wait(); }));
  late.ask(share());
  writer.cancel();
  EXPECT_EQ(writer.next().what, kind::ended);
  EXPECT_EQ(late.next().what, kind::granted);
  late.let_go();
  reader.let_go();
  store->close(core::never);
}

TEST(file_sharing, a_reader_that_waits_can_be_cancelled) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party holder(*store, "x"), other(*store, "x"), reader(*store, "x");
  holder.hold();
  for (const bool behind_a_writer : {false, true}) {
    if (behind_a_writer) {
      other.acquire();
      ASSERT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
    }
    for (int i = 0; i < 200; ++i) {
      reader.ask(share());
      if (i % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      reader.cancel();
      ASSERT_EQ(reader.next().what, kind::ended);
    }
  }
  holder.let_go();
  EXPECT_EQ(other.next().what, kind::granted);
  other.let_go();
  reader.get(share());
  reader.let_go();
  store->close(core::never);
}

TEST(file_sharing, a_stream_of_readers_does_not_starve_a_writer) {
  const lock_folder folder;
  std::vector<std::unique_ptr<other_process>> readers;
  for (int p = 0; p < 6; ++p)
    readers.push_back(std::make_unique<other_process>([&](const line& l) {
      const auto store = open_backend(folder.url());
      party reader(*store, "x");
      for (bool said = false;; said = true) {  // together they are always there
        reader.get(share());
        if (!said) l.say("reading");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        reader.let_go();
      }
    }));
  for (const auto& r : readers) EXPECT_EQ(r->hear(), "reading");
  const auto store = open_backend(folder.url());
  party writer(*store, "x");
  for (int i = 0; i < 20; ++i) {
    writer.hold();
    writer.let_go();
  }
  store->close(core::never);
}

TEST(file_sharing, a_stopped_writer_that_waits_does_not_keep_readers_out_for_ever) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party reader(*store, "x"), late(*store, "x"), hasty(*store, "x");
  reader.get(share());
  other_process writer([&](const line& l) {
    const auto its = open_backend(folder.url());
    party p(*its, "x");
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
  store->close(core::never);
}

TEST(file_sharing, a_job_that_inherits_the_descriptor_keeps_the_share) {
  const lock_folder folder;
  other_process wrapper([&](const line& l) {
    const auto store = open_backend(folder.url());
    party reader(*store, "x");
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
  party writer(*store, "x"), reader(*store, "x");
  EXPECT_EQ(writer.try_once().why.code, errc::timed_out);
  EXPECT_EQ(reader.ask_once(share()).what, kind::granted);
  EXPECT_EQ(inspect(*store).size(), 2u);
  reader.let_go();
  ::kill(job, SIGKILL);
  writer.hold();
  writer.let_go();
  store->close(core::never);
}

TEST(file_sharing, inspect_shows_each_reader_and_disturbs_none) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party a(*store, "x"), writer(*store, "x");
  other_process b(hold(folder.url(), share()));
  const std::string number = b.hear();
  a.get({.note = "the note", .how = core::mode::shared});
  const auto all = inspect(*store);
  ASSERT_EQ(all.size(), 2u);
  for (const holder& h : all) {
    EXPECT_EQ(h.name, "x");
    EXPECT_EQ(h.how, lock_mode::shared);
    EXPECT_EQ(std::to_string(h.token >> 10), number);
    EXPECT_EQ(h.note, h.pid == ::getpid() ? "the note" : "");
  }
  EXPECT_NE(all[0].owner, all[1].owner);
  const auto refused = break_lock(*store, "x");
  EXPECT_NE(refused.text.find(std::to_string(b.pid())), std::string::npos) << refused.text;
  EXPECT_NE(refused.text.find(std::to_string(::getpid())), std::string::npos) << refused.text;
  b.kill();
  EXPECT_EQ(inspect(*store).size(), 1u);
  a.let_go();
  EXPECT_EQ(inspect(*store).size(), 0u);
  writer.hold();
  EXPECT_EQ(inspect(*store).at(0).how, lock_mode::exclusive);
  writer.let_go();
  store->close(core::never);
}

TEST(file_sharing, a_reader_finds_the_file_that_was_put_in_place_of_a_deleted_one) {
  const lock_folder folder;
  const auto store = open_backend(folder.url());
  party old(*store, "x"), reader(*store, "x");
  const std::int64_t first = old.get(share());
  std::filesystem::remove(folder.file("x.lock"));
  const std::int64_t second = reader.get(share());
  EXPECT_GT(second, first);
  EXPECT_TRUE(std::filesystem::exists(folder.file("x.lock")));
  old.let_go();
  EXPECT_EQ(old.get(share()), second);
  old.let_go();
  reader.let_go();
  store->close(core::never);
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

TEST(file_sharing, eight_processes_of_readers_and_writers_never_mix_and_numbers_only_grow) {
  const lock_folder folder;
  const shared_page<readers_and_writers> seen;
  std::vector<std::unique_ptr<other_process>> all;
  for (int p = 0; p < 8; ++p) {
    all.push_back(std::make_unique<other_process>([&, p](const line& l) {
      const auto store = open_backend(folder.url());
      party one(*store, "x");
      for (int i = 0; i < 300; ++i) {
        const bool writes = (i + p) % 4 == 0;
        const std::int64_t number = one.get(writes ? core::ask{} : share());
        if (writes) {
          seen->write(number);
        } else {
          seen->read(number);
        }
        one.let_go();
      }
      store->close(core::never);
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
