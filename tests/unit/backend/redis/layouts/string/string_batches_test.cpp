// Requests of layout `string` for several claims: what goes out together, and which claim each
// part of the answer is for.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

struct redis_string_batches : testing::Test, two_nodes {
  explicit redis_string_batches(bool are_in_cluster = false) : two_nodes(are_in_cluster) { pass(); }
  ~redis_string_batches() override { world.changed = nullptr; }

  // The transactions in which two attempts at the same time are sent.
  int transactions(std::string_view one, std::string_view other) {
    constexpr std::string_view begin = "+OK\r\n+QUEUED";
    int out = 0;
    world.changed = [&](std::string bytes) {
      for (auto at = bytes.find(begin); at != bytes.npos; at = bytes.find(begin, at + 1)) ++out;
      return bytes;
    };
    recorded_claim &a = claim_on(one), &b = claim_on(other);
    a.acquire();
    b.acquire();
    pass();
    world.changed = nullptr;
    EXPECT_EQ(a.log + b.log, "granted granted ");
    return out;
  }
  static constexpr std::string_view queue_of_job = "holdfast:{first-job}:first-job:q";
  // Its release can name the next claim too.
  recorded_claim& renewed(std::string_view lock) {
    recorded_claim& out = held(lock);
    out.renew(1);
    pass();
    return out;
  }
};

TEST_F(redis_string_batches, have_the_attempts_of_one_moment_in_one_transaction) {
  EXPECT_EQ(transactions("first-a", "first-b"), 1);
}

struct redis_string_batches_in_cluster : redis_string_batches {
  redis_string_batches_in_cluster() : redis_string_batches(true) {}
};

TEST_F(redis_string_batches_in_cluster, have_the_attempts_on_each_slot_in_one_transaction) {
  EXPECT_EQ(transactions("first{t}a", "first{t}b"), 1);
  EXPECT_EQ(transactions("first{u}a", "first{v}b"), 2);
}

TEST_F(redis_string_batches_in_cluster, have_the_renewals_of_each_slot_in_one_request) {
  recorded_claim &a = held("first{u}a"), &b = held("first{v}b");
  std::string heard;
  world.changed = [&](std::string bytes) { return heard += bytes, bytes; };
  a.renew(1);
  b.renew(1);
  pass();
  EXPECT_EQ(a.log + b.log, "granted extended 1 granted extended 1 ");
  EXPECT_EQ(heard.find("*3\r\n:"), std::string::npos) << "one time for two leases";
}

TEST_F(redis_string_batches, acquire_a_group_of_locks_when_nothing_else_is_to_be_sent) {
  const auto both = seam::lock_group::of(2);
  recorded_claim &a = claim_on("first-a"), &b = claim_on("first-b");
  a.attempt(both);
  pass();
  EXPECT_EQ(a.log, "");
  b.attempt(both);
  pass();
  EXPECT_EQ(a.log + b.log, "granted granted ");
}

TEST_F(redis_string_batches, acquire_a_group_of_locks_with_what_else_waits_for_a_connection) {
  const auto both = seam::lock_group::of(2);
  recorded_claim &a = claim_on("first-a"), &b = claim_on("first-b"), &other = claim_on("first-c");
  lose_connections();
  other.acquire();
  a.attempt(both);
  b.attempt(both);
  pass(1s);
  EXPECT_EQ(a.log + b.log + other.log, "granted granted granted ");
}

TEST_F(redis_string_batches, report_to_each_holder_what_became_of_its_own_release) {
  for (const bool is_first : {false, true}) {
    recorded_claim &one = held("first-a"), &other = held("first-b");
    recorded_claim& lost = is_first ? one : other;
    recorded_claim& kept = is_first ? other : one;
    world.command({"SET", is_first ? "first-a" : "first-b", "somebody"});
    one.release();
    other.release();
    pass();
    EXPECT_EQ(kept.log + lost.log, "granted ended granted ended ");
    EXPECT_EQ(kept.end, std::error_code());
    EXPECT_EQ(lost.end, errc::not_held);
    world.command({"DEL", "first-a", "first-b"});
  }
}

TEST_F(redis_string_batches, release_all_locks_though_the_server_has_lost_its_scripts) {
  recorded_claim &a = held("first-a"), &b = held("first-b");
  world.model.script_flush();
  a.release();
  b.release();
  pass();
  EXPECT_EQ(a.log + b.log, "granted ended granted ended ");
  EXPECT_EQ(world.command({"EXISTS", "first-a", "first-b"}), ":0\r\n");
}

TEST_F(redis_string_batches, hand_a_lock_to_the_next_claim_in_one_request) {
  recorded_claim& holder = renewed("first-job");
  recorded_claim& next = claim_on("first-job");
  std::string heard;
  world.changed = [&](std::string bytes) { return heard += bytes, bytes; };
  holder.release_to(next);
  pass();
  EXPECT_EQ(holder.log + next.log, "granted extended 1 ended granted ");
  EXPECT_EQ(heard.find("QUEUED"), std::string::npos) << "there was no attempt";
}

TEST_F(redis_string_batches, hand_a_lock_to_the_next_claim_though_scripts_are_lost) {
  recorded_claim& holder = renewed("first-job");
  recorded_claim& next = claim_on("first-job");
  world.model.script_flush();
  holder.release_to(next);
  pass();
  EXPECT_EQ(holder.log + next.log, "granted extended 1 ended granted ");
}

// The first waiter is another client's, which hears messages. This client hears none.
TEST_F(redis_string_batches, queue_no_next_claim_that_no_message_would_reach) {
  struct : sim::peer {
    void deliver(std::string_view) override {}
    void kicked() override {}
  } listener;
  recorded_claim& holder = renewed("first-job");
  world.refuses_connections = true;
  world.model.close_subscribers();
  pass(1ms);
  const int connection = world.model.connect(listener);
  const std::string_view subscribe[] = {"SUBSCRIBE", "hf:0123456789abcdef"};
  world.model.execute(connection, subscribe);
  const std::string waiter = "hf1:0123456789abcdef:" + std::string(32, '1');
  world.command({"ZADD", queue_of_job, "1", waiter});
  holder.release_to(claim_on("first-job"));
  pass(1ms);
  EXPECT_EQ(holder.log, "granted extended 1 ended ");
  EXPECT_EQ(world.command({"GET", "first-job"}), "$53\r\n" + waiter + "\r\n");
  EXPECT_EQ(world.command({"EXISTS", queue_of_job}), ":0\r\n");
  world.model.disconnect(connection);
}

// The connection ends before the release was written to it.
TEST_F(redis_string_batches, hand_a_lock_to_the_next_claim_over_a_later_connection) {
  recorded_claim& holder = renewed("first-job");
  recorded_claim &next = claim_on("first-job"), &other = claim_on("first-other");
  bool is_cut = false;
  world.changed = [&](std::string bytes) {
    if (std::exchange(is_cut, true)) return bytes;
    holder.release_to(next);
    return std::string("this is no reply\r\n");
  };
  other.acquire();
  pass(1s);
  EXPECT_EQ(holder.end, std::error_code());
  EXPECT_EQ(holder.log, "granted extended 1 ended ");
  EXPECT_EQ(next.log, "granted ");
  EXPECT_EQ(other.log, "granted ");
}

}  // namespace
}  // namespace holdfast::redis
