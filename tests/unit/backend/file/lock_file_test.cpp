// The lock file itself: what is read from it, written to it and locked in it.
#include "backend/file/lock_file.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <functional>
#include <utility>

#include "testkit/seccomp.hpp"
#include "tests/unit/backend/file/folder_fixture.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::file {
namespace {

using namespace std::chrono_literals;

// While it lives, no file grows beyond this size: a write fails, or is cut.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) : signals_(::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit low{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  }
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signals_);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  rlimit before_{};
  void (*signals_)(int);
};

class a_lock_file : public a_lock_folder {
 protected:
  using attempt = lock_file::attempt;

  void lock(bool shares = false) {
    ASSERT_TRUE(file.open(now)) << file.trouble().text;
    ASSERT_EQ(file.try_lock(shares), attempt::locked);
  }
  const record_text& text(std::int64_t number, const kind& as = {}) {
    written.describe("x", "here", {}, 1, 2, as);
    written.stamp(number, now);
    return written;
  }
  std::optional<observation> look(std::chrono::microseconds wall) {
    return file.look(written, "x", wall);
  }
  std::optional<observation> look() { return look(now); }
  std::uintmax_t size() const { return std::filesystem::file_size(path("x.lock")); }
  // A failed expectation would be reported into a file, which has the same limit.
  static bool with_size_limit(rlim_t bytes, const std::function<bool()>& call) {
    const file_size_limit low(bytes);
    return call();
  }
  bool says(std::string_view part) const {
    return file.trouble().text.find(part) != std::string::npos;
  }

  static constexpr std::chrono::microseconds now = 1'700'000'000s;
  record_text written;
  lock_file file{all, "x"};
};

TEST_F(a_lock_file, has_the_record_of_another_process_that_wrote_after_this_one) {
  lock();
  EXPECT_EQ(look()->what, content::empty);
  ASSERT_TRUE(file.write(text(5)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(look()->what, content::record);
    EXPECT_EQ(look()->number, 5);
  }
  put("x.lock", record_as_text({.number = 9}));
  EXPECT_EQ(look()->number, 9);
  put("x.lock", record_as_text({.name = "y", .number = 9}));
  EXPECT_EQ(look()->what, content::another);
  put("x.lock", std::string(record_bytes, '#'));
  EXPECT_EQ(look()->what, content::garbage);
}

TEST_F(a_lock_file, that_was_replaced_is_noticed_after_ten_milliseconds) {
  lock();
  EXPECT_TRUE(look()->same_file);
  std::filesystem::rename(path("x.lock"), path("moved"));
  EXPECT_FALSE(look(now + 11ms)->same_file) << "no file has its name";
  put("x.lock", "");
  EXPECT_FALSE(look(now + 22ms)->same_file) << "another file has its name";
  std::filesystem::rename(path("moved"), path("x.lock"));
  EXPECT_TRUE(look(now + 33ms)->same_file);
  EXPECT_TRUE(look(now - 1h)->same_file) << "the clock may be set back";
}

TEST_F(a_lock_file, that_was_deleted_is_noticed_at_once) {
  lock();
  EXPECT_TRUE(look()->same_file);
  std::filesystem::remove(path("x.lock"));
  EXPECT_FALSE(look()->same_file);
}

TEST_F(a_lock_file, is_not_opened_where_its_directory_was_replaced_by_something_else) {
  std::filesystem::remove_all(scratch.path());
  std::ofstream(scratch.path()) << "";
  EXPECT_FALSE(file.open(now));
  EXPECT_EQ(file.trouble().code, errc::refused);
  EXPECT_TRUE(says(scratch.path().string()) && says("not a directory")) << file.trouble().text;
}

TEST_F(a_lock_file, is_not_opened_where_others_remove_its_directory_all_the_time) {
  EXPECT_TRUE(unit_tests::is_true_in_a_child([this] {
    if (!testkit::deny(SYS_openat, ENOENT)) return true;
    return !file.open(now) && says("cannot open the lock file");
  }));
}

TEST_F(a_lock_file, is_read_without_the_lock_as_far_as_there_is_a_record) {
  ASSERT_TRUE(file.open(now));
  const other_description other(path("x.lock"));
  ASSERT_TRUE(holder_bytes(other.get()).take({0, 1}));
  for (int i = 0; i < 3; ++i) {  // the first reading is another than the later ones
    EXPECT_EQ(file.number_in_file(), 0) << "it is empty";
    EXPECT_FALSE(file.was_exclusive());
    EXPECT_FALSE(file.shared_by_others());
  }
  put("x.lock", std::string(record_bytes, '#'));
  EXPECT_EQ(file.number_in_file(), 0);
  EXPECT_FALSE(file.was_exclusive());
  EXPECT_FALSE(file.shared_by_others());
  put("x.lock", record_as_text({.number = 7}));
  EXPECT_EQ(file.number_in_file(), 7);
  EXPECT_TRUE(file.was_exclusive());
  EXPECT_FALSE(file.shared_by_others());
}

TEST_F(a_lock_file, is_shared_by_others_as_long_as_they_hold_it) {
  const kind permits{lock_mode::permit, 2, 5};
  put("x.lock", record_as_text({.as = permits}));
  ASSERT_TRUE(file.open(now));
  EXPECT_FALSE(file.shared_by_others());
  const other_description other(path("x.lock"));
  ASSERT_TRUE(holder_bytes(other.get()).take({0, 2}));
  EXPECT_EQ(file.shared_by_others(), permits);
  EXPECT_FALSE(file.was_exclusive());
}

TEST_F(a_lock_file, gives_a_claim_the_lowest_free_bytes_or_none) {
  lock(true);
  const other_description other(path("x.lock"));
  holder_bytes others(other.get());
  ASSERT_TRUE(others.take({1, 1}));
  EXPECT_EQ(file.claim_bytes({lock_mode::permit, 5, 5}), attempt::busy);
  EXPECT_FALSE(others.next_taken(0)) << "all or none";
  EXPECT_EQ(file.claim_bytes({lock_mode::permit, 3, 5}), attempt::locked);
  EXPECT_EQ(others.next_taken(0).count, 1u);
  EXPECT_EQ(others.next_taken(1).first, 2u);
  EXPECT_EQ(others.next_taken(1).count, 2u);
  file.bytes().leave();
  EXPECT_EQ(file.claim_bytes({.mode = lock_mode::shared}), attempt::locked);
  EXPECT_EQ(others.next_taken(0).first, 0u);
  EXPECT_EQ(others.next_taken(0).count, 1u);
}

TEST_F(a_lock_file, gives_its_bytes_back_when_it_is_unlocked) {
  lock(true);
  ASSERT_EQ(file.guard(false), attempt::locked);
  ASSERT_EQ(file.claim_bytes({lock_mode::permit, 2, 5}), attempt::locked);
  ASSERT_TRUE(file.mark(text(5, {lock_mode::permit, 2, 5})));
  const other_description other(path("x.lock"));
  EXPECT_TRUE(holder_bytes(other.get()).next_taken(0));
  file.unlock();
  EXPECT_FALSE(holder_bytes(other.get()).are_used());
  EXPECT_TRUE(other.try_lock(LOCK_EX));
}

TEST_F(a_lock_file, that_cannot_be_written_stays_empty) {
  lock();
  EXPECT_EQ(look()->what, content::empty);
  text(5);
  const std::pair<rlim_t, std::string_view> limits[] = {{0, "File too large"},
                                                        {100, "free some space"}};
  for (const auto& [limit, complaint] : limits) {
    EXPECT_FALSE(with_size_limit(limit, [this] { return file.write(written); }));
    EXPECT_TRUE(says("cannot write the lock file") && says(complaint)) << file.trouble().text;
    EXPECT_EQ(size(), 0u);
  }
  EXPECT_TRUE(file.write(written));
}

TEST_F(a_lock_file, that_cannot_be_written_keeps_its_record) {
  put("x.lock", record_as_text({.number = 9}));
  lock();
  EXPECT_EQ(look()->number, 9);
  text(10);
  EXPECT_FALSE(with_size_limit(0, [this] { return file.write(written); }));
  EXPECT_EQ(look()->number, 9);
}

TEST_F(a_lock_file, that_cannot_be_marked_keeps_its_size) {
  put("x.lock", record_as_text({.number = 9}));
  lock(true);
  ASSERT_EQ(file.guard(false), attempt::locked);
  ASSERT_EQ(file.claim_bytes({.mode = lock_mode::shared}), attempt::locked);
  text(9, {.mode = lock_mode::shared});
  EXPECT_FALSE(with_size_limit(record_bytes + 100, [this] { return file.mark(written); }));
  EXPECT_TRUE(says("cannot write the lock file") && says("free some space")) << file.trouble().text;
  EXPECT_EQ(size(), record_bytes);
  EXPECT_TRUE(file.mark(written));
  EXPECT_EQ(size(), 2 * record_bytes);
}

TEST_F(a_lock_file, is_busy_beside_another_lock_and_fails_with_a_reason_otherwise) {
  ASSERT_TRUE(file.open(now));
  const other_description other(path("x.lock"));
  ASSERT_TRUE(other.try_lock(LOCK_SH));
  EXPECT_EQ(file.try_lock(false), attempt::busy);
  EXPECT_EQ(file.try_unprobed(false), attempt::busy);
  EXPECT_EQ(file.try_lock(true), attempt::locked);
  file.close();
  EXPECT_EQ(file.try_lock(false), attempt::failed);
  EXPECT_TRUE(says("cannot lock " + path("x.lock"))) << file.trouble().text;
  EXPECT_EQ(file.lock(false), attempt::failed);
}

TEST_F(a_lock_file, that_is_new_is_not_used_above_a_floor_that_cannot_be_read) {
  lock();
  put(".floor", "no record");
  EXPECT_FALSE(look());
  EXPECT_EQ(file.trouble().code, errc::refused);
  EXPECT_TRUE(says(path(".floor")) && says("holds no record")) << file.trouble().text;
  std::filesystem::remove(path(".floor"));
  std::filesystem::create_directory(path(".floor"));
  EXPECT_FALSE(look());
  EXPECT_TRUE(says("cannot read " + path(".floor")) && says("directory")) << file.trouble().text;
}

}  // namespace
}  // namespace holdfast::file
