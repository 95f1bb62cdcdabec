// Files of locks that nobody uses are removed, and no others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <list>
#include <set>
#include <string>
#include <thread>

#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using namespace std::chrono_literals;
using names = std::set<std::string>;
namespace fs = std::filesystem;

class a_directory_of_locks : public ::testing::Test {
 protected:
  std::string url() const { return folder.url() + "?unlink=1"; }
  names files() const {
    names all;
    for (const auto& one : fs::directory_iterator(folder.path()))
      if (!one.path().filename().string().starts_with('.')) all.insert(one.path().filename());
    return all;
  }
  void put(std::string_view file, std::string_view content) const {
    std::ofstream(folder.file(file)) << content;
    fs::permissions(folder.file(file), fs::perms::owner_read | fs::perms::owner_write);
  }
  int open_file(std::string_view file) const {
    const int fd = ::open(folder.file(file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_GE(fd, 0);
    return fd;
  }
  std::int64_t use_once(seam::lock_store& s, std::string_view name) const {
    contender p(s, name);
    const auto number = p.hold();
    p.let_go();
    return number;
  }

  static std::size_t remove_unused(seam::lock_store& s, base::failure& why) {
    cohort::awaited<std::size_t> answer;
    s.find<seam::unused_locks>()->remove_unused(answer);
    why = answer.why;
    return answer.result;
  }

  const lock_folder folder{};
  const opened_backend store = open_backend(url());
};

TEST_F(a_directory_of_locks, loses_the_files_of_a_lock_with_its_last_claim) {
  contender p(*store, "x");
  p.hold();
  EXPECT_FALSE(p.claim().others_wait());  // makes the waiters' file
  p.let_go();
  EXPECT_EQ(files(), (names{"x.lock", "x.waiters"})) << "not at each release";
  use_once(*store, "y");
  EXPECT_EQ(files(), (names{"x.lock", "x.waiters"}));
  use_once(*store, "x");
  EXPECT_EQ(files(), names{}) << "one that is idle does not use it";
  const auto number = p.hold();
  EXPECT_EQ(files(), names{"x.lock"}) << "and finds the new one";
  p.let_go();
  EXPECT_GT(p.hold(), number);
  p.let_go();
}

// Up to 256 files stay open, and a lock that is used again finds its own.
TEST_F(a_directory_of_locks, loses_the_file_of_a_lock_that_is_used_once_where_many_are_open) {
  std::list<contender> all;
  for (int i = 0; i < 260; ++i) {
    contender& p = all.emplace_back(*store, "job " + std::to_string(i));
    p.hold();
    p.let_go();
  }
  EXPECT_LE(files().size(), 256u);
  all.back().hold();
  all.back().let_go();
  EXPECT_TRUE(files().contains("job%20259.lock")) << "it is used repeatedly";
}

TEST_F(a_directory_of_locks, keeps_what_another_process_holds) {
  for (const seam::acquire_request& how : {seam::acquire_request{}, share(), permits(1, 3)}) {
    const other_process holder(hold(url(), how));
    ASSERT_NE(holder.hear(), "");
    {
      contender p(*store, "x");
      EXPECT_EQ(p.try_once().what, answer::kind::refused);
    }
    EXPECT_TRUE(files().contains("x.lock"));
    holder.say("done");
    EXPECT_EQ(holder.hear(), "");
  }
  EXPECT_EQ(files(), names{});
}

TEST_F(a_directory_of_locks, keeps_what_a_job_has_locked_on_the_claims_description) {
  int copy = -1;
  {
    contender p(*store, "x");
    p.hold();
    copy = ::dup(p.claim().native_handle());
    p.let_go();
    ASSERT_EQ(::flock(copy, LOCK_EX | LOCK_NB), 0);
  }
  EXPECT_EQ(files(), names{"x.lock"});
  ::close(copy);
  use_once(*store, "x");
  EXPECT_EQ(files(), names{});
}

TEST_F(a_directory_of_locks, keeps_what_somebody_waits_for) {
  const int waiter = open_file("x.waiters");
  ASSERT_EQ(::flock(waiter, LOCK_SH), 0);
  use_once(*store, "x");
  EXPECT_EQ(files(), (names{"x.lock", "x.waiters"}));
  ::close(waiter);
  use_once(*store, "x");
  EXPECT_EQ(files(), names{});
}

TEST_F(a_directory_of_locks, keeps_what_is_no_record_of_the_name) {
  put("x.lock", std::string(1024, 'x'));
  {
    contender p(*store, "x");
    EXPECT_EQ(p.try_once().what, answer::kind::refused);
  }
  use_once(*store, "y");
  EXPECT_EQ(files(), names{"x.lock"});
}

TEST_F(a_directory_of_locks, grows_its_numbers_by_the_floor_alone) {
  testkit::manual_environment env;
  const auto with_clock = open_backend(url(), env);
  const auto first = use_once(*with_clock, "x");
  ASSERT_EQ(files(), names{});
  env.set_wall(env.wall() - 24h);
  EXPECT_GT(use_once(*with_clock, "x"), first);
  EXPECT_GT(use_once(*with_clock, "y"), first) << "one floor for all names";
}

TEST_F(a_directory_of_locks, refuses_new_files_above_a_floor_that_cannot_be_read) {
  put(".floor", "nonsense");
  contender p(*store, "x");
  const answer a = p.try_once();
  EXPECT_EQ(a.what, answer::kind::refused);
  EXPECT_EQ(a.why.code, errc::refused);
  EXPECT_NE(a.why.text.find(".floor"), std::string::npos) << a.why.text;
}

TEST_F(a_directory_of_locks, refuses_new_files_above_a_floor_that_is_a_directory) {
  fs::create_directory(folder.file(".floor"));
  contender p(*store, "x");
  const answer a = p.try_once();
  EXPECT_EQ(a.what, answer::kind::refused);
  EXPECT_NE(a.why.text.find(".floor"), std::string::npos) << a.why.text;
  EXPECT_NE(a.why.text.find("directory"), std::string::npos) << a.why.text;
}

TEST_F(a_directory_of_locks, loses_what_crashes_have_left_a_few_files_with_each_new_one) {
  constexpr int left = 40;
  {
    other_process crashing([this](const other_process::line& l) {
      const auto own = open_backend(url());
      std::deque<contender> all;
      for (int i = 0; i < left; ++i) all.emplace_back(*own, "left-" + std::to_string(i)).hold();
      l.say("held");
      l.hear();
    });
    ASSERT_EQ(crashing.hear(), "held");
    use_once(*store, "new");
    EXPECT_EQ(files().size(), std::size_t{left}) << "they are held";
    crashing.kill();
  }
  put("spare.waiters", "");
  for (int i = 0; i < left; ++i) use_once(*store, "new");
  EXPECT_EQ(files(), names{});
}

TEST_F(a_directory_of_locks, loses_all_that_is_unused_at_a_word) {
  const auto plain = open_backend(folder.url());
  for (int i = 0; i < 20; ++i) use_once(*plain, "left-" + std::to_string(i));
  contender holding(*store, "held");
  holding.hold();
  base::failure why;
  EXPECT_EQ(remove_unused(*plain, why), 0u);
  EXPECT_EQ(why.code, errc::unsupported);
  EXPECT_NE(why.text.find("unlink=1"), std::string::npos) << why.text;
  why = {};
  EXPECT_EQ(remove_unused(*store, why), 20u);
  EXPECT_FALSE(why.code) << why.text;
  EXPECT_EQ(files(), names{"held.lock"});
  holding.let_go();
}

TEST_F(a_directory_of_locks, takes_over_what_a_removal_left_when_it_was_killed) {
  const auto first = use_once(*store, "x");
  put("x.waiters", "");  // killed between the two
  EXPECT_GT(use_once(*store, "x"), first);
  EXPECT_EQ(files(), names{});
  put("y.lock", "");  // one that created it was killed
  EXPECT_GT(use_once(*store, "y"), first);
  EXPECT_EQ(files(), names{});
}

TEST_F(a_directory_of_locks, keeps_its_files_without_unlink) {
  const auto plain = open_backend(folder.url());
  use_once(*plain, "x");
  EXPECT_EQ(files(), names{"x.lock"});
  const auto over_network = open_backend(folder.url() + "?network=1");
  use_once(*over_network, "x");
  EXPECT_EQ(files(), names{"x.lock"});
  const auto text = error_of_opening(folder.url() + "?network=1&unlink=1", errc::bad_option);
  EXPECT_NE(text.find("unlink"), std::string::npos) << text;
}

// Whoever removes a file has it alone for a moment, with .probe: an attempt looks again. On a
// machine that stops the test for a tenth of a second that is over too late: hence several tries.
TEST_F(a_directory_of_locks, does_not_take_a_removal_for_a_holder) {
  contender first(*store, "x");
  for (const seam::acquire_request& how : {seam::acquire_request{}, share(), permits(1, 3)}) {
    contender p(*store, "x");
    bool granted = false;
    for (int tries = 0; tries < 20 && !granted; ++tries) {
      first.get(how);  // the record of this kind
      first.let_go();
      const int probe = open_file(".probe"), lock = open_file("x.lock");
      ASSERT_EQ(::flock(probe, LOCK_EX), 0);
      ASSERT_EQ(::flock(lock, LOCK_EX), 0);
      answer a;
      std::thread attempt([&] { a = p.ask_once(how); });
      std::this_thread::yield();
      ::close(lock);
      ::close(probe);
      attempt.join();
      EXPECT_NE(a.why.code, errc::mismatch) << a.why.text;
      granted = a.what == answer::kind::granted;
      if (granted) p.let_go();
    }
    EXPECT_TRUE(granted);
  }
}

// The clock of this test stands still, so the name is not asked again within ten milliseconds.
TEST_F(a_directory_of_locks, has_one_holder_after_a_file_was_removed_under_an_idle_claim) {
  testkit::manual_environment env;
  const auto standing = open_backend(url(), env);
  contender idle(*standing, "x");
  idle.hold();
  idle.let_go();
  use_once(*store, "x");
  ASSERT_EQ(files(), names{});
  contender other(*store, "x");
  other.hold();
  EXPECT_EQ(idle.try_once().what, answer::kind::refused);
  other.let_go();
}

TEST_F(a_directory_of_locks, is_bounded_however_many_names_there_were) {
  const int many = 5'000;
  std::size_t most = 0;
  for (int i = 0; i < many; ++i) {
    use_once(*store, "name-" + std::to_string(i));
    if (i % 500 == 0) most = std::max(most, files().size());
  }
  EXPECT_LE(most, 10u);
  EXPECT_EQ(files(), names{});
}

}  // namespace
}  // namespace holdfast::file_test
