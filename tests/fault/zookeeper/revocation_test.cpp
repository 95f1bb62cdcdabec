// A holder is asked to release: by Curator's word in its node, and by break_lock() before it
// removes the node.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <optional>
#include <thread>

#include "fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

constexpr const char* revoke = "__REVOKE__";

class zookeeper_revocation : public on_zookeeper {
 protected:
  void SetUp() override {
    on_zookeeper::SetUp();
    if (IsSkipped()) return;
    by_hand_.emplace(shared_server().url());
    by_hand_->open();
    chroot_ = std::string("/") + testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_EQ(by_hand_->create(chroot_).code, error::ok);
  }
  client open(const std::string& options = "") const {
    return client::open(shared_server().url() + chroot_ + "?session-timeout=10s" + options);
  }
  session_client& by_hand() { return *by_hand_; }
  std::string node_of(const lease& l) const { return chroot_ + "/job/" + l.owner(); }

 private:
  std::string chroot_;
  std::optional<session_client> by_hand_;
};

TEST_F(zookeeper_revocation, a_holder_reads_the_word_in_its_node_and_keeps_the_lock) {
  const client c = open();
  mutex m(c, "job");
  lease held = m.acquire();
  const auto told = held.revocation_token();
  EXPECT_FALSE(told.stop_requested());
  ASSERT_EQ(by_hand().set_data(node_of(held), "something else").code, error::ok);
  ASSERT_EQ(by_hand().set_data(node_of(held), revoke).code, error::ok);
  EXPECT_TRUE(eventually([&] { return told.stop_requested(); }));
  EXPECT_TRUE(held.held());
  held.release();
  const lease next = m.acquire();
  EXPECT_FALSE(next.revocation_token().stop_requested());
}

TEST_F(zookeeper_revocation, a_waiter_that_was_asked_is_told_once_it_holds_the_lock) {
  const client c = open(), other = open();
  mutex first(c, "job"), second(other, "job");
  lease held = first.acquire();
  std::optional<lease> granted;
  std::thread waiter([&] { granted = second.acquire(); });
  std::vector<std::string> all;
  const std::string parent = node_of(held).substr(0, node_of(held).rfind('/'));
  ASSERT_TRUE(eventually([&] { return (all = by_hand().children_of(parent)).size() == 2; }));
  for (const std::string& node : all) {
    if (node == held.owner()) continue;
    EXPECT_EQ(by_hand().set_data(parent + '/' + node, revoke).code, error::ok);
  }
  held.release();
  waiter.join();
  const auto told = granted->revocation_token();
  EXPECT_TRUE(eventually([&] { return told.stop_requested(); }));
  EXPECT_TRUE(granted->held());
}

TEST_F(zookeeper_revocation, who_breaks_a_lock_asks_first) {
  const client c = open(), other = open("&revocation-timeout=1h");
  mutex m(c, "job");
  lease held = m.acquire();
  const std::string owner = held.owner();
  std::atomic<bool> was_held = false;
  const std::stop_callback obey(held.revocation_token(), [&] { was_held = held.held(); });
  const auto told = held.revocation_token();
  std::thread obedient([&] {
    EXPECT_TRUE(eventually([&] { return told.stop_requested(); }));
    held.release();  // throws where it was lost
  });
  EXPECT_TRUE(other.break_lock("job", owner));
  obedient.join();
  EXPECT_TRUE(was_held);
  EXPECT_FALSE(other.break_lock("job", owner));
}

TEST_F(zookeeper_revocation, a_lock_whose_holder_does_not_answer_is_taken_away) {
  const client c = open(), other = open("&revocation-timeout=200ms");
  mutex m(c, "job");
  const lease held = m.acquire();
  const auto told = held.revocation_token(), loss = held.loss_token();
  EXPECT_TRUE(other.break_lock("job", held.owner()));
  EXPECT_TRUE(told.stop_requested() || loss.stop_requested() ||
              eventually([&] { return loss.stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return loss.stop_requested(); }));
  EXPECT_FALSE(held.held());
}

TEST_F(zookeeper_revocation, without_a_time_out_nobody_is_asked) {
  const client c = open(), other = open("&revocation-timeout=0s");
  mutex m(c, "job");
  const lease held = m.acquire();
  const auto told = held.revocation_token(), loss = held.loss_token();
  EXPECT_TRUE(other.break_lock("job", held.owner()));
  EXPECT_TRUE(eventually([&] { return loss.stop_requested(); }));
  EXPECT_FALSE(told.stop_requested());
}

TEST_F(zookeeper_revocation, closing_a_client_ends_its_wait_for_a_holder) {
  const client c = open();
  client other = open("&revocation-timeout=1h");
  mutex m(c, "job");
  const lease held = m.acquire();
  const auto told = held.revocation_token();
  std::error_code ec;
  std::thread breaker([&] { (void)other.break_lock("job", held.owner(), ec); });
  EXPECT_TRUE(eventually([&] { return told.stop_requested(); }));
  other.close();
  breaker.join();
  EXPECT_TRUE(ec == errc::closed || ec == errc::unavailable) << ec.message();
  EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast::zookeeper_test
