// Several users of one machine on one directory: ?group=, and root who looks. Needs root, who can
// be anybody.
#include <grp.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/fail.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

namespace fs = std::filesystem;

constexpr gid_t shared_group = 60123;
constexpr uid_t first_user = 65534, second_user = 60125;

// Another process of that user, in the group or not.
class user_process {
 public:
  user_process(uid_t user, bool is_member, const other_process::part& body)
      : process_([=](const other_process::line& l) {
          const gid_t groups[] = {shared_group};
          if (::setgroups(is_member ? 1 : 0, groups) != 0 || ::setgid(user) != 0 ||
              ::setuid(user) != 0)
            return l.say("cannot become another user");
          ::umask(077);
          body(l);
        }) {}
  other_process* operator->() noexcept { return &process_; }

 private:
  other_process process_;
};

class a_directory_of_several_users : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be two other users";
    char name[] = "/tmp/holdfast-group-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    path = name;
    set_mode(02770);
  }
  void TearDown() override {
    if (!path.empty()) fs::remove_all(path);
  }
  void set_mode(mode_t mode, uid_t user = 0, gid_t group = shared_group) const {
    ASSERT_EQ(::chown(path.c_str(), user, group), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  std::string url(const std::string& more = {}) const {
    return "file://" + path + "?group=" + std::to_string(shared_group) + more;
  }
  std::set<std::string> files() const {
    std::set<std::string> all;
    for (const auto& one : fs::directory_iterator(path)) all.insert(one.path().filename());
    return all;
  }

  std::string path;
};

// Takes "x" when it hears a line and keeps it until the next; says its number, or what went wrong.
other_process::part take_turns(const std::string& where) {
  return [where](const other_process::line& l) {
    try {
      const auto store = open_backend(where);
      contender p(*store, "x");
      while (!l.hear().empty()) {
        const answer a = p.try_once();
        l.say(a.what == answer::kind::granted ? std::to_string(a.number) : "refused " + a.why.text);
        if (a.what != answer::kind::granted) continue;
        l.hear();
        p.let_go();
        l.say("free");
      }
      store->close(base::never);
    } catch (const lock_error& e) {
      l.say(e.what());
    }
  };
}

TEST_F(a_directory_of_several_users, has_one_holder_among_them) {
  for (const std::string more : {"", "&unlink=1"}) {
    user_process one(first_user, true, take_turns(url(more)));
    user_process other(second_user, true, take_turns(url(more)));
    std::int64_t last = 0;
    for (int round = 0; round < 4; ++round) {
      user_process& holder = round % 2 == 0 ? one : other;
      user_process& rival = round % 2 == 0 ? other : one;
      holder->say("take");
      const auto number = holder->hear();
      ASSERT_GT(std::strtoll(number.c_str(), nullptr, 10), last) << number;
      last = std::strtoll(number.c_str(), nullptr, 10);
      rival->say("take");
      EXPECT_EQ(rival->hear().substr(0, 7), "refused");
      holder->say("leave");
      EXPECT_EQ(holder->hear(), "free");
    }
    const auto held = inspect(*open_backend(url(more)));
    EXPECT_TRUE(held.empty());
  }
}

// The first of them creates the lock's file, and the other one opens it.
TEST_F(a_directory_of_several_users, lets_two_of_them_be_the_first_at_a_lock) {
  const auto take_each = [where = url()](const other_process::line& l) {
    const auto store = open_backend(where);
    l.hear();
    std::string refusal;  // but for a busy lock
    for (int i = 0; i < 500; ++i) {
      contender p(*store, std::to_string(i));
      const answer a = p.try_once();
      if (a.what == answer::kind::granted)
        p.let_go();
      else if (a.why.code != errc::timed_out)
        refusal = a.why.text;
    }
    l.say("refused: " + refusal);
  };
  user_process one(first_user, true, take_each), other(second_user, true, take_each);
  for (user_process* const p : {&one, &other}) (*p)->say("begin");
  for (user_process* const p : {&one, &other}) EXPECT_EQ((*p)->hear(), "refused: ");
}

TEST_F(a_directory_of_several_users, removes_what_another_left) {
  {
    user_process one(first_user, true, take_turns(url("&unlink=1")));
    one->say("take");
    ASSERT_NE(one->hear().substr(0, 7), "refused");
    one->kill();
  }
  EXPECT_TRUE(files().contains("x.lock"));
  user_process other(second_user, true, [this](const other_process::line& l) {
    const auto store = open_backend(url("&unlink=1"));
    { contender(*store, "x").hold(); }
    l.say("done");
  });
  EXPECT_EQ(other->hear(), "done");
}

TEST_F(a_directory_of_several_users, gives_every_file_to_the_group) {
  user_process one(first_user, true, take_turns(url()));
  one->say("take");
  ASSERT_NE(one->hear(), "");
  for (const auto& file : files()) {
    struct stat st;
    ASSERT_EQ(::stat((path + '/' + file).c_str(), &st), 0);
    EXPECT_EQ(st.st_gid, shared_group) << file;
    EXPECT_EQ(st.st_mode & 0777, 0660u) << file;
    EXPECT_EQ(st.st_uid, first_user) << file;
  }
}

TEST_F(a_directory_of_several_users, refuses_those_who_are_not_in_the_group) {
  user_process stranger(first_user, false, take_turns(url()));
  EXPECT_NE(stranger->hear().find("not in the group"), std::string::npos);
}

TEST_F(a_directory_of_several_users, must_be_the_groups_and_nobody_elses) {
  const auto refused_for = [this](const std::string& word) {
    const auto text = error_of_opening(url(), errc::refused);
    EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_NE(text.find("2770"), std::string::npos) << text;
  };
  set_mode(03770);
  refused_for("sticky");
  set_mode(02777);
  refused_for("everybody");
  set_mode(0770);
  refused_for("shared by its group");
  set_mode(02770, 0, 0);
  refused_for("belongs to group 0");
  error_of_opening("file://" + path + "?group=no-such-group-here", errc::bad_option);
  error_of_opening("file:?group=60123", errc::bad_option);
}

TEST_F(a_directory_of_several_users, is_made_for_the_group) {
  const auto inner = path + "/locks";
  ::umask(022);
  open_backend("file://" + inner + "?group=" + std::to_string(shared_group));
  struct stat st;
  ASSERT_EQ(::stat(inner.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 02770u);
  EXPECT_EQ(st.st_gid, shared_group);
}

TEST_F(a_directory_of_several_users, kills_nobody_when_one_cuts_a_file_short) {
  user_process one(first_user, true, take_turns(url()));
  for (int i = 0; i < 3; ++i) {  // by then a file of one's own would be mapped
    one->say("take");
    ASSERT_NE(one->hear(), "");
    one->say("leave");
    ASSERT_EQ(one->hear(), "free");
  }
  ASSERT_EQ(::truncate((path + "/x.lock").c_str(), 0), 0);
  one->say("take");
  EXPECT_NE(one->hear(), "") << "it was killed";
}

TEST_F(a_directory_of_several_users, shows_its_locks_to_root_who_takes_none) {
  set_mode(0700, first_user, first_user);
  user_process owner(first_user, false, take_turns("file://" + path));
  owner->say("take");
  const auto number = owner->hear();
  const auto before = files();
  const auto store = open_backend("file://" + path);
  const auto seen = inspect(*store);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].name, "x");
  EXPECT_EQ(seen[0].pid, owner->pid());
  contender p(*store, "y");
  const answer a = p.try_once();
  EXPECT_EQ(a.why.code, errc::refused);
  EXPECT_NE(a.why.text.find("belongs to user"), std::string::npos) << a.why.text;
  EXPECT_EQ(files(), before) << "nothing was created";
  owner->say("leave");
  EXPECT_EQ(owner->hear(), "free");
  EXPECT_TRUE(inspect(*store).empty());
}

}  // namespace
}  // namespace holdfast::file_test
