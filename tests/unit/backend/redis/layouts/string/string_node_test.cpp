// Layout `string` at a server that is out of reach, puts its counter off, or answers late.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

struct redis_string_node : testing::Test, two_nodes {
  redis_string_node() { pass(); }
  ~redis_string_node() override { world.changed = nullptr; }

  recorded_claim& attempt_on(std::string_view lock) {
    recorded_claim& c = claim_on(lock);
    c.attempt();
    return c;
  }
  // The server starts again and refuses to write its counter.
  void restart_on_a_full_disk() {
    world.model.set_disk_full(true);
    world.model.restart(sim::kept::everything);
  }

  const refused_writes refused{world};
};

TEST_F(redis_string_node, ends_an_attempt_as_soon_as_nothing_can_be_connected_to) {
  world.refuses_connections = true;
  world.model.restart(sim::kept::everything);
  for (int i = 0; i < 2; ++i) {
    pass(10s);  // the pauses between the attempts to connect are longer by then
    const recorded_claim& c = attempt_on("first-job");
    pass(300ms);
    EXPECT_EQ(c.log.find("refused: "), 0u) << c.log;
  }
}

TEST_F(redis_string_node, ends_an_attempt_that_was_not_sent_before_its_server_was_lost) {
  recorded_claim& c = claim_on("first-job");
  world.changed = [&](std::string bytes) {
    if (std::exchange(world.refuses_connections, true)) return bytes;
    c.attempt();
    return std::string("this is no reply\r\n");
  };
  attempt_on("first-other");
  pass(500ms);
  EXPECT_EQ(c.log.find("refused: "), 0u) << c.log;
}

// It was not written yet when the connection ended.
TEST_F(redis_string_node, ends_no_attempt_because_a_connection_was_lost) {
  recorded_claim& c = claim_on("first-job");
  bool is_cut = false;
  world.changed = [&](std::string bytes) {
    if (std::exchange(is_cut, true)) return bytes;
    c.attempt();
    return std::string("this is no reply\r\n");
  };
  attempt_on("first-other");
  pass(1s);
  EXPECT_EQ(c.log, "granted ");
}

TEST_F(redis_string_node, raises_its_counter_however_often_locks_are_tried_meanwhile) {
  restart_on_a_full_disk();
  pass(1ms);
  world.model.set_disk_full(false);
  const recorded_claim& c = attempt_on("first-job");
  for (int i = 0; i < 10; ++i) {
    attempt_on("first-" + std::to_string(i));
    pass(10ms);
  }
  EXPECT_EQ(c.log, "granted ");
}

TEST_F(redis_string_node, raises_its_counter_no_more_often_because_locks_are_tried) {
  restart_on_a_full_disk();
  for (int i = 0; i < 100; ++i) {
    attempt_on("first-" + std::to_string(i));
    pass(1ms);
  }
  EXPECT_GE(refused.count, 2);
  EXPECT_LE(refused.count, 5);  // 20 ms between them at first, then twice as long each time
}

TEST_F(redis_string_node, believes_no_counter_that_the_answer_does_not_have) {
  world.model.restart(sim::kept::everything);
  recorded_claim& c = attempt_on("first-job");
  world.changed = [](std::string bytes) {
    const auto at = bytes.find("*2\r\n:");
    if (at == bytes.npos) return bytes;
    const auto end = bytes.find("\r\n", bytes.find("\r\n", at + 5) + 2);
    return bytes.replace(at, end - at, "*1\r\n:5");
  };
  pass(1s);
  world.changed = nullptr;
  EXPECT_EQ(c.log.find("refused: "), 0u) << c.log;
}

TEST_F(redis_string_node, is_not_listened_to_by_a_holder_that_knows_of_a_waiter) {
  const recorded_claim& c = held("first-job");
  EXPECT_TRUE(world.has_pending_replies());
  publish_at_first(c, "wanted|1", "first-job");
  EXPECT_EQ(c.log, "granted contended ");
  EXPECT_FALSE(world.has_pending_replies());
}

TEST_F(redis_string_node, reports_a_lock_that_nobody_has_and_one_that_another_owner_has) {
  recorded_claim &gone = held("first-a"), &taken = held("first-b");
  world.command({"DEL", "first-a"});
  world.command({"SET", "first-b", "somebody"});
  gone.renew(1);
  taken.renew(1);
  pass();
  EXPECT_EQ(gone.lost_by, errc::not_held);
  EXPECT_EQ(taken.lost_by, errc::lost);
}

// Shortly before its time is over, and then not again.
TEST_F(redis_string_node, is_connected_to_once_more_for_a_release_whose_time_ends) {
  recorded_claim& c = held("first-job");
  world.refuses_connections = true;
  world.model.restart(sim::kept::everything);
  c.release();
  pass(1700ms);
  world.connection_attempts.clear();
  pass(400ms);
  EXPECT_EQ(c.log, "granted ended ");
  EXPECT_EQ(world.connection_attempts.size(), 1u);
}

TEST_F(redis_string_node, accepts_requests_again_when_it_has_granted_a_lock) {
  recorded_claim& c = claim_on("first-job");
  world.model.set_disk_full(true);
  c.acquire();
  pass();
  EXPECT_TRUE(servers.one.is_unavailable());
  world.model.set_disk_full(false);
  pass(1s);
  EXPECT_EQ(c.log, "granted ");
  EXPECT_FALSE(servers.one.is_unavailable());
}

TEST_F(redis_string_node, has_no_waiter_in_its_queue_that_has_given_up) {
  held("first-job");
  recorded_claim& waiter = held("first-job");
  const auto queued = [&] { return world.command({"EXISTS", "holdfast:{first-job}:first-job:q"}); };
  EXPECT_EQ(queued(), ":1\r\n");
  waiter.cancel();
  pass(1ms);
  EXPECT_EQ(waiter.log, "ended ");
  EXPECT_EQ(queued(), ":0\r\n");
}

// The two parts of the answer to an attempt: what has set the lock, and what has drawn its number.
TEST_F(redis_string_node, quotes_the_error_of_the_part_of_an_attempt_that_failed) {
  const auto refused_with = [&](const std::string& answer) {
    world.changed = [answer](std::string bytes) {
      const auto at = bytes.find("*2\r\n+OK\r\n:");
      return at == bytes.npos ? bytes : bytes.substr(0, at) + answer;
    };
    const recorded_claim& c = attempt_on("first-job");
    pass();
    world.changed = nullptr;
    world.command({"DEL", "first-job"});
    return c.log;
  };
  EXPECT_NE(refused_with("*2\r\n-ERR the lock\r\n:7\r\n").find("ERR the lock"), std::string::npos);
  EXPECT_NE(refused_with("*2\r\n+OK\r\n-ERR the number\r\n").find("ERR the number"),
            std::string::npos);
}

TEST_F(redis_string_node, hands_a_lock_over_by_a_message_after_a_longer_wait_too) {
  recorded_claim& holder = held("first-job");
  const recorded_claim& waiter = held("first-job");
  pass(900ms);
  world.changed = [](std::string bytes) {
    return bytes.find("grant|") == bytes.npos ? std::string() : bytes;
  };
  holder.release();
  pass();
  EXPECT_EQ(waiter.log, "granted ");
}

TEST_F(redis_string_node, sends_nothing_to_a_server_that_refuses_while_there_is_no_claim) {
  restart_on_a_full_disk();
  pass(1min);
  EXPECT_EQ(refused.count, 1);
}

// The grant is for a claim that has ended, and which the server still has in its queue.
TEST_F(redis_string_node, passes_a_lock_on_that_was_handed_to_a_claim_that_is_gone) {
  recorded_claim& other = held("first-other");
  std::string gone = other.owner();
  gone.back() = gone.back() == '0' ? '1' : '0';
  world.command({"SET", "first-job", gone, "PX", "60000"});
  const recorded_claim& waiter = held("first-job");
  EXPECT_EQ(waiter.log, "");
  const std::string now = std::to_string(world.wall().count());
  world.command({"PUBLISH", "hf:" + gone.substr(4, 16),
                 "grant|" + now + '|' + now + "|5000|0|stamp|" + gone + "|first-job"});
  pass();
  EXPECT_EQ(waiter.log, "granted ");
}

// A renewal of an earlier grant is answered after the claim has the lock again.
TEST_F(redis_string_node, stores_the_note_of_a_grant_whatever_became_of_an_earlier_one) {
  recorded_claim &c = held("first-job"), &other = held("first-other");
  other.renew(1);  // opens the connection
  pass();
  std::string late;
  world.changed = [&](std::string bytes) {
    if (!late.empty() || !bytes.starts_with("*2\r\n:")) return bytes;
    late = bytes;
    return std::string();
  };
  c.renew(1);
  pass(1ms);
  ASSERT_FALSE(late.empty());
  c.release();
  pass(1ms);
  c.acquire();
  pass(1ms);
  ASSERT_EQ(c.log, "granted ended granted ");
  world.changed = [&](const std::string& bytes) { return std::exchange(late, {}) + bytes; };
  other.renew(2);
  pass(1ms);
  ASSERT_TRUE(late.empty());
  c.renew(2);
  pass();
  EXPECT_EQ(c.log, "granted ended granted extended 2 ");
  EXPECT_EQ(world.command({"HLEN", "holdfast:{first-job}:first-job:m"}), ":1\r\n");
}

// The server refuses to extend the lease, and then does it.
TEST_F(redis_string_node, stores_the_note_of_a_holder_with_its_first_renewal_that_is_done) {
  recorded_claim& c = held("first-job");
  world.model.forbid("pexpire");
  c.renew(1);
  pass();
  world.model.allow("pexpire");
  EXPECT_EQ(world.command({"HLEN", "holdfast:{first-job}:first-job:m"}), ":0\r\n");
  c.renew(2);
  pass();
  EXPECT_EQ(c.log, "granted extended 2 ");
  EXPECT_EQ(world.command({"HLEN", "holdfast:{first-job}:first-job:m"}), ":1\r\n");
}

// It waits for the counter, which needs no connection but that for commands.
TEST_F(redis_string_node, ends_no_attempt_because_no_messages_can_be_heard) {
  restart_on_a_full_disk();
  world.changed = [&](std::string bytes) {
    world.refuses_connections = true;
    return bytes;
  };
  const recorded_claim& c = attempt_on("first-job");
  pass(10ms);
  world.model.set_disk_full(false);
  pass(1s);
  EXPECT_EQ(c.log, "granted ");
}

}  // namespace
}  // namespace holdfast::redis
