// The list of shards changes while its locks are in use.
#include <gmock/gmock.h>

#include <array>

#include "backend/redis/shards/rendezvous.hpp"
#include "fixture.hpp"
#include "testkit/servers/redis_shards.hpp"

namespace holdfast::redis_test {
namespace {

using testing::HasSubstr;

// The shard c is added to a and b. Clients with the former list use the first two servers, and
// those with the present one all three. Between the two there are clients that know both.
class redis_shard_change : public on_redis {
 protected:
  static std::string with(const std::string& list, const std::string& more) {
    return list + "&op-timeout=5s&retry-base=2ms&connect-timeout=2s" + more;
  }
  std::string former(const std::string& more = {}) {
    return with(testkit::shards_url(std::span(servers_).first(2)) + "?names=a,b", more);
  }
  std::string changing(const std::string& more = {}) {
    return with(testkit::shards_url(servers_) + "?names=a,b,c&was=1,1,0", more);
  }
  std::string present(const std::string& more = {}) {
    return with(testkit::shards_url(servers_) + "?names=a,b,c", more);
  }
  static std::size_t former_shard(const std::string& name) {
    const std::vector<redis::weighted_name> all{{"a", 1}, {"b", 1}};
    return redis::shard_of(name, all);
  }
  static std::size_t present_shard(const std::string& name) {
    const std::vector<redis::weighted_name> all{{"a", 1}, {"b", 1}, {"c", 1}};
    return redis::shard_of(name, all);
  }
  static std::string moving_name() {
    for (int i = 0;; ++i)
      if (const std::string name = "lock" + std::to_string(i); present_shard(name) == 2)
        return name;
  }
  static std::string staying_name(std::size_t shard) {
    for (int i = 0;; ++i) {
      const std::string name = "lock" + std::to_string(i);
      if (present_shard(name) == shard && former_shard(name) == shard) return name;
    }
  }
  redis_server& former_server() { return servers_[former_shard(name_)]; }
  redis_server& present_server() { return servers_[2]; }

  const std::string name_ = moving_name();
  std::array<redis_server, 3> servers_;
};

TEST_F(redis_shard_change, a_lock_that_moves_is_held_at_both_shards) {
  const auto c = client::open(changing());
  {
    const auto held = c.mutex(name_).acquire();
    for (redis_server* const s : {&former_server(), &present_server()})
      EXPECT_EQ(s->command({"EXISTS", name_}).number, 1);
  }
  for (redis_server* const s : {&former_server(), &present_server()})
    EXPECT_TRUE(eventually([&] { return s->command({"EXISTS", name_}).number == 0; }));
}

TEST_F(redis_shard_change, clients_of_all_lists_exclude_each_other) {
  const auto old = client::open(former()), both = client::open(changing()),
             other = client::open(changing());
  std::deque<client> all;
  for (const client* const c : {&old, &both, &other}) all.push_back(*c);
  const auto exclude_each_other = [&] {
    for (const client& holder : all) {
      const auto held = holder.mutex(name_).acquire();
      for (const client& c : all)
        if (&c != &holder) {
          EXPECT_FALSE(c.mutex(name_).try_acquire());
        }
    }
  };
  exclude_each_other();
  all.pop_front();
  all.push_back(client::open(present()));
  exclude_each_other();
}

TEST_F(redis_shard_change, later_grants_have_larger_tokens_whatever_the_list) {
  const auto old = client::open(former()), both = client::open(changing());
  for (redis_server* const ahead : {&present_server(), &former_server()}) {
    const auto now = ahead->command({"TIME"});
    const long long half_a_second_ahead =
        std::stoll(now.items.at(0).text) * 1'000'000 + std::stoll(now.items.at(1).text) + 500'000;
    ahead->command({"SET", "holdfast:n", std::to_string(half_a_second_ahead)});
    const auto next = ahead == &present_server() ? old : client::open(present());
    std::int64_t last = 0;
    for (const client* const c : {&both, &next, &both, &both, &next, &both}) {
      const auto held = c->mutex(name_).acquire();
      EXPECT_GT(held.token(), last);
      last = held.token();
    }
  }
}

TEST_F(redis_shard_change, waiters_are_served_across_the_lists) {
  const auto old = client::open(former()), both = client::open(changing()),
             other = client::open(changing()), now = client::open(present());
  const auto serves = [&](const client& holder, const client& waiter, redis_server& at) {
    auto held = holder.mutex(name_).acquire();
    waiting_thread w(waiter, name_);
    EXPECT_TRUE(eventually_queued(at, 1, name_));
    EXPECT_FALSE(w.is_served());
    held.unlock();
    EXPECT_TRUE(w.served());
  };
  serves(old, both, former_server());
  serves(both, old, former_server());
  serves(both, other, former_server());
  serves(now, both, present_server());
  serves(both, now, present_server());
}

TEST_F(redis_shard_change, a_wait_ends_in_time_and_leaves_nothing) {
  const auto both = client::open(changing()), now = client::open(present());
  {
    const auto held = now.mutex(name_).acquire();
    EXPECT_FALSE(both.mutex(name_).try_acquire_for(50ms));
    EXPECT_TRUE(eventually([&] { return former_server().command({"EXISTS", name_}).number == 0; }));
  }
  EXPECT_TRUE(both.mutex(name_).try_acquire_for(in_bounds));
}

TEST_F(redis_shard_change, a_lock_that_moves_is_busy_while_a_third_shard_is_down) {
  const auto c = client::open(changing());
  const auto held = client::open(present()).mutex(name_).acquire();
  const std::size_t third = 1 - former_shard(name_);
  servers_[third].kill_hard();
  std::error_code ec;
  EXPECT_FALSE(c.mutex(staying_name(third)).try_acquire({}, ec));
  EXPECT_EQ(ec, errc::unavailable);
  EXPECT_FALSE(c.mutex(name_).try_acquire_for(50ms, {}, ec));
  EXPECT_FALSE(ec) << ec.message();
}

TEST_F(redis_shard_change, a_lease_is_lost_while_one_of_its_shards_does_not_answer) {
  for (redis_server* const silent : {&former_server(), &present_server()}) {
    const auto c = client::open(changing("&ttl=1s"));
    const auto held = c.mutex(name_).acquire();
    silent->stop();
    EXPECT_TRUE(eventually([&] { return !held.held(); }));
    silent->go_on();
  }
}

TEST_F(redis_shard_change, a_lease_is_renewed_at_both_shards) {
  const auto c = client::open(changing("&ttl=3s"));
  const auto held = c.mutex(name_).acquire();
  for (redis_server* const s : {&former_server(), &present_server()}) {
    s->command({"CONFIG", "RESETSTAT"});
    EXPECT_TRUE(eventually([&] {
      return s->command({"INFO", "commandstats"}).text.find("cmdstat_evalsha") != std::string::npos;
    }));
  }
  EXPECT_TRUE(held.held() || held.status() == errc::lost);  // a stopped machine may lose it
}

TEST_F(redis_shard_change, readers_and_permits_are_counted_at_both_shards) {
  const auto old = client::open(former()), both = client::open(changing()),
             now = client::open(present());
  {
    const auto reader = both.shared_mutex(name_).acquire_shared();
    EXPECT_FALSE(old.shared_mutex(name_).try_acquire());
    EXPECT_FALSE(now.shared_mutex(name_).try_acquire());
    EXPECT_TRUE(both.shared_mutex(name_).try_acquire_shared());
    EXPECT_TRUE(old.shared_mutex(name_).try_acquire_shared());
  }
  for (redis_server& s : servers_)
    EXPECT_TRUE(eventually([&] { return s.command({"EXISTS", name_}).number == 0; }));
  const auto first = both.semaphore(name_, 2).acquire(), second = old.semaphore(name_, 2).acquire();
  EXPECT_FALSE(both.semaphore(name_, 2).try_acquire());
}

TEST_F(redis_shard_change, a_lock_is_shown_once_and_broken_at_either_shard) {
  const auto c = client::open(changing("&ttl=5s")), old = client::open(former("&ttl=5s")),
             now = client::open(present("&ttl=5s"));
  for (const client* const shown_by : {&c, &old, &now}) {
    auto held = c.mutex(name_).acquire();
    const auto seen = shown_by->holders(name_);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_TRUE(shown_by->break_lock(name_, seen.front().owner));
    EXPECT_TRUE(eventually([&] { return c.holders(name_).empty(); }));
    EXPECT_TRUE(eventually([&] { return !held.held(); }));
  }
  const auto held = old.mutex(name_).acquire();
  waiting_thread waiter(c, name_);
  EXPECT_TRUE(eventually([&] {
    const auto all = c.list(name_);
    return all.size() == 1 && all.front().waiting == 1;
  }));
}

TEST_F(redis_shard_change, a_client_with_another_list_is_refused) {
  const auto c = client::open(former());
  const told t = told_by([&] { (void)client::open(present()); });
  EXPECT_EQ(t.code, errc::bad_option);
  EXPECT_THAT(t.text, HasSubstr("another list of shards, a=1,b=1; this client has a=1,b=1,c=1"));
  EXPECT_THAT(t.text, HasSubstr("delete the key holdfast:shards"));
  EXPECT_NO_THROW((void)client::open(former("&prefix=other:")));
  EXPECT_NO_THROW((void)client::open(present("&prefix=another:")));
}

TEST_F(redis_shard_change, a_change_leads_from_one_list_to_the_other) {
  (void)client::open(former());
  (void)client::open(changing());
  EXPECT_NO_THROW((void)client::open(former()));
  (void)client::open(present());
  EXPECT_EQ(told_by([&] { (void)client::open(former()); }).code, errc::bad_option);
  EXPECT_NO_THROW((void)client::open(changing()));
}

TEST_F(redis_shard_change, a_shard_is_removed_in_the_same_way) {
  const auto both = client::open(
      with(testkit::shards_url(servers_) + "?names=a,b,c&weights=1,1,0&was=1,1,1", {}));
  const auto old = client::open(present());
  const auto held = both.mutex(name_).acquire();
  EXPECT_FALSE(old.mutex(name_).try_acquire());
  EXPECT_EQ(former_server().command({"EXISTS", name_}).number, 1);
}

TEST_F(redis_shard_change, contenders_with_different_lists_exclude_each_other) {
  const std::string all_move =
      with(testkit::shards_url(servers_) + "?names=a,b,c&weights=0,0,1&was=1,1,0", "&ttl=20s");
  contenders all({former("&ttl=20s"), all_move, all_move}, {});
  all.wait_for_plays(150);
}

TEST_F(redis_shard_change, a_user_without_rights_to_the_list_opens_with_a_warning) {
  for (redis_server& s : servers_)
    s.command({"ACL", "SETUSER", "narrow", "on", ">secret", "+@all", "~lock*", "~holdfast:n",
               "~holdfast:{*", "&*"});
  std::string log;
  std::string url = present();
  url.insert(url.find("//") + 2, "narrow:secret@");
  { const auto c = client::open(url, logging_to(log)); }
  EXPECT_THAT(log, HasSubstr("whether other clients have the same list of shards is unknown"));
}

TEST_F(redis_shard_change, mistakes_in_the_former_list_are_named) {
  const std::string three = testkit::shards_url(servers_) + "?names=a,b,c";
  const std::pair<std::string, std::string> cases[] = {
      {"&was=1,1", "was: give one for each of the 3 shards"},
      {"&weights=1,1,0&was=1,1,0", "the shard c has the weight 0 in both lists"},
      {"&weights=0,0,0&was=1,1,1", "all shards of a list have the weight 0"},
      {"&was=1,1,x", "was"},
      {"&was=1,1,0&layout=redisson", "cannot change while locks of this layout are in use"},
  };
  for (const auto& [more, error] : cases) {
    const told t = told_by([&, url = three + more] { (void)client::open(url); });
    EXPECT_TRUE(t.code == errc::bad_url || t.code == errc::bad_option) << more << t.text;
    EXPECT_THAT(t.text, HasSubstr(error)) << more;
  }
}

}  // namespace
}  // namespace holdfast::redis_test
