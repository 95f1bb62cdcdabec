// replicas=: nothing counts that a failover may lose.
#include <gmock/gmock.h>

#include "sentinel_fixture.hpp"

namespace holdfast::redis_test {
namespace {

using testing::HasSubstr;

class redis_replicas : public on_redis {
 protected:
  void SetUp() override {
    on_redis::SetUp();
    if (!IsSkipped()) replica.replicate(master);
  }
  client open(const std::string& more = "replicas=1") {
    return client::open(master.url() + quick + '&' + more);
  }

  redis_server master, replica;
};

TEST_F(redis_replicas, a_lock_that_is_granted_is_at_the_replica) {
  const auto c = open();
  for (int i = 0; i < 50; ++i) {
    const auto held = c.mutex("x").acquire();
    EXPECT_TRUE(is_kept(replica)) << i;
  }
}

TEST_F(redis_replicas, every_kind_of_lock_is_granted_and_every_waiter_is_served) {
  const auto c = open(), other = open();
  EXPECT_TRUE(c.shared_mutex("s").acquire_shared());
  EXPECT_TRUE(c.semaphore("p", 2).acquire());
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(other);
  ASSERT_TRUE(eventually_queued(master, 1));
  held.release();
  EXPECT_TRUE(waiter.served());
}

// Only a message tells the waiter before its connection counts as lost, after half an op-timeout.
TEST_F(redis_replicas, a_waiter_is_notified_of_a_release) {
  const auto c = client::open(master.url() + "?replicas=1&op-timeout=60s"),
             other = client::open(master.url() + "?replicas=1&op-timeout=60s");
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(other);
  ASSERT_TRUE(eventually_queued(master, 1));
  const auto released = std::chrono::steady_clock::now();
  held.release();
  EXPECT_TRUE(waiter.served());
  EXPECT_LT(std::chrono::steady_clock::now() - released, 5s);
}

TEST_F(redis_replicas, without_the_replica_one_attempt_fails_and_names_the_lack) {
  const auto c = client::open(master.url() + "?replicas=1&op-timeout=2s");
  replica.stop();
  const told t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, errc::unavailable);
  EXPECT_THAT(t.text, HasSubstr("0 of the 1 replicas"));
  replica.go_on();
  EXPECT_TRUE(c.mutex("x").try_acquire_for(in_bounds));
}

TEST_F(redis_replicas, a_release_waits_for_no_replica) {
  const auto c = client::open(master.url() + "?replicas=1&op-timeout=2s");
  auto held = c.mutex("x").acquire();
  auto shared = c.shared_mutex("s").acquire_shared();
  replica.stop();
  held.release();
  shared.release();
  replica.go_on();
}

TEST_F(redis_replicas, a_waiter_waits_for_the_replica) {
  const auto c = open();
  replica.stop();
  waiting_thread waiter(c);
  EXPECT_FALSE(waiter.is_served());
  replica.go_on();
  EXPECT_TRUE(waiter.served());
  EXPECT_TRUE(is_kept(replica));
}

TEST_F(redis_replicas, a_lease_that_no_replica_renews_ends_with_its_ttl) {
  const auto c = open("replicas=1&ttl=2s");
  const auto held = c.mutex("x").acquire();
  replica.stop();
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  replica.go_on();
}

TEST_F(redis_replicas, two_threads_and_two_clients_exclude_each_other) {
  const std::string url = master.url() + quick + "&replicas=1";
  const contenders all({url, url}, {});
  all.wait_for_plays(300);
}

TEST_F(redis_replicas, a_user_who_may_not_wait_is_refused) {
  master.command({"ACL", "SETUSER", "lock", "on", ">secret", "~*", "&*", "+@all", "-wait"});
  std::string url = master.url();
  url.insert(url.find("//") + 2, "lock:secret@");
  const told t = told_by([&] { (void)client::open(url + quick + "&replicas=1"); });
  EXPECT_EQ(t.code, errc::refused);
  EXPECT_THAT(t.text, HasSubstr("WAIT"));
}

class redis_sentinel_replicas : public on_sentinel {};

// Nothing waits for the copies here: without the option such a lock is lost now and then.
TEST_F(redis_sentinel_replicas, a_lock_survives_the_death_of_the_master_right_after_its_grant) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s, "ttl=10m&replicas=1"), other = open(s, "ttl=10m");
  auto held = mine.mutex("x").acquire();
  s.master().kill_hard();
  redis_server& next = s.wait_until_promoted();
  EXPECT_TRUE(is_kept(next));
  EXPECT_FALSE(other.mutex("x").try_acquire());
  expect_renewable_at(next, held, 20min);
}

TEST_F(redis_sentinel_replicas, a_stopped_master_grants_nothing_that_counts_when_it_goes_on) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s, "ttl=10m&replicas=majority"), other = open(s, "ttl=10m");
  redis_server& old = s.master();
  forbid_demotion(old);
  old.stop();
  waiting_thread waiter(mine);  // its request waits at the stopped server
  s.wait_until_promoted();
  auto held = other.mutex("x").try_acquire_for(in_bounds);
  // One that still follows the old master would confirm what that grants.
  s.wait_until_left(old);
  old.go_on();
  const bool is_taken = held.held();
  EXPECT_TRUE(is_taken ? !waiter.is_served() : waiter.is_served());
  if (is_taken) held.release();
  EXPECT_TRUE(waiter.served());
}

TEST_F(redis_sentinel_replicas, a_replica_that_would_be_preferred_is_named) {
  sentinel_servers s;
  s.server(2).command({"CONFIG", "SET", "replica-priority", "10"});
  const std::string port = std::to_string(s.server(2).port());
  EXPECT_TRUE(eventually([&] {
    const told t = told_by([&] { (void)open(s, "replicas=1"); });
    return t.code == errc::refused && t.text.find(port) != t.text.npos;
  }));
  EXPECT_TRUE(open(s, "replicas=2").mutex("x").try_acquire());
}

}  // namespace
}  // namespace holdfast::redis_test
