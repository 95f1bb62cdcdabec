// Numbers, and the file that keeps them: deleted, replaced, spoilt, on a clock that goes back.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "backend/file/naming.hpp"
#include "backend/file/record.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

std::string record_of(std::string_view name, std::int64_t number) {
  file::record_text r;
  r.describe(name, "web7", "", 1, 2);
  r.stamp(number, 3us);
  return {r.bytes().begin(), r.bytes().end()};
}

struct clock_at {
  explicit clock_at(std::chrono::microseconds wall) { env.set_wall(wall); }
  testkit::manual_environment env;
};

TEST(file_numbers, grow_when_the_clock_is_set_back) {
  const lock_folder folder;
  clock_at today(1'700'000'000s), long_ago(1'000'000s);
  const auto first = open_backend(folder.url(), today.env),
             then = open_backend(folder.url(), long_ago.env);
  std::int64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    for (const auto* store : {&first, &then}) {
      contender p(**store, "x");
      const std::int64_t number = p.hold();
      EXPECT_GT(number, last);
      last = number;
      p.let_go();
    }
  }
}

TEST(file_numbers, are_never_below_the_clock) {
  const lock_folder folder;
  clock_at clock(1'700'000'000s);
  const auto store = open_backend(folder.url(), clock.env);
  contender p(*store, "x");
  EXPECT_GE(p.hold(), 1'700'000'000'000'000);
  p.let_go();
  clock.env.set_wall(1'800'000'000s);
  EXPECT_GE(p.hold(), 1'800'000'000'000'000);
  p.let_go();
}

TEST(file_numbers, grow_when_the_file_is_lost_as_in_a_reboot) {
  const lock_folder folder;
  clock_at clock(1'700'000'000s);
  const auto store = open_backend(folder.url(), clock.env);
  contender before(*store, "x");
  const std::int64_t last = before.hold();
  before.let_go();
  fs::remove(folder.file("x.lock"));
  clock.env.set_wall(1'700'000'001s);
  contender after(*store, "x");
  EXPECT_GT(after.hold(), last);
  after.let_go();
}

TEST(file_numbers, are_those_of_the_file) {
  const opened store;
  contender p(*store, "x");
  const std::int64_t number = p.hold();
  const std::string text = content_of(store.folder.file("x.lock"));
  const auto r = file::parse_record(text);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->number, number);
  EXPECT_EQ(r->pid, ::getpid());
  EXPECT_EQ(r->name, "x");
  p.let_go();
}

TEST(file_numbers, a_deleted_file_lets_nobody_in_beside_the_new_one) {
  const opened store;
  contender old(*store, "x"), waiter(*store, "x"), fresh(*store, "x");
  const std::int64_t first = old.hold();
  waiter.acquire();
  ASSERT_TRUE(eventually([&] { return old.claim().others_wait(); }));
  fs::remove(store.folder.file("x.lock"));
  EXPECT_GT(fresh.hold(), first);  // nothing can keep the old holder and the new apart
  old.let_go();
  contender other(*store, "x");
  EXPECT_EQ(other.try_once().what, kind::refused);
  EXPECT_FALSE(waiter.answered());  // it had the old file's lock by now: and let go of it
  fresh.let_go();
  EXPECT_EQ(waiter.next().what, kind::granted);
  EXPECT_EQ(old.try_once().what, kind::refused);
  waiter.let_go();
}

TEST(file_numbers, a_file_that_was_replaced_is_noticed) {
  const lock_folder folder;
  clock_at clock(1'700'000'000s);
  const auto store = open_backend(folder.url(), clock.env);
  contender cached(*store, "x");
  for (int i = 0; i < 5; ++i) {
    cached.hold();
    cached.let_go();
  }
  fs::rename(folder.file("x.lock"), folder.file("moved away"));
  contender holder(*store, "x");
  holder.hold();
  clock.env.advance(11ms);
  EXPECT_EQ(cached.try_once().what, kind::refused);
  holder.let_go();
}

TEST(file_numbers, a_deleted_directory_is_made_again) {
  const lock_folder folder;
  const std::string place = folder.path().string() + "/locks";
  const auto store = open_backend("file://" + place), other = open_backend("file://" + place);
  contender p(*store, "x");
  const std::int64_t first = p.hold();
  p.let_go();
  fs::remove_all(place);
  const std::int64_t second = p.hold();
  EXPECT_GT(second, first);
  contender q(*other, "x");
  EXPECT_EQ(q.try_once().what, kind::refused);
  p.let_go();
  fs::rename(place, place + ".moved");
  const auto third = open_backend("file://" + place);
  contender r(*third, "x"), s(*other, "y");
  r.hold();
  s.hold();
  EXPECT_TRUE(fs::exists(place + "/y.lock"));
  r.let_go();
  s.let_go();
  for (const auto* b : {&store, &other, &third}) (*b)->close(base::never);
}

struct spoilt {
  std::string what, text;
};

TEST(file_numbers, garbage_is_refused_named_and_left_as_it_is) {
  const opened store;
  const std::string good = record_of("x", 1'900'000'000'000'000);
  std::string flipped = good, longer = good + "x";
  flipped[30] ^= 1;
  const spoilt all[] = {{"text", "hello\n"},
                        {"zeros", std::string(1024, '\0')},
                        {"one byte", "x"},
                        {"cut", good.substr(0, 1000)},
                        {"longer", longer},
                        {"a flipped bit", flipped},
                        {"long noise", std::string(100'000, '#')}};
  for (const spoilt& s : all) {
    SCOPED_TRACE(s.what);
    write_file(store.folder.file("x.lock"), s.text);
    contender p(*store, "x");
    const answer a = p.try_once();
    EXPECT_EQ(a.what, kind::refused);
    EXPECT_EQ(a.why.code, errc::refused);
    EXPECT_NE(a.why.text.find(store.folder.file("x.lock").string()), std::string::npos)
        << a.why.text;
    EXPECT_NE(a.why.text.find("remove it"), std::string::npos) << a.why.text;
    EXPECT_EQ(content_of(store.folder.file("x.lock")), s.text);
    EXPECT_TRUE(inspect(*store).empty());  // and it is not locked
    fs::remove(store.folder.file("x.lock"));
    EXPECT_GT(p.hold(), 0);
    p.let_go();
  }
}

TEST(file_numbers, a_file_that_is_spoilt_between_two_cycles_is_refused) {
  const opened store;
  contender p(*store, "x");
  for (int i = 0; i < 5; ++i) {
    p.hold();
    p.let_go();
  }
  for (const std::string text : {"garbage", ""}) {
    write_file(store.folder.file("x.lock"), text);  // in place: the same inode
    const answer a = p.try_once();
    EXPECT_EQ(a.what, text.empty() ? kind::granted : kind::refused);
    if (a.what == kind::granted) p.let_go();
  }
}

TEST(file_numbers, two_names_with_one_file_are_a_mismatch) {
  const opened store;
  const std::string name(512, 'n');
  const std::string file = file::file_stem(name) + std::string(file::lock_suffix);
  write_file(store.folder.file(file), record_of(name.substr(0, 511) + "o", 5));
  contender p(*store, name);
  const answer a = p.try_once();
  EXPECT_EQ(a.what, kind::refused);
  EXPECT_EQ(a.why.code, errc::mismatch);
}

TEST(file_numbers, end_with_a_clear_error) {
  const opened store;
  write_file(store.folder.file("x.lock"), record_of("x", file::number_max));
  contender p(*store, "x");
  const answer a = p.try_once();
  EXPECT_EQ(a.what, kind::refused);
  EXPECT_EQ(a.why.code, errc::refused);
  EXPECT_NE(a.why.text.find("used up"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::file_test
