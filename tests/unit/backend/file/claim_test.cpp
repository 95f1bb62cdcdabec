// A claim on a lock file, as far as it need not wait: no test here starts a thread.
#include "backend/file/claim.hpp"

#include <unistd.h>

#include <functional>
#include <utility>

#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/file/before_call.hpp"
#include "tests/unit/backend/file/folder_fixture.hpp"
#include "tests/unit/backend/file/reported_file_system.hpp"

namespace holdfast::file {
namespace {

constexpr seam::acquire_request to_share{.mode = lock_mode::shared};
constexpr seam::acquire_request for_permits(std::uint32_t count, std::uint32_t of) {
  return {.mode = lock_mode::permit, .permits = count, .total_permits = of};
}

// A claim on the lock "x", and what its backend answers.
class one_claim final : private seam::claim_sink {
 public:
  one_claim(folder& f, waiter_threads& threads, base::environment& env, const identity& me)
      : claim_(f, threads, env, me, "x", *this) {}

  bool try_once(seam::acquire_request request = {}) {
    request.one_attempt = true;
    claim_.acquire(request);
    return is_granted();
  }
  void release() { claim_.release(nullptr); }
  // The answer for `next` comes before this returns.
  void release_to(one_claim& next, const seam::acquire_request& request) {
    const seam::successor to{&next.claim_, request};
    claim_.release(&to);
  }
  bool is_granted() const noexcept { return number != 0; }
  bool others_wait() { return claim_.others_wait(); }

  std::int64_t number = 0;  // 0: not granted
  base::failure refusal;
  std::function<void()> when_ended = [] {};

 private:
  void on_granted(const seam::grant& g) override { number = g.number; }
  void on_refused(base::failure why) override {
    number = 0;
    refusal = std::move(why);
  }
  void on_extended(base::time_point, std::uint32_t) override {}
  void on_doubtful() override {}
  void on_lost(std::error_code) override {}
  void on_contended() override {}
  void on_ended(base::failure why) override {
    number = 0;
    EXPECT_FALSE(why.code) << why.text;
    std::exchange(when_ended, [] {})();
  }

  file_claim claim_;
};

class a_file_claim : public a_lock_folder {
 protected:
  using a_lock_folder::a_lock_folder;

  waiter_threads threads;
  testkit::manual_environment env;
  const identity me{"here", ::getpid(), 2};
  one_claim first{all, threads, env, me}, next{all, threads, env, me}, third{all, threads, env, me};
  one_claim fourth{all, threads, env, me};
};

// The clock of these tests stands still, so the numbers alone tell the grants apart.
TEST_F(a_file_claim, has_a_greater_number_than_another_claim_had_meanwhile) {
  std::int64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    for (one_claim* const claim : {&first, &next}) {
      ASSERT_TRUE(claim->try_once());
      EXPECT_GT(claim->number, last);
      last = claim->number;
      claim->release();
    }
  }
}

TEST_F(a_file_claim, is_refused_for_permits_that_cannot_be) {
  for (const auto& [count, of] :
       {std::pair{0u, 3u}, std::pair{4u, 3u}, std::pair{1u, permits_max + 1}}) {
    EXPECT_FALSE(first.try_once(for_permits(count, of)));
    EXPECT_EQ(first.refusal.code, errc::bad_option) << count << " of " << of;
  }
  EXPECT_TRUE(first.try_once(for_permits(3, 3)));
  first.release();
}

TEST_F(a_file_claim, whose_request_cannot_be_is_not_announced_with_the_release) {
  ASSERT_TRUE(next.try_once());
  next.release();
  ASSERT_TRUE(first.try_once());
  first.release_to(next, for_permits(0, 3));
  EXPECT_EQ(next.refusal.code, errc::bad_option);
  ASSERT_TRUE(third.try_once());
  EXPECT_FALSE(third.others_wait());
  third.release();
}

TEST_F(a_file_claim, that_cannot_wait_after_the_release_is_refused_and_no_longer_announced) {
  for (const seam::acquire_request& request :
       {seam::acquire_request{}, to_share, for_permits(1, 3)}) {
    ASSERT_TRUE(next.try_once(request));
    next.release();
    ASSERT_TRUE(first.try_once(request));
    threads.close({});
    first.release_to(next, request);
    EXPECT_FALSE(next.is_granted());
    EXPECT_EQ(next.refusal.code, errc::unavailable);
    ASSERT_TRUE(third.try_once(request));
    EXPECT_FALSE(third.others_wait());
    third.release();
  }
}

TEST_F(a_file_claim, is_announced_with_the_release_before_another_claim_can_hold_the_lock) {
  threads.close({});
  for (const seam::acquire_request& request :
       {seam::acquire_request{}, to_share, for_permits(1, 3)}) {
    ASSERT_TRUE(next.try_once(request));  // its file stays open
    next.release();
    ASSERT_TRUE(first.try_once(request));
    bool is_seen = false;
    first.when_ended = [&] {
      ASSERT_TRUE(third.try_once(request));
      is_seen = third.others_wait();
      third.release();
    };
    first.release_to(next, request);
    EXPECT_TRUE(is_seen);
  }
}

TEST_F(a_file_claim, comes_after_a_writer_and_not_after_a_reader_that_is_announced_with_a_release) {
  threads.close({});
  for (const seam::acquire_request& request : {seam::acquire_request{}, to_share}) {
    ASSERT_TRUE(next.try_once(request));
    next.release();
    ASSERT_TRUE(first.try_once(to_share));
    ASSERT_TRUE(fourth.try_once(to_share));
    bool is_admitted = false;
    first.when_ended = [&] { is_admitted = third.try_once(to_share); };
    first.release_to(next, request);
    EXPECT_EQ(is_admitted, request.mode == lock_mode::shared);
    if (is_admitted) third.release();
    fourth.release();
  }
}

TEST_F(a_file_claim, of_readers_and_of_a_semaphore_exclude_each_other) {
  ASSERT_TRUE(first.try_once(to_share));
  EXPECT_TRUE(next.try_once(to_share));
  EXPECT_EQ(next.number, first.number);
  EXPECT_FALSE(third.try_once(for_permits(1, 3)));
  EXPECT_EQ(third.refusal.code, errc::mismatch);
  next.release();
  first.release();
  ASSERT_TRUE(first.try_once(for_permits(2, 3)));
  EXPECT_FALSE(next.try_once(for_permits(2, 3)));
  EXPECT_EQ(next.refusal.code, errc::timed_out);
  EXPECT_FALSE(next.try_once());
  EXPECT_EQ(next.refusal.code, errc::mismatch);
  first.release();
}

TEST_F(a_file_claim, for_permits_comes_after_those_that_are_announced_and_after_no_others) {
  threads.close({});
  const auto one = for_permits(1, 3);
  ASSERT_TRUE(first.try_once(one));
  ASSERT_TRUE(next.try_once(one)) << "some are free, and none waits";
  ASSERT_TRUE(fourth.try_once(one));
  fourth.release();
  bool is_admitted = true;
  first.when_ended = [&] { is_admitted = third.try_once(one); };
  first.release_to(fourth, one);
  EXPECT_FALSE(is_admitted);
  EXPECT_EQ(third.refusal.code, errc::timed_out);
  EXPECT_TRUE(third.try_once(one)) << "it waits no longer";
  third.release();
  next.release();
}

TEST_F(a_file_claim, for_permits_is_granted_when_an_exclusive_holder_leaves_during_its_attempt) {
  ASSERT_TRUE(first.try_once());
  other_description probe(path(".probe"));
  ASSERT_TRUE(probe.try_lock(LOCK_EX));
  const before_call leaving(system_call::sched_yield, [&] {
    if (first.is_granted()) first.release();
    probe.close();
  });
  EXPECT_TRUE(next.try_once(for_permits(1, 3))) << next.refusal.text;
  EXPECT_FALSE(first.is_granted()) << "it was there at first";
  next.release();
}

TEST_F(a_file_claim, has_the_note_of_its_last_request) {
  for (const std::string_view note : {"rebuild the index", "another", ""}) {
    ASSERT_TRUE(first.try_once({.note = note}));
    const std::string text = scratch.read("x.lock");
    const auto written = parse_record(text);
    ASSERT_TRUE(written);
    EXPECT_EQ(written->note, note);
    first.release();
  }
}

struct network_folder {  // a base, so that it is there before the folder is opened
  const reported_file_system reported{nfs_type};
};

class a_file_claim_over_network : private network_folder, public a_file_claim {
 protected:
  a_file_claim_over_network() : a_file_claim({.network = true}) {}
};

// The kernel makes one lock of flock(2) and fcntl(2) there.
TEST_F(a_file_claim_over_network, is_granted_alone_and_refused_to_share) {
  for (const seam::acquire_request& request : {to_share, for_permits(1, 3)}) {
    EXPECT_FALSE(first.try_once(request));
    EXPECT_EQ(first.refusal.code, errc::unsupported);
    EXPECT_NE(first.refusal.text.find(scratch.path().string() + " cannot be shared"),
              std::string::npos)
        << first.refusal.text;
  }
  EXPECT_TRUE(first.try_once());
  EXPECT_FALSE(next.try_once());
  EXPECT_FALSE(first.others_wait());
  first.release();
  EXPECT_TRUE(next.try_once());
  next.release();
}

}  // namespace
}  // namespace holdfast::file
