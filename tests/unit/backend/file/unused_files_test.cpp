// Which files of locks are removed, and which are kept.
#include "backend/file/unused_files.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "backend/file/naming.hpp"
#include "testkit/seccomp.hpp"
#include "tests/unit/backend/file/folder_fixture.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::file {
namespace {

using namespace std::chrono_literals;

std::chrono::microseconds real_time() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

std::int64_t pid_of_an_ended_process() {
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(ended, nullptr, 0), ended);
  return ended;
}

class file_unused : public a_lock_folder {
 protected:
  file_unused() : a_lock_folder({.unlink = true}) {}

  bool remove(const std::string& stem) { return all.unused.remove(stem, now); }
  void put_record(const std::string& file, const record_fields& of) const {
    put(file, record_as_text(of));
  }
  void fill(int files) const {
    for (int i = 0; i < files; ++i)
      other_description(path("n" + std::to_string(10'000 + i) + ".lock"));
  }
  // As getdents(2) returns them.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, void (*)(DIR*)> list(::opendir(scratch.path().c_str()),
                                                    [](DIR* d) { ::closedir(d); });
    while (const dirent* e = ::readdir(list.get())) names.emplace_back(e->d_name);
    return names;
  }
  // The place, in that order, of the first file that a process removes with its first creation.
  std::size_t place_of_first_removed(std::chrono::microseconds wall) {
    const auto before = entries();
    unused_files(all.files, all.place, "here").remove_some(wall);
    const auto gone =
        std::ranges::find_if(before, [this](const std::string& file) { return !exists(file); });
    EXPECT_NE(gone, before.end());
    return static_cast<std::size_t>(gone - before.begin());
  }

  const std::chrono::microseconds now = real_time(), later = now + 2min;
};

TEST_F(file_unused, are_removed_and_their_number_is_kept_as_the_floor) {
  put_record("x.lock", {.number = 7});
  put("x.waiters", "");
  EXPECT_TRUE(remove("x"));
  EXPECT_FALSE(exists("x.lock") || exists("x.waiters"));
  EXPECT_EQ(all.unused.floor().read(), 7);
  EXPECT_FALSE(remove("x"));
  put("y.lock", "");
  EXPECT_TRUE(remove("y")) << "created, and never granted";
  put("z.waiters", "");
  EXPECT_TRUE(remove("z")) << "a removal that was killed left it";
  EXPECT_FALSE(exists("z.waiters"));
  EXPECT_EQ(all.unused.floor().read(), 7);
}

TEST_F(file_unused, are_kept_while_another_process_has_one_locked) {
  put_record("x.lock", {.number = 7});
  for (const std::string file : {"x.lock", "x.waiters", ".probe", ".floor"}) {
    const other_description other(path(file));
    ASSERT_TRUE(other.try_lock(LOCK_SH));
    EXPECT_FALSE(remove("x")) << file;
    EXPECT_TRUE(exists("x.lock")) << file;
  }
  EXPECT_TRUE(remove("x"));
}

TEST_F(file_unused, are_kept_while_another_process_has_a_byte_locked) {
  put_record("x.lock", {.number = 7});
  const other_description other(path("x.lock"));
  holder_bytes bytes(other.get());
  ASSERT_TRUE(bytes.announce());
  EXPECT_FALSE(remove("x"));
  bytes.withdraw();
  EXPECT_TRUE(remove("x"));
}

TEST_F(file_unused, spare_files_of_waiters_are_kept_while_they_are_locked_or_have_another_name) {
  const other_description waiter(path("x.waiters"));
  ASSERT_TRUE(waiter.try_lock(LOCK_SH));
  EXPECT_FALSE(remove("x"));
  ASSERT_TRUE(waiter.try_lock(LOCK_UN));
  std::filesystem::create_hard_link(path("x.waiters"), path("other"));
  EXPECT_FALSE(remove("x"));
  EXPECT_TRUE(exists("x.waiters"));
}

TEST_F(file_unused, are_removed_without_a_file_of_waiters_that_is_something_else) {
  for (const bool is_linked : {true, false}) {
    if (is_linked) {
      put("x.waiters", "");
      std::filesystem::create_hard_link(path("x.waiters"), path("other"));
    } else {
      ASSERT_EQ(::mkfifo(path("x.waiters").c_str(), 0600), 0);
    }
    EXPECT_FALSE(remove("x")) << "it is spare";
    put_record("x.lock", {.number = 7});
    EXPECT_TRUE(remove("x"));
    EXPECT_FALSE(exists("x.lock"));
    EXPECT_TRUE(exists("x.waiters"));
    std::filesystem::remove(path("x.waiters"));
  }
}

TEST_F(file_unused, files_that_are_something_else_are_kept) {
  const std::function<void()> made[] =
      {[this] { put("x.lock", "no record"); },
       [this] { put_record("x.lock", {.name = "y", .number = 7}); },
       [this] { put_record("x.lock", {.number = number_max / 2 + 1}); },
       [this] {
         put_record("x.lock", {.number = 7});
         std::filesystem::create_hard_link(path("x.lock"), path("other"));
       },
       [this] {
         std::filesystem::create_directory(path("x.lock"));
         put("x.waiters", "");
       },
       [this] {
         put_record("x.lock", {.number = 7});
         std::filesystem::create_directory(path("x.waiters"));
       }};
  for (const auto& make : made) {
    make();
    EXPECT_FALSE(remove("x")) << &make - made;
    EXPECT_TRUE(exists("x.lock")) << &make - made;
    for (const std::string file : {"x.lock", "x.waiters"}) std::filesystem::remove(path(file));
  }
  EXPECT_EQ(all.unused.floor().read(), 0);
}

TEST_F(file_unused, are_kept_where_the_floor_cannot_be_raised) {
  put(".floor", "no record");
  put_record("x.lock", {.number = 7});
  EXPECT_FALSE(remove("x"));
  EXPECT_TRUE(exists("x.lock"));
}

TEST_F(file_unused, that_crashes_left_are_removed_when_no_living_process_used_them_lately) {
  const auto dead = pid_of_an_ended_process();
  const auto lately = now - 59s, long_ago = now - 61s;
  put_record("dead.lock", {.name = "dead", .since = lately, .pid = dead});
  put_record("old.lock", {.name = "old", .since = long_ago, .pid = ::getpid()});
  put_record("alive.lock", {.name = "alive", .since = lately, .pid = ::getpid()});
  put_record("away.lock", {.name = "away", .since = lately, .host = "web7", .pid = dead});
  put("garbage.lock", "no record");
  put("spare.waiters", "");
  put("alive.waiters", "");
  put("fresh.lock", "");
  put(".lock", "");
  put("notes.txt", "");
  for (int i = 0; i < 10; ++i) all.unused.remove_some(now);
  for (const std::string kept : {"alive.lock", "away.lock", "garbage.lock", "alive.waiters",
                                 "fresh.lock", ".lock", "notes.txt"})
    EXPECT_TRUE(exists(kept)) << kept;
  for (const std::string removed : {"dead.lock", "old.lock", "spare.waiters"})
    EXPECT_FALSE(exists(removed)) << removed;
  for (int i = 0; i < 10; ++i) all.unused.remove_some(later);
  EXPECT_FALSE(exists("fresh.lock")) << "it was never granted";
}

// A group shares the directory: kill(2) of another member's process fails.
TEST_F(file_unused, that_a_living_process_of_another_user_used_lately_are_kept) {
  put_record("x.lock", {.since = now - 59s, .pid = ::getpid()});
  EXPECT_TRUE(unit_tests::is_true_in_a_child([this] {
    if (!testkit::deny(SYS_kill, EPERM)) return true;
    for (int i = 0; i < 10; ++i) all.unused.remove_some(now);
    return exists("x.lock");
  }));
}

TEST_F(file_unused, that_crashes_left_are_removed_a_few_at_a_time) {
  fill(20);
  const auto before = entries().size();
  all.unused.remove_some(later);
  EXPECT_EQ(entries().size(), before - 3 + 1) << ".probe is new";
}

TEST_F(file_unused, that_crashes_left_are_found_behind_any_number_of_files_in_use) {
  fill(10);
  for (int i = 0; i < 40; ++i) {
    const std::string name = "used-" + std::to_string(i);
    put_record(name + ".lock", {.name = name, .since = later, .pid = ::getpid()});
  }
  for (int i = 0; i < 40; ++i) all.unused.remove_some(later);
  EXPECT_EQ(all.unused.remove_all(later), 40u) << "the others were removed before";
}

// Otherwise processes that create one file each would check the same few files.
TEST_F(file_unused, are_looked_for_at_another_place_by_each_process) {
  fill(100);
  const auto place_of = [this](std::size_t wanted) {
    const auto wall = static_cast<std::size_t>(later.count()), count = entries().size();
    return place_of_first_removed(std::chrono::microseconds(wall - wall % count + wanted));
  };
  EXPECT_LT(place_of(5), 20u);
  const auto place = place_of(60);
  EXPECT_GT(place, 40u);
  EXPECT_LT(place, 80u);
}

TEST_F(file_unused, are_looked_for_in_another_part_of_a_large_directory_by_each_process) {
  fill(1'600);  // some 500 in each part
  const auto eighth = later - later % 8;
  EXPECT_LT(place_of_first_removed(eighth), 600u);
  EXPECT_GT(place_of_first_removed(eighth + 2us), 800u);
}

TEST_F(file_unused, are_counted_when_all_are_removed) {
  put_record("x.lock", {.number = 7});
  put("x.waiters", "");
  put("y.lock", "");
  put("z.lock", "no record");
  EXPECT_EQ(all.unused.remove_all(now), 2u);
  EXPECT_EQ(all.unused.remove_all(now), 0u);
  EXPECT_TRUE(exists("z.lock"));
}

using file_unused_without_unlink = a_lock_folder;

TEST_F(file_unused_without_unlink, are_all_kept) {
  put("x.lock", "");
  put("y.waiters", "");
  all.unused.remove_some(real_time() + 2min);
  EXPECT_FALSE(all.unused.remove("x", real_time()));
  EXPECT_TRUE(exists("x.lock") && exists("y.waiters"));
  EXPECT_FALSE(exists(".probe"));
}

}  // namespace
}  // namespace holdfast::file
