// Readers of one shared_mutex object that have their share in common.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <future>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "api/client_access.hpp"
#include "testkit/manual_environment.hpp"

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

}  // namespace
