// Readers of one shared_mutex object that have their share in common.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <future>
#include <latch>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "api/client_access.hpp"
#include "api/common_share.hpp"
#include "cohort/client_impl.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"
#include "tests/unit/in_a_child.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::client;

class a_common_share : public ::testing::Test {
 protected:
  client open(const std::string& query = "?ttl=10s") {
    const auto where = holdfast::url::parse(store.url() + query);
    return holdfast::detail::client_access::open(where, {}, env);
  }
  template <class Call>
  static auto elsewhere(Call call) {
    return std::async(std::launch::async, call).get();
  }
  bool is_free_for_writers() { return static_cast<bool>(other.mutex("x").try_acquire()); }

  holdfast::testkit::manual_environment env;
  holdfast::memory_store store{"common share"};
  client door = open(), other = open();
  holdfast::shared_mutex m = door.shared_mutex("x");
};

// Another thread that is inside from here until it leaves.
class joiner {
 public:
  explicit joiner(holdfast::shared_mutex& m)
      : thread_([this, &m] {
          const std::shared_lock inside(m);
          is_in_.set_value();
          may_leave_.get_future().wait();
        }) {
    is_in_.get_future().wait();
  }
  ~joiner() {
    if (thread_.joinable()) leave();
  }
  joiner(const joiner&) = delete;
  joiner& operator=(const joiner&) = delete;
  void leave() {
    may_leave_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> is_in_, may_leave_;
  std::thread thread_;
};

TEST_F(a_common_share, is_given_back_by_whoever_leaves_last) {
  m.lock_shared();
  joiner second(m);
  m.unlock_shared();
  EXPECT_FALSE(is_free_for_writers());
  second.leave();
  EXPECT_TRUE(is_free_for_writers());
}

TEST_F(a_common_share, is_renewed_as_long_as_one_is_inside) {
  m.lock_shared();
  const joiner second(m);
  m.unlock_shared();
  env.advance(1min);
  EXPECT_FALSE(is_free_for_writers());
}

TEST_F(a_common_share, may_be_taken_twice_by_one_thread) {
  m.lock_shared();
  m.lock_shared();
  m.unlock_shared();
  EXPECT_FALSE(is_free_for_writers());
  m.unlock_shared();
  EXPECT_TRUE(is_free_for_writers());
}

TEST_F(a_common_share, is_given_back_when_its_thread_ends) {
  elsewhere([&] { m.lock_shared(); });
  EXPECT_TRUE(is_free_for_writers());
}

TEST_F(a_common_share, is_joined_by_nobody_once_the_client_is_closed) {
  m.lock_shared();
  door.close();
  EXPECT_THROW(elsewhere([&] { m.lock_shared(); }), holdfast::lock_error);
  m.unlock_shared();
}

TEST_F(a_common_share, is_joined_by_nobody_once_it_is_lost) {
  m.lock_shared();
  store.begin_outage();
  env.advance(1min);
  store.end_outage();
  EXPECT_FALSE(elsewhere([&] { return m.try_lock_shared(); }));
  m.unlock_shared();
  EXPECT_TRUE(elsewhere([&] { return std::shared_lock(m, std::try_to_lock).owns_lock(); }));
}

TEST_F(a_common_share, is_lent_and_joined_while_its_turn_admits_readers) {
  holdfast::detail::local_lock& home =
      holdfast::detail::client_access::impl(door).local_lock_for("y",
                                                                 holdfast::lock_kind::shared_mutex);
  holdfast::detail::common_share common;
  EXPECT_FALSE(common.join()) << "no reader has lent its turn";
  holdfast::cohort_tests::reading_caller reader;
  holdfast::cohort_tests::caller writer;
  home.begin(reader, holdfast::detail::wait_bound::forever());
  ASSERT_TRUE(reader.granted);
  EXPECT_TRUE(common.lend(*reader.granted));
  EXPECT_TRUE(common.join());
  EXPECT_TRUE(holdfast::unit_tests::is_true_in_a_child([&] { return !common.join(); }));
  home.begin(writer, holdfast::detail::wait_bound::forever());
  EXPECT_FALSE(common.join()) << "a writer waits";
  common.leave();
  EXPECT_FALSE(writer.granted);
  common.leave();
  ASSERT_TRUE(writer.granted);
  EXPECT_FALSE(common.lend(*writer.granted));
  EXPECT_FALSE(common.join());
  home.unlock(*writer.granted);
  home.drop_user();
}

TEST(common_shares, are_released_by_the_last_of_many_readers_that_leave_at_the_same_time) {
  constexpr int readers = 4, shares = 5000;
  const auto door = client::open("memory:");
  auto m = door.shared_mutex("x");
  m.lock_shared();
  {
    std::latch all_are_inside(readers);
    std::vector<std::jthread> threads;
    for (int t = 0; t < readers; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < shares; ++i) m.lock_shared();
        all_are_inside.arrive_and_wait();
        for (int i = 0; i < shares; ++i) m.unlock_shared();
      });
  }
  EXPECT_FALSE(door.mutex("x").try_acquire());
  m.unlock_shared();
  EXPECT_TRUE(door.mutex("x").try_acquire());
}

// Values that a writer changes together are never seen apart.
TEST(common_shares, keep_writers_out_under_load) {
  const auto door = client::open("memory:");
  auto m = door.shared_mutex("x");
  int a = 0, b = 0;  // guarded by m
  std::atomic<int> torn{0};
  {
    std::vector<std::jthread> contenders;
    for (int t = 0; t < 8; ++t)
      contenders.emplace_back([&, t] {
        for (int i = 0; i < 2000; ++i) {
          if ((i + t) % 10 == 0) {
            const std::lock_guard writer(m);
            ++a;
            ++b;
          } else {
            const std::shared_lock reader(m);
            torn += a != b;
          }
        }
      });
  }
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(a, 8 * 200);
}

TEST_F(a_common_share, is_followed_by_a_writer_of_the_same_object_that_excludes_readers) {
  m.acquire_shared().unlock();
  const holdfast::lease writer = m.acquire();
  EXPECT_EQ(writer.mode(), holdfast::lock_mode::exclusive);
  EXPECT_FALSE(other.shared_mutex("x").try_acquire_shared());
  const auto holders = other.holders("x");
  ASSERT_EQ(holders.size(), 1u);
  EXPECT_EQ(holders[0].mode, holdfast::lock_mode::exclusive);
}

}  // namespace
