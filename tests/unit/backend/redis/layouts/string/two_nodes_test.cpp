// One layout over two servers: what one server answers, sends or loses concerns the claims there.
#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

struct redis_string_nodes : testing::Test, two_nodes {
  redis_string_nodes() { pass(); }
  std::string at_first(std::string_view key) { return world.command({"EXISTS", key}); }
};

TEST_F(redis_string_nodes, keep_each_lock_at_its_own_server) {
  EXPECT_EQ(held("first-job").log, "granted ");
  EXPECT_EQ(held("second-job").log, "granted ");
  EXPECT_EQ(at_first("first-job") + at_first("second-job"), ":1\r\n:0\r\n");
  EXPECT_EQ(at_second("first-job") + at_second("second-job"), ":0\r\n:1\r\n");
}

TEST_F(redis_string_nodes, accept_a_number_that_is_below_those_of_the_other_server) {
  const std::string ahead = std::to_string(world.wall().count() + 500'000);
  world.command_at(world.second, {"SET", "holdfast:n", ahead});
  const recorded_claim& there = held("second-job");
  const recorded_claim& here = held("first-job");
  EXPECT_EQ(there.log + here.log, "granted granted ");
  EXPECT_LT(here.number, there.number);
  EXPECT_LT(std::stoll(ahead), there.number);
}

TEST_F(redis_string_nodes, doubt_the_floor_of_the_server_that_lost_its_connections_only) {
  world.refuses_connections = true;
  world.model.restart(sim::kept::everything);
  pass();
  recorded_claim& here = claim_on("first-job");
  recorded_claim& there = claim_on("second-job");
  here.acquire();
  there.acquire();
  pass();
  EXPECT_EQ(here.log, "");
  EXPECT_EQ(there.log, "granted ");
  world.refuses_connections = false;
  pass(3s);
  EXPECT_EQ(here.log, "granted ");
}

TEST_F(redis_string_nodes, renew_each_lease_at_its_own_server) {
  recorded_claim& here = held("first-job");
  recorded_claim& there = held("second-job");
  world.command_at(world.second, {"DEL", "second-job"});
  here.renew(1);
  there.renew(2);
  pass();
  EXPECT_EQ(here.log, "granted extended 1 ");
  EXPECT_EQ(there.log, "granted lost ");
}

TEST_F(redis_string_nodes, renew_while_the_other_server_cannot_be_reached) {
  recorded_claim& here = held("first-job");
  recorded_claim& there = held("second-job");
  here.renew(1);
  there.renew(2);
  pass();
  world.refuses_connections = true;
  world.model.restart(sim::kept::everything);
  here.renew(3);
  there.renew(4);
  pass(1s);
  EXPECT_EQ(here.log, "granted extended 1 ");
  EXPECT_EQ(there.log, "granted extended 2 extended 4 ");
}

TEST_F(redis_string_nodes, renew_at_once_with_the_commands_where_renewals_have_no_connection) {
  recorded_claim& c = held("first-job");
  world.refuses_connections = true;
  c.renew(1);
  pass();
  EXPECT_EQ(c.log, "granted extended 1 ");
  c.renew(2);
  pass(1us);
  EXPECT_EQ(c.log, "granted extended 1 extended 2 ");
}

TEST_F(redis_string_nodes, renew_the_leases_of_writers_and_readers_of_one_moment) {
  recorded_claim &writer = held("first-a"), &reader = claim_on("first-b");
  reader.acquire(lock_mode::shared);
  pass();
  writer.renew(1);
  reader.renew(2);
  pass();
  EXPECT_EQ(writer.log + reader.log, "granted extended 1 granted extended 2 ");
}

TEST_F(redis_string_nodes, batch_the_requests_of_each_server_alone) {
  recorded_claim& here = held("first-job");
  recorded_claim& there = held("second-job");
  world.refuses_connections = true;
  world.model.restart(sim::kept::everything);
  here.release();
  there.release();
  pass();
  EXPECT_EQ(there.log, "granted ended ");
  EXPECT_EQ(here.log, "granted ");
}

TEST_F(redis_string_nodes, hand_a_lock_over_by_a_message_of_its_server) {
  recorded_claim& holder = held("second-job");
  recorded_claim& waiter = held("second-job");
  EXPECT_EQ(waiter.log, "");
  holder.release();
  pass();
  EXPECT_EQ(waiter.log, "granted ");
}

// The message proves enough: nothing is asked.
TEST_F(redis_string_nodes, hand_a_lock_over_though_no_request_is_answered_any_more) {
  recorded_claim& holder = held("second-job");
  recorded_claim& waiter = held("second-job");
  world.changed = [](std::string bytes) {
    return bytes.find("grant|") == bytes.npos ? std::string() : bytes;
  };
  holder.release();
  pass();
  EXPECT_EQ(waiter.log, "granted ");
}

TEST_F(redis_string_nodes, grant_nothing_by_a_message_of_another_server) {
  held("first-job");  // the floor and the clock of the first server are known
  const recorded_claim& holder = held("second-job");
  const recorded_claim& waiter = held("second-job");
  publish_grant_at_first(waiter, "second-job");
  EXPECT_EQ(waiter.log, "");
  EXPECT_EQ(holder.log, "granted contended ");
}

TEST_F(redis_string_nodes, look_at_a_lock_at_the_time_that_its_server_names) {
  held("first-job");
  const recorded_claim& waiter = held("first-job");
  publish_at_first(waiter, "look|" + std::to_string((world.wall() + 1s).count()), "first-job");
  world.command({"DEL", "first-job"});
  pass(800ms);
  EXPECT_EQ(waiter.log, "");
  pass(200ms);
  EXPECT_EQ(waiter.log, "granted ");
}

// The lock is freed while the client hears no messages.
TEST_F(redis_string_nodes, ask_again_for_a_waiter_once_messages_are_heard_again) {
  held("first-job");
  const recorded_claim& waiter = held("first-job");
  world.model.close_subscribers();
  world.command({"DEL", "first-job"});
  pass(1s);
  EXPECT_EQ(waiter.log, "granted ");
}

TEST_F(redis_string_nodes, await_nothing_once_each_claim_has_ended) {
  recorded_claim& holder = held("first-job");
  recorded_claim& waiter = held("first-job");
  EXPECT_TRUE(world.has_pending_replies());
  holder.release();
  pass();
  waiter.release();
  pass();
  EXPECT_EQ(holder.log + waiter.log, "granted contended ended granted ended ");
  EXPECT_FALSE(world.has_pending_replies());
}

TEST_F(redis_string_nodes, refuse_the_waiters_of_a_server_that_rejects_the_credentials) {
  world.model.require_password("default", "secret");
  world.model.restart(sim::kept::everything);
  recorded_claim& here = claim_on("first-job");
  recorded_claim& there = claim_on("second-job");
  recorded_claim& waiter = claim_on("second-job");
  here.acquire();
  there.acquire();
  waiter.acquire();
  pass();
  EXPECT_EQ(here.log.find("refused: "), 0) << here.log;
  EXPECT_EQ(there.log, "granted contended ");
  EXPECT_EQ(waiter.log, "");
}

TEST_F(redis_string_nodes, refuse_a_claim_whose_key_has_moved) {
  world.changed = [](std::string bytes) {
    if (!bytes.starts_with("+OK\r\n+QUEUED\r\n")) return bytes;
    return std::string("+OK\r\n-MOVED 3999 10.0.0.2:6379\r\n+QUEUED\r\n-EXECABORT Discarded\r\n");
  };
  EXPECT_NE(held("first-job").log.find("MOVED 3999"), std::string::npos);
}

TEST_F(redis_string_nodes, acquire_several_locks_in_one_step_at_one_server_only) {
  constexpr std::string_view together[] = {"first-a", "first-b"}, apart[] = {"first-a", "second-a"};
  EXPECT_TRUE(tested->can_lock_all(together));
  EXPECT_FALSE(tested->can_lock_all(apart));
}

struct redis_moving_keys : testing::Test, two_nodes {
  redis_moving_keys() : two_nodes(true) { pass(); }
  void expect_hand_over(recorded_claim& holder, const recorded_claim& waiter) {
    pass(600ms);
    world.changed = [](std::string bytes) {
      return bytes.find("grant|") == bytes.npos ? std::string() : bytes;
    };
    holder.release();
    pass();
    EXPECT_EQ(waiter.log, "granted ");
  }
};

TEST_F(redis_moving_keys, are_granted_by_the_server_that_has_them) {
  move_keys_before("+OK\r\n+QUEUED\r\n");
  recorded_claim& c = held("moving-job");
  pass(1s);
  EXPECT_EQ(c.log, "granted ");
  EXPECT_EQ(at_second("moving-job"), ":1\r\n");
}

TEST_F(redis_moving_keys, of_which_a_request_is_under_way_confuse_no_answer_of_the_new_server) {
  held("second-other");
  move_keys_before("+OK\r\n+QUEUED\r\n");
  const std::size_t connections = world.connection_attempts.size();
  recorded_claim& c = held("moving-job");
  pass(1s);
  EXPECT_EQ(c.log, "granted ");
  EXPECT_EQ(held("second-next").log, "granted ");
  EXPECT_EQ(world.connection_attempts.size(), connections);
}

TEST_F(redis_moving_keys, fail_an_attempt_that_their_former_server_has_answered) {
  world.command({"SET", "moving-job", "somebody"});
  move_keys_before("+OK\r\n+QUEUED\r\n");
  recorded_claim& c = claim_on("moving-job");
  c.attempt();
  pass(1s);
  EXPECT_EQ(c.log.find("refused: "), 0u) << c.log;
  EXPECT_EQ(at_second("moving-job"), ":0\r\n");
}

TEST_F(redis_moving_keys, take_a_held_lock_along) {
  recorded_claim& c = held("moving-job");
  world.command_at(world.second, {"SET", "moving-job", c.owner(), "PX", "9000"});
  move_keys();
  pass();
  EXPECT_EQ(c.log.substr(0, 17), "granted doubtful ");
  c.renew(7);
  pass();
  EXPECT_NE(c.log.find("extended 7 "), std::string::npos) << c.log;
  c.release();
  pass();
  EXPECT_EQ(at_second("moving-job"), ":0\r\n");
}

TEST_F(redis_moving_keys, are_renewed_by_the_server_that_has_them) {
  recorded_claim& c = held("moving-job");
  move_keys_before("*2\r\n:");  // the time, and that of one lease
  c.renew(7);
  pass();
  EXPECT_TRUE(servers.has_moved);
  EXPECT_EQ(c.log, "granted doubtful lost ");
}

TEST_F(redis_moving_keys, are_renewed_however_often_a_renewal_was_redirected) {
  recorded_claim& c = held("moving-job");
  world.changed = [](const std::string& bytes) {
    const bool is_of_renewal = bytes.starts_with("*2\r\n:");
    return is_of_renewal ? "-TRYAGAIN Multiple keys request during rehashing of slot\r\n" : bytes;
  };
  for (std::uint32_t ticket = 1; ticket <= 20; ++ticket) {  // more than may be in flight
    c.renew(ticket);
    pass();
  }
  EXPECT_EQ(c.log, "granted ");
  world.changed = nullptr;
  pass(3s);
  EXPECT_NE(c.log.find("extended"), std::string::npos) << c.log;
}

TEST_F(redis_moving_keys, lose_a_lock_that_has_not_come_along) {
  recorded_claim& c = held("moving-job");
  move_keys();
  pass();
  EXPECT_EQ(c.log, "granted doubtful lost ");
}

// Their former server cannot be reached: it withdraws nothing.
TEST_F(redis_moving_keys, are_freed_of_what_a_lost_claim_has_left_as_soon_as_they_have_moved) {
  recorded_claim& c = held("moving-job");
  world.command_at(world.second, {"SET", "moving-job", c.owner(), "PX", "90000"});
  world.command({"DEL", "moving-job"});
  c.renew(1);
  pass();
  world.refuses_connections = true;
  world.model.restart(sim::kept::everything);
  pass();
  c.release();
  EXPECT_EQ(c.log, "granted lost ended ");
  EXPECT_EQ(at_second("moving-job"), ":1\r\n");
  move_keys();
  pass(1us);
  EXPECT_EQ(at_second("moving-job"), ":0\r\n");
}

// The message proves enough, as long as the time of the server is known well enough.
TEST_F(redis_moving_keys, are_handed_over_though_no_request_is_answered_any_more) {
  world.command({"SET", "moving-job", "somebody"});
  recorded_claim& holder = held("moving-job");  // waits, and gets it at the other server
  move_keys();
  pass(1s);
  ASSERT_EQ(holder.log, "granted ");
  expect_hand_over(holder, held("moving-job"));
}

TEST_F(redis_moving_keys, leave_a_server_that_hands_its_locks_over_as_before) {
  held("moving-job");
  move_keys();
  pass();
  recorded_claim& holder = held("first-job");
  expect_hand_over(holder, held("first-job"));
}

TEST_F(redis_moving_keys, leave_requests_for_other_keys_waiting_at_their_former_server) {
  lose_connections();
  recorded_claim &moving = claim_on("moving-job"), &other = claim_on("first-job");
  moving.acquire();
  other.acquire();
  move_keys();
  pass(1s);
  EXPECT_EQ(moving.log + other.log, "granted granted ");
}

TEST_F(redis_moving_keys, are_handed_over_at_the_server_that_has_them) {
  recorded_claim& holder = held("moving-job");
  const recorded_claim& waiter = held("moving-job");
  world.command_at(world.second, {"SET", "moving-job", holder.owner(), "PX", "9000"});
  move_keys();
  pass(1s);
  EXPECT_EQ(waiter.log, "");
  holder.release();
  pass(1s);
  EXPECT_EQ(waiter.log, "granted ");
}

// The counter of their slot did not come along.
TEST_F(redis_moving_keys, have_numbers_above_those_of_their_former_server) {
  const std::string ahead = std::to_string(world.wall().count() + 500'000);
  world.command({"SET", counter_of_slot(slot_of("moving-job")), ahead});
  recorded_claim& before = held("moving-job");
  before.release();
  pass();
  recorded_claim& after = claim_on("moving-job");
  move_keys();
  after.acquire();
  pass();
  EXPECT_EQ(after.log, "granted ");
  EXPECT_GT(after.number, before.number);
}

TEST_F(redis_moving_keys, each_slot_has_a_counter_of_its_own) {
  held("first-a");
  held("second-a");
  const std::string first_counter = counter_of_slot(slot_of("first-a")),
                    second_counter = counter_of_slot(slot_of("second-a"));
  EXPECT_EQ(world.command({"EXISTS", first_counter}), ":1\r\n");
  EXPECT_EQ(at_second(second_counter), ":1\r\n");
  EXPECT_EQ(world.command({"EXISTS", "holdfast:n"}), ":0\r\n");
}

}  // namespace
}  // namespace holdfast::redis
