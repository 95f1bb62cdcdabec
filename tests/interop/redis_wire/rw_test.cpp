// Layout `redisson-rw` on a real server, against commands sent by hand: what it writes is what
// Redisson writes, and what Redisson would write is honoured.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;

const std::string thread_of_java = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
const std::string rw_channel_x = "redisson_rwlock:{x}";

struct redisson_rw_by_hand : testing::Test {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    server.emplace();
    c = open();
  }
  client open(const std::string& options = {}) {
    return client::open(server->url() + "?layout=redisson-rw" + options);
  }
  std::string hold(const std::string& owner, int n = 1) {
    return "{x}:" + owner + ":rwlock_timeout:" + std::to_string(n);
  }
  // The fields of a hash by their names, also where `ours` stands for an owner.
  static std::string in_order(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words(std::istream_iterator<std::string>(in), {});
    if (line.starts_with("x hash")) std::sort(words.begin() + 2, words.end() - 1);
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
  }
  // Of everything but the counter, with `ours` in place of the owner that is in the hash.
  std::string contents() {
    names owners{{thread_of_java, "java"}};
    std::error_code of_another_type;
    for (const holder& h : c.holders("x", of_another_type)) {
      if (h.owner.starts_with(thread_of_java)) continue;
      owners.push_back({h.owner.substr(0, h.owner.find(":write")), "ours"});
    }
    std::istringstream lines(redisson_test::contents(*server, owners));
    std::string out;
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("redisson_lock_token:")) out += in_order(line) + '\n';
    return out;
  }
  void read_by_java(const std::string& ms, int holds = 1) {
    server->command({"HSET", "x", "mode", "read", thread_of_java, std::to_string(holds)});
    for (int n = 1; n <= holds; ++n)
      server->command({"SET", hold(thread_of_java, n), "1", "PX", ms});
    server->command({"PEXPIRE", "x", "600000"});
  }
  void written_by_java(const std::string& ms) {
    server->command({"HSET", "x", "mode", "write", thread_of_java + ":write", "1"});
    server->command({"PEXPIRE", "x", ms});
  }
  bool somebody_listens() {
    return eventually([&] { return is_subscribed(*server, rw_channel_x); });
  }

  std::optional<redis_server> server;
  client c;
};

TEST_F(redisson_rw_by_hand, a_writer_is_a_field_of_its_own) {
  message_log messages(*server);
  lease held = c.shared_mutex("x").acquire();
  EXPECT_EQ(contents(), "x hash mode=write ours:write=1 ttl\n");
  EXPECT_GT(ttl_of(*server, "x"), 20'000);
  EXPECT_LE(ttl_of(*server, "x"), 30'000);
  held.release();
  EXPECT_EQ(contents(), "");
  EXPECT_EQ(messages.heard(), rw_channel_x + " 1\n");
  EXPECT_EQ(ttl_of(*server, "redisson_lock_token:{x}"), -1);
}

TEST_F(redisson_rw_by_hand, a_reader_is_a_field_and_a_key_of_its_hold) {
  message_log messages(*server);
  read_by_java("60000", 2);
  lease held = c.shared_mutex("x").acquire_shared();
  EXPECT_EQ(contents(),
            "x hash java=2 mode=read ours=1 ttl\n{x}:java:rwlock_timeout:1 string 1 ttl\n"
            "{x}:java:rwlock_timeout:2 string 1 ttl\n{x}:ours:rwlock_timeout:1 string 1 ttl\n");
  held.release();
  EXPECT_EQ(contents(), "x hash java=2 mode=read ttl\n{x}:java:rwlock_timeout:1 string 1 ttl\n"
                        "{x}:java:rwlock_timeout:2 string 1 ttl\n");
  EXPECT_EQ(messages.heard(), "");
  server->command({"DEL", "x", hold(thread_of_java), hold(thread_of_java, 2)});
  c.shared_mutex("x").acquire_shared().release();
  EXPECT_EQ(messages.heard(), rw_channel_x + " 0\n");
  EXPECT_EQ(contents(), "");
}

TEST_F(redisson_rw_by_hand, a_name_with_braces_gets_no_more_of_them) {
  message_log messages(*server);
  lease held = c.shared_mutex("{t}:a").acquire_shared();
  const auto found = c.holders("{t}:a");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(ttl_of(*server, "{t}:a:" + found[0].owner + ":rwlock_timeout:1"), 0);
  EXPECT_EQ(ttl_of(*server, "redisson_lock_token:{t}:a"), -1);
  held.release();
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{t}:a 0\n");
}

TEST_F(redisson_rw_by_hand, no_latch_is_ever_written) {
  server->command({"CONFIG", "SET", "notify-keyspace-events", "E$g"});
  message_log events(*server);
  c.shared_mutex("x").acquire().release();
  c.shared_mutex("x").acquire_shared().release();
  const std::string all = events.heard();
  EXPECT_NE(all.find("__keyevent@0__:del x\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("latch"), std::string::npos) << all;
}

TEST_F(redisson_rw_by_hand, foreign_readers_and_writers_are_honoured) {
  const shared_mutex m(c, "x");
  written_by_java("60000");
  EXPECT_FALSE(m.try_acquire());
  EXPECT_FALSE(m.try_acquire_shared());
  server->command({"DEL", "x"});
  read_by_java("60000");
  EXPECT_FALSE(m.try_acquire());
  EXPECT_TRUE(m.try_acquire_shared());
  EXPECT_EQ(contents(), "x hash java=1 mode=read ttl\n{x}:java:rwlock_timeout:1 string 1 ttl\n");
}

TEST_F(redisson_rw_by_hand, a_foreign_release_wakes_who_waits) {
  written_by_java("600000");
  std::jthread reader([&] { EXPECT_TRUE(c.shared_mutex("x").acquire_shared().held()); });
  ASSERT_TRUE(somebody_listens());
  server->command({"DEL", "x"});
  server->command({"PUBLISH", rw_channel_x, "1"});
  reader.join();
  read_by_java("600000");
  std::jthread writer([&] { EXPECT_TRUE(c.shared_mutex("x").acquire().held()); });
  ASSERT_TRUE(somebody_listens());
  server->command({"DEL", "x"});
  server->command({"PUBLISH", rw_channel_x, "0"});
}

TEST_F(redisson_rw_by_hand, a_dead_reader_of_either_keeps_a_writer_out_for_its_own_lease) {
  read_by_java("300");  // its hash has ten minutes left
  EXPECT_TRUE(c.shared_mutex("x").acquire().held());
  {
    const client crashed = open();
    const lease left = crashed.shared_mutex("x").acquire_shared({.ttl = 6s});
    // As if it had crashed: its renewals find nothing.
    const std::string owner = c.holders("x").at(0).owner;
    server->command({"PEXPIRE", hold(owner), "200"});
    server->command({"PERSIST", "x"});
    server->command({"HSET", "x", thread_of_java, "1"});
    server->command({"SET", hold(thread_of_java), "1", "PX", "400"});
  }
  EXPECT_TRUE(c.shared_mutex("x").acquire().held());
}

TEST_F(redisson_rw_by_hand, fifty_readers_outlive_their_ttl_and_keep_no_dead_one) {
  std::vector<client> clients;
  std::vector<lease> shares;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(open("&ttl=9s"));
    shares.push_back(clients.back().shared_mutex("x").acquire_shared());
    EXPECT_EQ(shares.back().token(), shares.front().token());
  }
  server->command({"HSET", "x", thread_of_java, "1"});
  server->command({"SET", hold(thread_of_java), "1", "PX", "3000"});
  const auto end = shares.back().expires();
  EXPECT_TRUE(eventually([&] { return lease_clock::now() > end; }));
  for (const lease& share : shares) EXPECT_TRUE(share.held());
  EXPECT_TRUE(eventually([&] { return ttl_of(*server, hold(thread_of_java)) == -2; }));
  EXPECT_FALSE(c.shared_mutex("x").try_acquire());
  EXPECT_EQ(server->command({"HLEN", "x"}).number, 51) << "the dead one is gone";
  shares.clear();
  EXPECT_TRUE(c.shared_mutex("x").acquire().held());
}

TEST_F(redisson_rw_by_hand, twenty_readers_that_wait_enter_at_a_downgrade_and_after_a_release) {
  for (const bool downgrades : {true, false}) {
    lease writer = c.shared_mutex("x").acquire();
    std::vector<client> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(open());
    std::atomic<int> inside{0};
    std::vector<std::jthread> readers;
    for (const client& each : clients)
      readers.emplace_back([&] {
        const lease share = each.shared_mutex("x").acquire_shared();
        ++inside;
        EXPECT_TRUE(eventually([&] { return inside == 20; })) << "not all at once";
      });
    ASSERT_TRUE(eventually([&] {
      const auto reply = server->command({"PUBSUB", "NUMSUB", rw_channel_x});
      return reply.items.size() == 2 && reply.items[1].number == 20;
    }));
    if (downgrades) {
      writer = c.shared_mutex("x").downgrade(std::move(writer));
    } else {
      writer.release();
    }
    readers.clear();
    EXPECT_EQ(inside, 20);
  }
}

TEST_F(redisson_rw_by_hand, a_downgrade_publishes_and_its_hold_is_a_readers) {
  const client brief = open("&ttl=6s");
  const shared_mutex m(brief, "x");
  lease held = m.acquire();
  message_log messages(*server);
  held = m.downgrade(std::move(held));
  EXPECT_TRUE(eventually([&] {
    return contents() == "x hash mode=read ours=1 ttl\n{x}:ours:rwlock_timeout:1 string 1 ttl\n";
  })) << contents();
  EXPECT_EQ(messages.heard(), rw_channel_x + " 1\n");
  const auto first_end = held.expires();
  EXPECT_TRUE(eventually([&] { return lease_clock::now() > first_end; }));
  EXPECT_TRUE(held.held()) << "it is renewed";
  EXPECT_FALSE(c.shared_mutex("x").try_acquire());
  held.release();
  EXPECT_EQ(contents(), "");
  EXPECT_EQ(messages.heard(), rw_channel_x + " 0\n");
}

TEST_F(redisson_rw_by_hand, a_break_frees_the_side_that_was_seen) {
  written_by_java("60000");
  read_by_java("60000");
  server->command({"HSET", "x", "mode", "write"});
  EXPECT_EQ(c.holders("x").size(), 2u);
  message_log messages(*server);
  EXPECT_TRUE(c.break_lock("x", thread_of_java + ":write"));
  EXPECT_EQ(contents(), "x hash java=1 mode=read ttl\n{x}:java:rwlock_timeout:1 string 1 ttl\n");
  EXPECT_EQ(messages.heard(), rw_channel_x + " 1\n");
  EXPECT_FALSE(c.break_lock("x", thread_of_java + ":write"));
  EXPECT_TRUE(c.break_lock("x", thread_of_java));
  EXPECT_EQ(contents(), "");
}

TEST_F(redisson_rw_by_hand, a_restart_without_data_is_a_loss_on_both_sides) {
  const client brief = open("&ttl=600ms");
  lease share = brief.shared_mutex("x").acquire_shared();
  lease writer = brief.shared_mutex("y").acquire();
  const std::int64_t last = writer.token();
  server->restart(false);
  for (lease* const each : {&share, &writer}) {
    EXPECT_TRUE(eventually([&] { return each->loss_token().stop_requested(); }));
    std::error_code ec;
    each->release(ec);
    EXPECT_EQ(ec, outcome::lost) << ec.message();
  }
  EXPECT_GT(brief.shared_mutex("y").acquire().token(), last) << "numbers are above the clock";
}

TEST_F(redisson_rw_by_hand, the_rights_that_the_documents_list_suffice) {
  const std::string rights =
      "~jobs/* ~{jobs/* ~redisson_lock_token:{jobs/* &redisson_rwlock:{jobs/* -@all +evalsha +eval "
      "+script|load +ping +time +select +client|setname +client|id +client|info +client|kill +info "
      "+type +pttl "
      "+pexpire +hexists +hlen +hget +hset +hdel +hgetall +hkeys +get +set +del +publish "
      "+subscribe "
      "+scan";
  redis_server strict({.acl = "lock on >secret resetkeys resetchannels " + rights});
  const auto url = "redis://lock:secret@127.0.0.1:" + std::to_string(strict.port());
  const client one = client::open(url + "?layout=redisson-rw&ttl=6s");
  const client other = client::open(url + "?layout=redisson-rw");
  const shared_mutex m(one, "jobs/x");
  lease held = m.acquire();
  std::jthread reader([&] { other.shared_mutex("jobs/x").acquire_shared().release(); });
  EXPECT_TRUE(eventually([&] { return is_subscribed(strict, "redisson_rwlock:{jobs/x}"); }));
  held = m.downgrade(std::move(held));
  reader.join();
  const auto first_end = held.expires();
  EXPECT_TRUE(eventually([&] { return lease_clock::now() > first_end; }));
  EXPECT_TRUE(held.held());
  const auto found = other.holders("jobs/x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(other.break_lock("jobs/x", found[0].owner));
  EXPECT_EQ(other.list("jobs/").size(), 0u);
}

TEST_F(redisson_rw_by_hand, another_type_of_lock_is_refused_and_left_alone) {
  server->command({"HSET", "x", thread_of_java, "1"});
  std::error_code ec;
  EXPECT_FALSE(c.shared_mutex("x").try_acquire_shared({}, ec));
  EXPECT_EQ(ec, errc::mismatch);
  EXPECT_FALSE(c.mutex("x").try_acquire({}, ec));
  EXPECT_EQ(ec, errc::mismatch);
  EXPECT_EQ(contents(), "x hash java=1\n");
}

}  // namespace
}  // namespace holdfast::redisson_test
