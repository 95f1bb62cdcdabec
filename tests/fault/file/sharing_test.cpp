// Readers of a lock file, in one process and in several.
#include <holdfast/holdfast.hpp>

#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;

TEST(file_sharing, readers_of_several_processes_hold_together_under_one_number) {
  const lock_folder folder;
  other_process first(hold(folder.url(), share()));
  const std::string number = first.hear();
  other_process second(hold(folder.url(), share()));
  EXPECT_EQ(second.hear(), number);
  const auto store = open_backend(folder.url());
  contender third(*store, "x"), writer(*store, "x");
  EXPECT_EQ(std::to_string(third.get(share())), number);
  EXPECT_EQ(writer.try_once().why.code, errc::timed_out);
  first.say("leave");
  EXPECT_EQ(first.wait(), 0);
  contender late(*store, "x");
  EXPECT_EQ(std::to_string(late.get(share())), number);  // the group goes on without its founder
  late.let_go();
  second.kill();
  third.let_go();
  EXPECT_GT(third.get(share()), std::stoll(number));  // all had gone
  third.let_go();
  store->close(base::never);
}

TEST(file_sharing, readers_and_a_writer_keep_each_other_out) {
  const opened store;
  contender reader(*store, "x"), writer(*store, "x");
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
}

TEST(file_sharing, a_reader_that_comes_while_a_writer_waits_comes_in_after_it) {
  const opened store;
  contender reader(*store, "x"), writer(*store, "x"), late(*store, "x"), hasty(*store, "x");
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
}

TEST(file_sharing, a_reader_that_waits_for_a_writer_that_gives_up_comes_in) {
  const opened store;
  contender reader(*store, "x"), writer(*store, "x"), late(*store, "x");
  reader.get(share());
  writer.acquire();
  ASSERT_TRUE(eventually([&] { return reader.claim().others_wait(); }));
  late.ask(share());
  writer.cancel();
  EXPECT_EQ(writer.next().what, kind::ended);
  EXPECT_EQ(late.next().what, kind::granted);
  late.let_go();
  reader.let_go();
}

TEST(file_sharing, a_reader_that_waits_can_be_cancelled) {
  const opened store;
  contender holder(*store, "x"), other(*store, "x"), reader(*store, "x");
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
}

TEST(file_sharing, inspect_shows_each_reader_and_disturbs_none) {
  const opened store;
  contender a(*store, "x"), writer(*store, "x");
  other_process b(hold(store.folder.url(), share()));
  const std::string number = b.hear();
  a.get({.note = "the note", .mode = lock_mode::shared});
  const auto all = inspect(*store);
  ASSERT_EQ(all.size(), 2u);
  for (const holder& h : all) {
    EXPECT_EQ(h.name, "x");
    EXPECT_EQ(h.mode, lock_mode::shared);
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
  EXPECT_EQ(inspect(*store).at(0).mode, lock_mode::exclusive);
  writer.let_go();
}

TEST(file_sharing, a_reader_finds_the_file_that_was_put_in_place_of_a_deleted_one) {
  const opened store;
  contender old(*store, "x"), reader(*store, "x");
  const std::int64_t first = old.get(share());
  std::filesystem::remove(store.folder.file("x.lock"));
  const std::int64_t second = reader.get(share());
  EXPECT_GT(second, first);
  EXPECT_TRUE(std::filesystem::exists(store.folder.file("x.lock")));
  old.let_go();
  EXPECT_EQ(old.get(share()), second);
  old.let_go();
  reader.let_go();
}

TEST(file_sharing, readers_that_have_gone_leave_no_descriptor) {
  const lock_folder folder;
  const auto open_files = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(all, {});
  };
  const auto before = open_files();
  for (const seam::acquire_request& how : {share(), permits(1, 1)}) {
    const auto store = open_backend(folder.url());
    contender holder(*store, "x"), waiter(*store, "x");
    holder.get(how.mode == lock_mode::shared ? seam::acquire_request{} : how);
    waiter.ask(how);
    EXPECT_TRUE(eventually([&] { return holder.claim().others_wait(); }));
    holder.let_go();
    EXPECT_EQ(waiter.next().what, kind::granted);
    waiter.let_go();
    store->close(base::never);
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace holdfast::file_test
