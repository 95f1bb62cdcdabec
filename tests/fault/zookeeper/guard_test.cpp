// Data in ZooKeeper that only the holder of a lock writes.
#include <holdfast/holdfast.hpp>

#include <optional>
#include <string>

#include "fixture.hpp"
#include "testkit/thrown_by.hpp"

namespace holdfast::zookeeper_test {
namespace {

using testkit::thrown_by;

class zookeeper_guard_test : public on_zookeeper {
 protected:
  void SetUp() override {
    on_zookeeper::SetUp();
    if (IsSkipped()) return;
    by_hand_.emplace(shared_server().url());
    by_hand_->open();
    chroot_ =
        std::string("/guard_") + testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_EQ(by_hand_->create(chroot_).code, error::ok);
    ASSERT_EQ(by_hand_->create(value()).code, error::ok);
  }
  client open(const std::string& options = "") const {
    return client::open(shared_server().url() + chroot_ + "?session-timeout=10s" + options);
  }
  session_client& by_hand() { return *by_hand_; }
  std::string value() const { return chroot_ + "-value"; }
  std::string written() { return by_hand_->data_of(value()); }
  const std::string& chroot_of() const { return chroot_; }
  std::string node_of(const lease& l) const {
    return chroot_ + '/' + std::string(l.name()) + '/' + l.owner();
  }

 private:
  std::string chroot_;
  std::optional<session_client> by_hand_;
};

TEST_F(zookeeper_guard_test, a_holder_writes_and_learns_the_version) {
  const client c = open();
  mutex m(c, "job");
  const lease held = m.acquire();
  const zookeeper_guard guard(value());
  EXPECT_EQ(guard.write(held, "one"), 1);
  EXPECT_EQ(guard.write(held, "two", 1), 2);
  EXPECT_EQ(written(), "two");
  EXPECT_EQ(thrown_by([&] { guard.write(held, "three", 1); }), errc::mismatch);
  EXPECT_EQ(written(), "two");
}

TEST_F(zookeeper_guard_test, a_holder_whose_node_is_gone_writes_nothing) {
  const client c = open();
  mutex m(c, "job");
  const lease held = m.acquire();
  ASSERT_EQ(by_hand().remove(node_of(held)).code, error::ok);  // it may not know of it yet
  EXPECT_EQ(thrown_by([&] { zookeeper_guard(value()).write(held, "late"); }), errc::lost);
  EXPECT_EQ(written(), "data");
}

TEST_F(zookeeper_guard_test, a_holder_that_was_cut_off_until_its_session_ended_writes_nothing) {
  tcp_proxy proxy(shared_server().port());
  const std::string path = value().substr(0, value().rfind('-'));
  const client c = client::open(at_port(proxy.port(), path + "?session-timeout=1s"));
  mutex m(c, "job");
  const lease held = m.acquire();
  proxy.set_both({.hold = true});
  EXPECT_TRUE(eventually([&] { return by_hand().exists(node_of(held)).code == error::no_node; }));
  proxy.set_both({});
  std::error_code ec;
  zookeeper_guard(value()).write(held, "late", zookeeper_guard::any_version, ec);
  EXPECT_EQ(ec, errc::lost);
  EXPECT_EQ(written(), "data");
}

TEST_F(zookeeper_guard_test, a_holder_of_permits_writes_while_all_of_them_stand) {
  const client c = open("&layout=curator-semaphore");
  semaphore s(c, "pool", 3);
  const lease one = s.acquire(), two = s.acquire({.permits = 2});
  const zookeeper_guard guard(value());
  EXPECT_EQ(guard.write(one, "one"), 1);
  EXPECT_EQ(guard.write(two, "two"), 2) << "the others hold permits, too";
  EXPECT_EQ(thrown_by([&] { guard.write(one, "late", 1); }), errc::mismatch);
  const std::string leases = chroot_of() + "/pool/leases";
  for (const std::string& name : by_hand().children_of(leases)) {
    if (!name.starts_with(two.owner())) continue;
    ASSERT_EQ(by_hand().remove(leases + '/' + name).code, error::ok);
    break;
  }
  EXPECT_EQ(thrown_by([&] { guard.write(two, "late"); }), errc::lost);
  EXPECT_EQ(guard.write(one, "three"), 3);
  EXPECT_EQ(written(), "three");
}

// The next holder's node has the same name: a late write would pass under it.
TEST_F(zookeeper_guard_test, writes_nothing_for_locks_whose_holders_share_a_node) {
  const client c = open("&layout=node&unsafe=1");
  mutex m(c, "job");
  const lease held = m.acquire();
  EXPECT_EQ(thrown_by([&] { zookeeper_guard(value()).write(held, "x"); }), errc::unsupported);
  EXPECT_EQ(written(), "data");
}

TEST_F(zookeeper_guard_test, says_what_it_cannot_write) {
  const client c = open();
  mutex m(c, "job with a blank/and a slash");
  lease held = m.acquire();
  const auto refused = [&](const std::string& path) {
    return thrown_by([&] { zookeeper_guard(path).write(held, "x"); });
  };
  EXPECT_EQ(refused(value() + "/nothing"), errc::refused);
  EXPECT_EQ(refused("no path"), errc::refused);
  EXPECT_EQ(thrown_by([&] { zookeeper_guard(value()).write(held, std::string(1'000'001, 'x')); }),
            errc::refused);
  ASSERT_TRUE(held.held());
  EXPECT_EQ(zookeeper_guard(value()).write(held, std::string(1'000'000, 'x')), 1);
  held.release();
  EXPECT_EQ(refused(value()), errc::not_held);
  const client files = client::open("memory:");
  mutex other(files, "job");
  const lease elsewhere = other.acquire();
  EXPECT_EQ(thrown_by([&] { zookeeper_guard(value()).write(elsewhere, "x"); }), errc::unsupported);
}

TEST_F(zookeeper_guard_test, needs_the_right_to_write) {
  session_client owner("zookeeper://me:secret@127.0.0.1:" + std::to_string(shared_server().port()));
  owner.open();
  const std::string mine = value() + "-mine";
  ASSERT_EQ(owner.create(mine, node_kind::persistent, acl_of::creator).code, error::ok);
  const client c = open();
  mutex m(c, "job");
  const lease held = m.acquire();
  EXPECT_EQ(thrown_by([&] { zookeeper_guard(mine).write(held, "x"); }), errc::refused);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
