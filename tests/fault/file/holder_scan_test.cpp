// Looking at who holds what, without being in the way.
#include <holdfast/holdfast.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "backend/file/record.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;

TEST(file_census, shows_who_holds_and_only_what_is_held) {
  const opened store;
  contender a(*store, "a"), b(*store, "b"), free(*store, "c");
  free.hold();
  free.let_go();
  a.acquire("rebuild the index");
  const std::int64_t number = a.next().number;
  b.hold();
  const auto all = inspect(*store);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].note, "rebuild the index");
  EXPECT_EQ(all[0].pid, ::getpid());
  EXPECT_EQ(all[0].token, number << 10);
  EXPECT_FALSE(all[0].host.empty());
  EXPECT_FALSE(all[0].owner.empty());
  EXPECT_EQ(all[0].expires_in, std::chrono::milliseconds::max());
  EXPECT_LT(all[0].held_for, std::chrono::hours{1});
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[1].note, "");
  EXPECT_NE(all[0].owner, all[1].owner);
  a.let_go();
  EXPECT_EQ(inspect(*store).size(), 1u);
  b.let_go();
}

TEST(file_census, a_note_is_of_its_own_grant) {
  const opened store;
  contender p(*store, "x");
  for (const std::string note : {"a long note to begin with", "short", ""}) {
    p.acquire(note);
    p.next();
    EXPECT_EQ(inspect(*store).at(0).note, note);
    p.let_go();
  }
}

TEST(file_census, is_of_the_names_with_the_prefix) {
  const opened store;
  const std::string long_name = "app/" + std::string(500, 'x');
  std::vector<std::unique_ptr<contender>> all;
  for (const std::string& name : {std::string("app/1"), long_name, std::string("other")}) {
    all.push_back(std::make_unique<contender>(*store, name));
    all.back()->hold();
  }
  const auto found = inspect(*store, "app/");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "app/1");
  EXPECT_EQ(found[1].name, long_name);
  EXPECT_TRUE(inspect(*store, "app/2").empty());
  for (const auto& p : all) p->let_go();
}

TEST(file_census, a_free_lock_is_never_found_busy_because_of_a_scan) {
  const opened store;
  std::atomic<bool> stop{false};
  std::atomic<int> looks{0};
  std::vector<std::thread> lookers;
  for (int i = 0; i < 2; ++i)
    lookers.emplace_back([&] {
      const auto other = open_backend(store.folder.url());
      while (!stop) {
        inspect(*other);
        ++looks;
      }
      other->close(base::never);
    });
  contender p(*store, "x");
  int busy = 0;
  for (int i = 0; i < 20'000 || looks < 2'000; ++i) {
    if (p.try_once().what == kind::granted) {
      p.let_go();
    } else {
      ++busy;
    }
  }
  stop = true;
  for (std::thread& t : lookers) t.join();
  EXPECT_EQ(busy, 0);
}

TEST(file_census, breaking_is_not_possible_and_names_the_process_to_end) {
  const opened store;
  contender p(*store, "x");
  p.hold();
  const base::failure why = break_lock(*store, "x");
  EXPECT_EQ(why.code, errc::unsupported);
  EXPECT_NE(why.text.find("end process " + std::to_string(::getpid())), std::string::npos);
  EXPECT_NE(why.text.find(", and the processes that inherited the lock (fuser "), std::string::npos)
      << why.text;
  EXPECT_EQ(inspect(*store).size(), 1u);
  p.let_go();
  EXPECT_EQ(break_lock(*store, "x").code, errc::unsupported);
}

TEST(file_census, breaking_names_the_host_of_a_holder_that_is_elsewhere) {
  const opened store;
  contender p(*store, "x");
  p.hold();
  EXPECT_EQ(break_lock(*store, "x").text.find(" on "), std::string::npos);
  p.let_go();
  const int other = ::open(store.folder.file("x.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  file::record_text record;
  record.describe("x", "web7", {}, 77, 2);
  record.stamp(7, {});
  ASSERT_EQ(::pwrite(other, record.bytes().data(), record.bytes().size(), 0),
            static_cast<ssize_t>(record.bytes().size()));
  const base::failure why = break_lock(*store, "x");
  EXPECT_NE(why.text.find("end process 77 on web7, and"), std::string::npos) << why.text;
  ::close(other);
}

TEST(file_census, a_lock_whose_file_cannot_be_one_is_not_reported_as_free) {
  const lock_folder folder;
  const auto c = client::open(folder.url());
  std::filesystem::create_symlink("elsewhere", folder.file("link.lock"));
  std::filesystem::create_directory(folder.file("folder.lock"));
  for (const char* name : {"link", "folder"}) {
    try {
      (void)c.holders(name);
      ADD_FAILURE() << name << " is told as free";
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::refused) << e.what();
      EXPECT_NE(std::string(e.what()).find("remove it"), std::string::npos) << e.what();
    }
  }
  EXPECT_TRUE(c.holders("never taken").empty());
}

TEST(file_census, foreign_files_and_foreign_locks_are_no_obstacle) {
  const opened store;
  for (const char* name : {"notes.txt", "%zz.lock", ".hidden", "a b.lock"})
    std::filesystem::create_directory(store.folder.file(name));
  contender p(*store, "x");
  p.hold();
  EXPECT_EQ(inspect(*store).size(), 1u);
  p.let_go();
}

}  // namespace
}  // namespace holdfast::file_test
