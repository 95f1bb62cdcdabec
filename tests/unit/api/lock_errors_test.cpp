// The texts of the errors that the lock objects themselves report.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <stop_token>
#include <string>

namespace {

using namespace std::chrono_literals;

class texts_of_a_lock : public ::testing::Test {
 protected:
  template <class Call>
  static std::string text(Call call) {
    try {
      call();
    } catch (const holdfast::lock_error& e) {
      return e.what();
    }
    return "nothing was thrown";
  }

  holdfast::client client = holdfast::client::open("memory:");
  holdfast::shared_mutex job = client.shared_mutex("job");
};

TEST_F(texts_of_a_lock, name_the_verb_the_lock_and_the_backend) {
  EXPECT_EQ(text([&] { (void)job.acquire({.permits = 2}); }),
            "acquire \"job\" at memory: it requests 2 permits; give 1");
  EXPECT_EQ(text([&] { (void)job.try_acquire({.permits = 2}); }),
            "try_acquire \"job\" at memory: it requests 2 permits; give 1");
  client.close();
  EXPECT_EQ(text([&] { (void)job.acquire(); }), "acquire \"job\" at memory: the client was closed");
}

TEST_F(texts_of_a_lock, name_the_kind_that_is_made) {
  const std::string empty = " at memory: the name is empty; give it 1 to 512 bytes of UTF-8";
  EXPECT_EQ(text([&] { (void)client.mutex(""); }), "mutex" + empty);
  EXPECT_EQ(text([&] { (void)client.semaphore("", 2); }), "semaphore" + empty);
  EXPECT_EQ(text([&] { (void)client.mutex("job", {.ttl = 1ms}); }),
            "mutex \"job\" at memory: give a ttl from 100 ms to 366 days");
  EXPECT_EQ(text([&] { (void)client.semaphore("slots", 2, {.permits = 3}); }),
            "semaphore \"slots\" at memory: it requests 3 permits; give 1 to 2");
  EXPECT_EQ(text([&] {
              (void)client.semaphore("slots", 0);
            }).find("semaphore: it has 0 permits; give 1 to "),
            0u);
}

TEST_F(texts_of_a_lock, name_what_this_thread_holds_already) {
  auto other = client.mutex("job");
  job.lock();
  EXPECT_EQ(text([&] { job.lock(); }),
            "lock \"job\" at memory: this thread holds it; unlock() it first, or use "
            "recursive_mutex");
  EXPECT_EQ(text([&] { job.lock_shared(); }),
            "lock_shared \"job\" at memory: this thread holds it exclusively; unlock() it first");
  EXPECT_EQ(text([&] { other.lock(); }),
            "lock \"job\" at memory: this thread holds it through another lock object; unlock() "
            "that one first");
  EXPECT_FALSE(job.try_lock());
  EXPECT_FALSE(job.try_lock_shared());
  EXPECT_FALSE(other.try_lock());
  job.unlock();
  job.lock_shared();
  EXPECT_EQ(text([&] { other.lock(); }),
            "lock \"job\" at memory: this thread holds a share of it; unlock_shared() it first");
  EXPECT_FALSE(other.try_lock());
  job.unlock_shared();
  EXPECT_TRUE(other.try_lock());
  other.unlock();
}

TEST_F(texts_of_a_lock, name_the_lock_of_a_lease_that_was_given) {
  const auto stranger = client.mutex("another");
  const auto theirs = stranger.acquire();
  const auto mine = client.recursive_mutex("job");
  EXPECT_EQ(text([&] { (void)mine.reacquire(theirs); }),
            "reacquire \"job\" at memory: the lease is of \"another\"");
  EXPECT_EQ(text([&] { (void)mine.reacquire(holdfast::lease()); }),
            "reacquire \"job\" at memory: the lock is not held");
}

TEST_F(texts_of_a_lock, report_a_stop_before_the_call_as_the_end_of_the_wait) {
  const auto held = job.acquire();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(text([&] { (void)job.acquire(stop.get_token()); }),
            "acquire \"job\" at memory: the wait was stopped");
  EXPECT_EQ(text([&] { EXPECT_FALSE(job.try_acquire(stop.get_token())); }), "nothing was thrown");
}

}  // namespace
