// Locks in a Redis Cluster.
#include <gmock/gmock.h>

#include <deque>

#include "cluster_fixture.hpp"

namespace holdfast::redis_test {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

class redis_cluster : public on_cluster {};

TEST_F(redis_cluster, one_client_holds_a_lock_and_a_waiter_is_served_at_each_master) {
  cluster_servers c(masters_only);
  const auto mine = open(c), other = open(c);
  for (std::size_t i = 0; i < c.server_count(); ++i) {
    const std::string name = name_at(c, i);
    auto held = mine.mutex(name).acquire();
    EXPECT_TRUE(is_kept(c.server(i), name));
    EXPECT_FALSE(other.mutex(name).try_acquire());
    const auto token = held.token();
    auto next = next_lease(other, name);
    EXPECT_TRUE(eventually_queued(c.server(i), 1, name));
    held.unlock();
    EXPECT_GT(next.get().token(), token);
  }
}

TEST_F(redis_cluster, the_figures_show_that_one_master_is_out_of_reach) {
  cluster_servers c(masters_only);
  const auto mine = open(c);
  const std::string name = name_at(c, 1);
  EXPECT_TRUE(mine.mutex(name).try_acquire());
  EXPECT_TRUE(mine.metrics().connected);
  c.server(1).kill_hard();
  auto next = next_lease(mine, name);  // a client that sends nothing may not notice
  EXPECT_TRUE(eventually([&] { return !mine.metrics().connected; }));
  EXPECT_EQ(mine.metrics().reconnects, 0u);
  c.server(1).start();
  EXPECT_TRUE(next.get());
  EXPECT_TRUE(eventually([&] { return mine.metrics().connected; }));
  EXPECT_EQ(mine.metrics().reconnects, 1u);
}

TEST_F(redis_cluster, the_names_are_spread_over_all_masters) {
  cluster_servers c(masters_only);
  const auto mine = open(c), other = open(c);
  std::vector<lease> held;
  std::vector<int> counts(c.server_count());
  for (int i = 0; i < 60; ++i) {
    const std::string name = "lock" + std::to_string(i);
    held.push_back(mine.mutex(name).acquire());
    EXPECT_FALSE(other.mutex(name).try_acquire());
    const std::size_t master = master_of(c, name);
    EXPECT_TRUE(is_kept(c.server(master), name)) << name;
    ++counts[master];
  }
  for (const int count : counts) EXPECT_GE(count, 8);
}

// With layout string: the lock, its side keys, and one counter for all locks of the slot.
TEST_F(redis_cluster, all_keys_of_a_lock_are_in_its_slot) {
  cluster_servers c(masters_only);
  const auto mine = open(c), other = open(c);
  for (const auto& [name, tag] : {std::pair<std::string, std::string>{"job", "job"},
                                  {"order {7} of a day", "7"},
                                  {"{job}", "job"},
                                  {"{{a}}", "{a"},
                                  {"{b", "{b"}}) {
    const int slot = c.slot_of(name);
    const std::size_t master = c.master_of_slot(slot);
    const std::string side = joined({"holdfast:{", tag, "}:", name});
    {
      auto held = mine.mutex(name).acquire({.note = "the night's run"});
      waiting_thread waiter(other, name);
      EXPECT_TRUE(eventually([&] {
        return c.server(master).command({"ZCARD", side + ":q"}).number == 1;
      }));
      // The first renewal stores the note.
      EXPECT_TRUE(eventually([&] {
        return c.server(master).command({"EXISTS", side + ":m"}).number == 1;
      }));
      const auto keys = c.keys_of_slot(slot, master);
      EXPECT_THAT(keys, Contains(name));
      EXPECT_THAT(keys, Contains(side + ":q"));
      EXPECT_THAT(keys, Contains(side + ":m"));
      EXPECT_EQ(std::ranges::count_if(keys,
                                      [](const std::string& key) {
                                        return key.starts_with("holdfast:{") &&
                                               key.ends_with("}:n");
                                      }),
                1)
          << name;
      std::size_t count = 0;
      for (std::size_t i = 0; i < c.server_count(); ++i)
        for (const std::string& key : keys_at(c.server(i)))
          if (!key.ends_with("}:n")) count += c.slot_of(key) == slot;
      EXPECT_EQ(count, keys.size() - 1) << name;
      held.unlock();
      waiter.served().release();
    }
    const auto reads = mine.shared_mutex(name + "s").acquire_shared();
    const auto permits = mine.semaphore(name + "p", 4).acquire({.permits = 2});
    for (const std::string& each : {name + "s", name + "p"})
      EXPECT_THAT(c.keys_of_slot(c.slot_of(each), master_of(c, each)), Contains(each));
  }
  for (std::size_t i = 0; i < c.server_count(); ++i)
    EXPECT_THAT(keys_at(c.server(i)), Not(Contains("holdfast:n")));
}

TEST_F(redis_cluster, two_clients_exclude_each_other_in_every_layout) {
  cluster_servers c(masters_only);
  for (const std::string layout : layouts_of_a_cluster) {
    const auto mine = open(c, "layout=" + layout), other = open(c, "layout=" + layout);
    for (std::size_t i = 0; i < c.server_count(); ++i) {
      const std::string name = name_at(c, i) + '.' + layout;
      auto held = mine.mutex(name).acquire();
      EXPECT_FALSE(other.mutex(name).try_acquire()) << name;
      auto next = next_lease(other, name);
      held.release();
      held = next.get();
      EXPECT_FALSE(mine.mutex(name).try_acquire()) << name;
      expect_held(held);
    }
  }
}

TEST_F(redis_cluster, readers_and_writers_exclude_each_other) {
  cluster_servers c(masters_only);
  for (const std::string layout : {"string", "redisson"}) {
    const auto mine = open(c, "layout=" + layout), other = open(c, "layout=" + layout);
    for (const std::string& at : names_at_each(c)) {
      const std::string name = joined({at, ".rw.", layout});
      auto reads = mine.shared_mutex(name).acquire_shared();
      EXPECT_TRUE(other.shared_mutex(name).try_acquire_shared()) << name;
      EXPECT_FALSE(other.shared_mutex(name).try_acquire()) << name;
      reads.release();
      const auto writes = other.shared_mutex(name).try_acquire_for(in_bounds);
      EXPECT_TRUE(writes) << name;
      EXPECT_FALSE(mine.shared_mutex(name).try_acquire_shared()) << name;
    }
  }
}

TEST_F(redis_cluster, a_semaphore_grants_no_more_than_its_permits) {
  cluster_servers c(masters_only);
  for (const std::string layout : {"string", "redisson"}) {
    const auto mine = open(c, "layout=" + layout), other = open(c, "layout=" + layout);
    for (const std::string& at : names_at_each(c)) {
      const std::string name = joined({at, ".permits.", layout});
      auto two = mine.semaphore(name, 3).acquire({.permits = 2});
      const auto one = other.semaphore(name, 3).acquire();
      EXPECT_FALSE(other.semaphore(name, 3).try_acquire()) << name;
      two.release();
      EXPECT_TRUE(other.semaphore(name, 3).try_acquire_for(in_bounds, {.permits = 2})) << name;
    }
  }
}

// Their side keys can be in no slot that the key of the lock is in.
TEST_F(redis_cluster, names_without_a_usable_tag_are_refused) {
  cluster_servers c(masters_only);
  for (const std::string layout : {"string", "redisson"}) {
    const auto mine = open(c, "layout=" + layout);
    for (const char* name : {"a}b", "}", "{}a", "{}"}) {
      const told t = told_by([&] { (void)mine.mutex(name).try_acquire(); });
      EXPECT_EQ(t.code, errc::bad_name) << layout << ' ' << name << ": " << t.text;
    }
  }
  const auto mine = open(c);
  for (const char* name : {"{", "{a", "a{b}c", "{a}{b}", "a{b}c}d"})
    EXPECT_TRUE(mine.mutex(name).try_acquire()) << name;
}

TEST_F(redis_cluster, tokens_grow_from_client_to_client_and_from_name_to_name_of_a_slot) {
  cluster_servers c(masters_only);
  const auto mine = open(c), other = open(c);
  for (const std::string& tag : names_at_each(c)) {
    std::int64_t last = 0;
    for (int i = 0; i < 5; ++i)
      for (const client& each : {mine, other}) {
        const auto token = token_of_next(each, '{' + tag + "}:" + std::to_string(i));
        EXPECT_GT(token, last);
        last = token;
      }
  }
}

TEST_F(redis_cluster, several_locks_of_several_masters_are_acquired_together) {
  cluster_servers c(masters_only);
  for (const std::string layout : layouts_of_a_cluster) {
    const auto mine = open(c, "layout=" + layout), other = open(c, "layout=" + layout);
    std::vector<std::string> names;
    for (const std::string& name : names_at_each(c)) names.push_back(joined({name, ".", layout}));
    auto x = mine.mutex(names[0]), y = mine.mutex(names[1]), z = mine.mutex(names[2]);
    multi_mutex all{x, y, z};
    all.lock();
    for (const std::string& name : names) EXPECT_FALSE(other.mutex(name).try_acquire()) << name;
    all.unlock();
    for (const std::string& name : names) EXPECT_EQ(next_lease(other, name).get().name(), name);
    const auto busy = next_lease(other, names[1]).get();
    EXPECT_FALSE(all.try_lock());
    for (const std::size_t i : {0, 2}) EXPECT_TRUE(next_lease(other, names[i]).get()) << names[i];
  }
}

TEST_F(redis_cluster, several_locks_of_one_slot_are_acquired_together) {
  cluster_servers c(masters_only);
  const auto mine = open(c), other = open(c);
  for (const std::string& tag : names_at_each(c)) {
    const std::vector<std::string> names{'{' + tag + "}:a", '{' + tag + "}:b",
                                         "c of {" + tag + '}'};
    auto all = mine.acquire_all({names[0], names[1], names[2]});
    for (const std::string& name : names) {
      EXPECT_EQ(c.slot_of(name), c.slot_of(tag));
      EXPECT_FALSE(other.mutex(name).try_acquire()) << name;
    }
    EXPECT_FALSE(other.try_acquire_all({names[0], "another of {" + tag + '}'}));
    all.release();
    EXPECT_TRUE(other.try_acquire_all_for({names[2], names[1], names[0]}, in_bounds));
  }
}

TEST_F(redis_cluster, a_list_shows_the_locks_of_all_masters_and_a_break_reaches_each) {
  cluster_servers c(masters_only);
  for (const std::string layout : layouts_of_a_cluster) {
    const auto mine = open(c, "ttl=5s&layout=" + layout), other = open(c, "layout=" + layout);
    std::vector<lease> held;
    std::vector<std::string> names;
    for (const std::string& name : names_at_each(c)) {
      names.push_back(joined({layout, ".", name}));
      held.push_back(mine.mutex(names.back()).acquire());
    }
    std::ranges::sort(names);
    const auto others = mine.mutex("other").acquire();
    // Layout string shows a holder once its first renewal has arrived.
    EXPECT_TRUE(eventually([&] { return other.list().size() == names.size() + 1; })) << layout;
    std::vector<std::string> listed;
    for (const holder& h : other.list(layout + '.')) listed.push_back(h.name);
    EXPECT_THAT(listed, ElementsAreArray(names)) << layout;
    for (const std::string& name : names) {
      const auto seen = other.holders(name);
      ASSERT_EQ(seen.size(), 1U) << name;
      EXPECT_FALSE(other.break_lock(name, "another owner")) << name;
      EXPECT_TRUE(other.break_lock(name, seen.front().owner)) << name;
      EXPECT_FALSE(other.is_held(name)) << name;
    }
    for (const lease& l : held)
      EXPECT_TRUE(eventually([&] { return l.loss_token().stop_requested(); })) << layout;
  }
}

TEST_F(redis_cluster, a_diagnosis_reports_the_settings_of_each_master) {
  cluster_servers c(masters_only);
  const auto mine = open(c);
  EXPECT_FALSE(mine.diagnose().empty());
  c.server(1).command({"CONFIG", "SET", "maxmemory", "100mb"});
  c.server(1).command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  std::string all;
  for (const finding& f : open(c).diagnose())
    if (f.grade != finding_grade::good) all += f.what + ": " + f.why + '\n';
  EXPECT_THAT(all, HasSubstr("allkeys-lru"));
  EXPECT_THAT(all, HasSubstr(std::to_string(c.server(1).port())));
}

TEST_F(redis_cluster, a_guarded_value_is_written_at_the_master_of_its_key) {
  cluster_servers c(masters_only);
  const auto mine = open(c);
  auto held = mine.mutex("x").acquire();
  for (std::size_t i = 0; i < c.server_count(); ++i) {
    const std::string key = name_at(c, i);
    redis_guard guard(mine, key);
    EXPECT_TRUE(guard.write(held, "7"));
    EXPECT_FALSE(guard.write(held.token() - 1, held.owner(), "8"));
    EXPECT_EQ(c.server(i).command({"GET", key}).text, "7");
  }
}

TEST_F(redis_cluster, close_reports_that_nothing_is_left_at_any_master) {
  cluster_servers c(masters_only);
  auto mine = open(c);
  std::vector<lease> held;
  for (const std::string& name : names_at_each(c)) held.push_back(mine.mutex(name).acquire());
  EXPECT_TRUE(mine.close());
  for (std::size_t i = 0; i < c.server_count(); ++i)
    for (const std::string& key : keys_at(c.server(i))) EXPECT_THAT(key, testing::EndsWith("}:n"));
}

// The nodes do not require that all slots are served.
TEST_F(redis_cluster, a_master_that_is_down_concerns_its_own_locks_only) {
  cluster_servers c({.replicas = 0, .full_coverage = false});
  const auto mine = client::open(c.url() + quick), other = client::open(c.url() + quick);
  const auto names = names_at_each(c);
  auto kept = mine.mutex(names[1]).acquire();
  token_of_next(mine, names[0]);
  c.server(0).kill_hard();
  const told t = told_by([&] { (void)mine.mutex(names[0]).try_acquire_for(300ms); });
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(other.mutex(names[1]).try_acquire());
    kept.release();
    kept = mine.mutex(names[1]).acquire();
    token_of_next(other, names[2]);
  }
  c.server(0).start();
  EXPECT_TRUE(eventually([&] {
    std::error_code ec;
    return mine.mutex(names[0]).try_acquire_for(5s, {}, {}, ec).held();
  }));
  expect_held(kept);
}

// An administrator empties it.
TEST_F(redis_cluster, a_master_that_is_emptied_loses_its_own_locks_only) {
  cluster_servers c(masters_only);
  const auto mine = open(c, "ttl=10s"), other = open(c);
  const auto names = names_at_each(c);
  std::vector<lease> held;
  for (const std::string& name : names) held.push_back(mine.mutex(name).acquire());
  waiting_thread waiter(other, names[0]);
  EXPECT_TRUE(eventually_queued(c.server(0), 1, names[0]));
  c.server(0).command({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return held[0].loss_token().stop_requested(); }));
  EXPECT_FALSE(held[0].held());
  EXPECT_GT(waiter.served().token(), held[0].token());
  for (const std::size_t i : {1, 2}) {
    expect_held(held[i]);
    EXPECT_FALSE(other.mutex(names[i]).try_acquire()) << names[i];
  }
}

TEST_F(redis_cluster, contenders_exclude_each_other_while_connections_are_cut) {
  cluster_servers c(masters_only);
  const std::string url = c.url() + quick + "&ttl=20s";
  const contenders all({url, url}, {});
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < c.server_count(); ++i) {
      all.wait_for_plays(30);
      for (const char* type : {"normal", "pubsub"})
        c.server(i).command({"CLIENT", "KILL", "TYPE", type});
    }
  all.wait_for_plays(30);
}

// Over a link of its own to each master, which loses replies, and is silent for a while.
TEST_F(redis_cluster, contenders_exclude_each_other_while_links_break) {
  cluster_servers c(masters_only);
  std::deque<tcp_proxy> links;
  std::string map;
  for (std::size_t i = 0; i < c.server_count(); ++i) {
    const std::string told = "127.0.0.1:" + std::to_string(c.server(i).port());
    links.emplace_back(c.server(i).port());
    map += (i == 0 ? "" : ",") + told + "=127.0.0.1:" + std::to_string(links.back().port());
  }
  const std::string url = c.url() + "?op-timeout=1s&retry-base=2ms&ttl=20s&map=" + map;
  const contenders all({url, url}, {});
  for (int round = 0; round < 5; ++round)
    for (tcp_proxy& link : links) {
      all.wait_for_plays(15);
      for (const direction d : {direction::to_client, direction::to_server})
        link.cut_after(d, static_cast<std::uint64_t>(round) * 37);
    }
  const auto probe = client::open(url);
  for (std::size_t i = 0; i < links.size(); ++i) {
    all.wait_for_plays(15);
    links[i].set(direction::to_client, {.swallow = true});
    const told t = told_by([&] { (void)probe.mutex(name_at(c, i)).try_acquire(); });
    EXPECT_EQ(t.code, outcome::unavailable) << t.text;
    links[i].set(direction::to_client, {});
  }
  all.wait_for_plays(30);
}

// Redisson's locks have the same channels.
TEST_F(redis_cluster, locks_of_redisson_have_the_channels_of_their_shard) {
  if (!testkit::tested_redis().is_at_least(7, 0))
    GTEST_SKIP() << "skipped: this server has no sharded channels";
  cluster_servers c(masters_only);
  const std::string layout = "ttl=10m&layout=redisson", channel = "redisson_lock__channel:{x}";
  const auto mine = open(c, layout), other = open(c, layout);
  redis_server& server = c.server(master_of(c, "x"));
  auto link = server.link();
  link.command({"SSUBSCRIBE", channel});
  mine.mutex("x").acquire().release();
  const auto message = link.receive();
  EXPECT_EQ(to_text(message), "[smessage, " + channel + ", 0]");
  const auto held = mine.mutex("x").acquire();
  auto next = next_lease(other);
  EXPECT_TRUE(eventually([&] {
    const auto counts = server.command({"PUBSUB", "SHARDNUMSUB", channel});
    return counts.items.size() == 2 && counts.items[1].number == 2;
  }));
  server.command({"DEL", "x"});
  EXPECT_EQ(server.command({"SPUBLISH", channel, "0"}).number, 2);
  EXPECT_TRUE(next.get());
}

TEST_F(redis_cluster, clients_without_the_right_to_sharded_channels_notify_each_other) {
  if (!testkit::tested_redis().is_at_least(7, 0))
    GTEST_SKIP() << "skipped: this server has no sharded channels";
  cluster_options options = masters_only;
  options.servers.acl = "lock on >secret ~* &* +@all -spublish -ssubscribe -sunsubscribe";
  cluster_servers c(options);
  const std::string url = c.url("lock:secret@") + "?op-timeout=20s&ttl=10m&layout=redisson";
  const auto mine = client::open(url), other = client::open(url);
  const std::string channel = "redisson_lock__channel:{x}";
  redis_server& server = c.server(master_of(c, "x"));
  auto held = mine.mutex("x").acquire();
  auto next = next_lease(other);
  EXPECT_TRUE(eventually([&] {
    const auto counts = server.command({"PUBSUB", "NUMSUB", channel});
    return counts.items.size() == 2 && counts.items[1].number == 1;
  }));
  auto link = server.link();
  link.command({"SUBSCRIBE", channel});
  held.release();
  EXPECT_EQ(to_text(link.receive()), "[message, " + channel + ", 0]");
  EXPECT_TRUE(next.get());
}

TEST_F(redis_cluster, locks_are_held_over_tls) {
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  cluster_servers c({.replicas = 0, .tls = true});
  const auto ca = "tls-ca=" + c.tls_files().certificate("ca");
  const auto mine = open(c, ca), other = open(c, ca);
  for (const std::string& name : names_at_each(c)) {
    auto held = mine.mutex(name).acquire();
    EXPECT_FALSE(other.mutex(name).try_acquire());
    held.unlock();
    token_of_next(other, name);
  }
  const told t = told_by([&] { (void)client::open(c.url() + "?op-timeout=20s"); });
  EXPECT_EQ(t.code, errc::refused) << t.text;
}

}  // namespace
}  // namespace holdfast::redis_test
