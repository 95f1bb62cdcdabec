#include "io/recording_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "history/recording.hpp"
#include "testkit/seccomp.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/in_a_child.hpp"
#include "tests/unit/open_descriptors.hpp"

namespace holdfast::io {
namespace {

namespace fs = std::filesystem;

class recording_file : public ::testing::Test {
 protected:
  recording_file() { record_in(folder()); }
  ~recording_file() override { record_in("off"); }

  static void record_in(const std::string& where) {
    ::setenv("HOLDFAST_RECORDER", where.c_str(), 1);
  }
  std::string folder() const { return scratch_.path() / "recordings"; }
  std::unique_ptr<base::recording> make(base::failure& why) const {
    return make_recording_file({"redis://db", false}, why);
  }
  std::unique_ptr<base::recording> make() const {
    base::failure why;
    auto made = make(why);
    EXPECT_TRUE(made) << why.text;
    return made;
  }
  std::string refusal() const {
    base::failure why;
    EXPECT_FALSE(make(why));
    EXPECT_TRUE(why.code);
    return why.text;
  }
  history::recordings read() const {
    const std::vector folders{folder()};
    return history::read_recordings(folders, history::moment::now());
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder()), fs::directory_iterator()));
  }

  testkit::scratch_folder scratch_;
};

TEST_F(recording_file, is_of_this_user_alone) {
  const auto made = make();
  struct stat st;
  ASSERT_EQ(::stat(folder().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
  for (const auto& file : fs::directory_iterator(folder())) {
    ASSERT_EQ(::stat(file.path().c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600u);
  }
}

TEST_F(recording_file, is_read_while_its_process_lives_and_after_it) {
  const pid_t child = ::fork();
  if (child == 0) {
    base::failure why;
    const auto made = make_recording_file({"redis://db", false}, why);
    base::recorded_event e;
    e.time = 1;
    e.name = made->position_of(0, "nightly", {});
    e.details = base::recorded_event::pack(base::recorded_event::kind::granted, 0, 0, 0);
    made->append(e);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto all = read();
  ASSERT_EQ(all.clients.size(), 1u);
  const auto& one = all.clients.front();
  EXPECT_EQ(one.pid, child);
  EXPECT_EQ(one.store, "redis://db");
  EXPECT_GT(one.process_start, 0u);
  EXPECT_FALSE(one.program.empty());
  EXPECT_FALSE(one.is_closed);
  ASSERT_EQ(one.events.size(), 1u);
  EXPECT_EQ(one.locks.at(one.events[0].lock).name, "nightly");
}

TEST_F(recording_file, has_no_name_at_the_position_that_means_none) {
  EXPECT_GT(make()->position_of(0, "nightly", {}), 0u);
}

TEST_F(recording_file, says_that_its_client_was_closed) {
  make().reset();
  EXPECT_TRUE(read().clients.at(0).is_closed);
}

// A process in another container may have the same number.
TEST_F(recording_file, has_another_name_than_one_that_is_there) {
  const auto first = make();
  const std::string path = fs::directory_iterator(folder())->path().string();
  const std::size_t number = path.rfind('-') + 1, end = path.find('.', number);
  for (int next = 1; next <= 2; ++next) {
    const int of_next = std::stoi(path.substr(number, end - number)) + next;
    std::ofstream(path.substr(0, number) + std::to_string(of_next) + path.substr(end)) << "theirs";
  }
  const auto second = make();
  EXPECT_TRUE(second);
  EXPECT_EQ(files(), 4u);
}

TEST_F(recording_file, is_off_without_a_failure) {
  for (const char* const word : {"off", "0", "no", "false"}) {
    record_in(word);
    base::failure why;
    EXPECT_FALSE(make(why)) << word;
    EXPECT_FALSE(why.code) << why.text;
  }
}

TEST_F(recording_file, needs_an_absolute_path) {
  record_in("recordings");
  EXPECT_EQ(refusal(), "HOLDFAST_RECORDER is neither off nor an absolute path");
}

TEST_F(recording_file, is_not_created_in_a_directory_that_others_may_use) {
  fs::create_directory(folder());
  for (const unsigned mode : {0750u, 0720u, 0710u, 0704u, 0702u, 0701u}) {
    fs::permissions(folder(), fs::perms(mode));
    EXPECT_EQ(refusal(), folder() + " is open to other users: chmod 700 it") << mode;
  }
}

TEST_F(recording_file, is_not_created_behind_a_symbolic_link) {
  fs::create_directory(scratch_.path() / "target");
  fs::permissions(scratch_.path() / "target", fs::perms(0700));
  fs::create_directory_symlink(scratch_.path() / "target", folder());
  const std::string why = refusal();
  EXPECT_NE(why.find(std::generic_category().message(ENOTDIR)), std::string::npos) << why;
}

TEST_F(recording_file, shows_whether_its_times_are_coarse) {
  for (const bool is_coarse : {true, false}) {
    base::failure why;
    record_in(folder() + (is_coarse ? "-coarse" : "-exact"));
    const auto made = make_recording_file({"redis://db", is_coarse}, why);
    ASSERT_TRUE(made) << why.text;
    const std::vector folders{folder() + (is_coarse ? "-coarse" : "-exact")};
    const auto found = history::read_recordings(folders, history::moment::now());
    ASSERT_EQ(found.clients.size(), 1u);
    EXPECT_EQ(found.clients[0].is_coarse, is_coarse);
  }
}

TEST_F(recording_file, is_not_created_under_a_limit_of_file_sizes) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit low{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &low);
    base::failure why;
    const bool is_refused = !make_recording_file({"redis://db", false}, why) && why.code;
    ::_exit(is_refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

pid_t ended_process() {
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(ended, nullptr, 0), ended);
  return ended;
}

TEST_F(recording_file, makes_the_oldest_of_ended_processes_leave) {
  const pid_t dead = ended_process();
  const auto mine = make();
  for (int i = 0; i < 70; ++i)
    std::ofstream(folder() + '/' + std::to_string(dead) + '-' + std::to_string(i) + ".recording");
  std::ofstream(folder() + "/another file");
  const auto second = make();
  EXPECT_LE(files(), 64u);
  EXPECT_EQ(read().clients.size(), 2u);  // of the process that lives
  EXPECT_TRUE(fs::exists(folder() + "/another file"));
}

TEST_F(recording_file, of_an_ended_process_stays_until_there_are_64) {
  const std::string of_dead = folder() + '/' + std::to_string(ended_process());
  const auto mine = make();
  for (int i = 0; i < 62; ++i) std::ofstream(of_dead + '-' + std::to_string(i) + ".recording");
  const std::string others[] = {folder() + "/another file", folder() + "/abc.recording",
                                of_dead + "_1.recording", of_dead + "-1.record"};
  for (const std::string& other : others) std::ofstream{other};
  const auto second = make();
  EXPECT_EQ(files(), 64 + std::size(others)) << "there were 63";
  const auto third = make();
  EXPECT_EQ(files(), 48 + 1 + std::size(others)) << "48 are left, and the new one";
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

// The part of a recording that is read before it is removed.
std::string recording_with(const base::recording_header& header, std::int64_t last_event) {
  base::recorded_event event;
  event.time = last_event;
  std::string all(sizeof header + sizeof event, '\0');
  std::memcpy(all.data(), &header, sizeof header);
  std::memcpy(all.data() + sizeof header, &event, sizeof event);
  return all;
}

TEST_F(recording_file, with_the_latest_last_event_stays) {
  base::recording_header header;
  header.header_bytes = sizeof header;
  header.events = 1;
  header.appended = 1;
  header.opened = 5;
  const std::string late = recording_with(header, 1000), early = recording_with(header, 6);
  header.opened = 2000;
  const std::string cut = recording_with(header, 1000).substr(0, 100);
  base::recording_header of_later = header, without_magic = header, without_events = header;
  ++of_later.version;
  without_magic.magic[0] = '?';
  without_events.events = 0;
  const auto mine = make();
  const std::string of_dead = folder() + '/' + std::to_string(ended_process());
  std::vector<std::string> files(47, late);  // 48 are left, with this process's own
  files.insert(files.end(), 6, early);
  files.insert(files.end(), 5, cut);
  for (const auto& other : {of_later, without_magic, without_events})
    files.insert(files.end(), 2, recording_with(other, 3000));
  const auto name_of = [&](std::size_t i) {
    return of_dead + '-' + std::to_string(i) + ".recording";
  };
  for (std::size_t i = 0; i < files.size(); ++i) std::ofstream(name_of(i)) << files[i];
  const auto second = make();
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(fs::exists(name_of(i)), i < 47) << i;
}

// kill(2) fails for it, as for every process here.
TEST_F(recording_file, of_a_living_process_of_another_user_stays) {
  const auto mine = make();
  const std::string of_other = folder() + '/' + std::to_string(ended_process());
  for (int i = 0; i < 64; ++i) std::ofstream(of_other + '-' + std::to_string(i) + ".recording");
  EXPECT_TRUE(unit_tests::is_true_in_a_child([this] {
    if (!testkit::deny(SYS_kill, EPERM)) return true;
    const auto second = make();
    return files() == 66;
  }));
}

TEST_F(recording_file, has_the_first_line_of_the_url_as_far_as_there_is_room) {
  const auto store_of = [&](const std::string& url) {
    base::failure why;
    make_recording_file({url, false}, why).reset();
    const auto all = read();
    fs::remove_all(folder());
    return all.clients.at(0).store;
  };
  EXPECT_EQ(store_of("redis://db"), "redis://db");
  EXPECT_EQ(store_of("one\ntwo"), "one");
  EXPECT_EQ(store_of(std::string(1023, 'x')), std::string(1023, 'x'));
  EXPECT_EQ(store_of(std::string(1024, 'x')), std::string(1023, 'x'));
}

TEST_F(recording_file, that_is_no_recording_is_named) {
  const auto mine = make();
  std::ofstream(folder() + "/1-1.recording") << "something else";
  const auto all = read();
  EXPECT_EQ(all.clients.size(), 1u);
  EXPECT_EQ(all.unreadable,
            std::vector{"cannot read " + folder() + "/1-1.recording: it is not a recording"});
}

TEST_F(recording_file, leaves_no_descriptor_open_when_it_is_closed_or_was_refused) {
  const auto open = unit_tests::open_descriptors;
  make();  // makes the directory
  const auto before = open();
  make();
  EXPECT_EQ(open(), before);
  fs::permissions(folder(), fs::perms::group_read, fs::perm_options::add);
  refusal();
  EXPECT_EQ(open(), before);
}

}  // namespace
}  // namespace holdfast::io
