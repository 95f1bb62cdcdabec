// One name, several servers: which connections a transport keeps, and what it believes.
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

class redis_transport_servers : public two_transports {
 protected:
  // The latest connection is lost, and the next one is greeted.
  void reconnect(const std::string& run_id, const std::string& history,
                 const std::string& before = "0") {
    const std::size_t next = net.lines.size();
    net.close(next - 1);
    net.time.advance(0ms);
    greet(next, run_id, history, before);
  }
  // The server reports no run_id, and its reply to PUBLISH is still awaited.
  void connect_without_info() {
    open(one);
    greet_without_info(0);
    open(one, lane::renewals);
    listen_without_info(1);
    net.received(0);
  }
  void be_in_use() {
    a.in_use = true;
    a.to_send = 1;
    reactor.flush();
    net.reply(0, "+OK\r\n");
  }
};

TEST_F(redis_transport_servers, the_others_follow_the_commands) {
  open(one, lane::messages);
  open(one, lane::renewals);
  ASSERT_EQ(net.lines.size(), 1u);
  greet(0);
  EXPECT_EQ(net.lines.size(), 3u);
  EXPECT_FALSE(is_ready(lane::messages));
  greet(1);
  greet(2);
  EXPECT_EQ(a.take_log(), "ready0 ready1 ready2 ");
}

TEST_F(redis_transport_servers, what_was_awaited_when_a_connection_ended_is_doubted) {
  have_three();
  EXPECT_TRUE(agrees());
  a.to_send = 1;
  reactor.flush();
  net.close(2);
  EXPECT_FALSE(agrees());
  net.reply(0, "+before\r\n");
  a.to_send = 1;
  reactor.flush();
  net.time.advance(0ms);
  greet(3, "r1", "ha");
  EXPECT_TRUE(agrees());
  EXPECT_EQ(a.take_log(), "down =before? ready2 agreed ");
}

TEST_F(redis_transport_servers, a_lane_at_a_promoted_server_makes_all_move) {
  have_three();
  net.close(1);
  net.time.advance(0ms);
  greet(3, "r2", "hb", "ha");
  EXPECT_FALSE(is_ready(lane::commands));
  EXPECT_FALSE(is_ready(lane::renewals));
  net.time.advance(0ms);
  greet(4, "r2", "hb", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  const std::lock_guard guard(reactor.mutex());
  EXPECT_EQ(one.server_stamp(), "r2");
}

TEST_F(redis_transport_servers, a_lane_at_a_stranger_is_made_anew_and_the_third_time_all_are) {
  have_three();
  net.close(2);
  for (std::size_t n = 3; n < 6; ++n) {
    EXPECT_TRUE(is_ready(lane::commands));
    net.time.advance(200ms);
    greet(n, "r9", "hz");
    EXPECT_FALSE(is_ready(lane::renewals));
  }
  EXPECT_FALSE(is_ready(lane::commands));
  EXPECT_FALSE(is_ready(lane::messages));
}

TEST_F(redis_transport_servers, connections_to_another_server_than_that_of_the_commands_end) {
  have_three();
  net.close(0);
  net.time.advance(0ms);
  greet(3, "r2", "hb", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_FALSE(is_ready(lane::messages));
  EXPECT_FALSE(is_ready(lane::renewals));
  EXPECT_TRUE(agrees());
}

TEST_F(redis_transport_servers, connections_to_the_server_that_the_commands_come_back_to_stay) {
  have_three();
  net.close(0);
  net.time.advance(0ms);
  greet(3, "r1", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_TRUE(is_ready(lane::messages));
  EXPECT_TRUE(is_ready(lane::renewals));
}

TEST_F(redis_transport_servers, a_lane_that_is_not_ready_yet_leaves_the_server_before_too) {
  have_three();
  net.close(1);
  net.time.advance(0ms);
  ASSERT_EQ(introduce(3, "r1", "ha"), "CLIENT KILL ID 2");
  net.close(0);
  net.time.advance(0ms);
  greet(4, "r2", "hb", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  net.reply(3, ":1\r\n");
  EXPECT_FALSE(is_ready(lane::messages));
}

TEST_F(redis_transport_servers, a_lane_is_not_ready_while_the_commands_have_no_server) {
  open(one);
  greet(0, "r1", "ha");
  open(one, lane::renewals);
  ASSERT_EQ(net.lines.size(), 2u);
  net.close(0);
  greet(1, "r1", "ha");
  EXPECT_FALSE(is_ready(lane::renewals));
}

TEST_F(redis_transport_servers, the_clock_of_another_server_is_read_anew) {
  const auto requested_at = [&](std::size_t n) {
    {
      const std::lock_guard guard(reactor.mutex());
      one.want_sample(1h, net.now());
    }
    return net.received(n);
  };
  open(one);
  greet(0, "r1", "ha");
  EXPECT_EQ(requested_at(0), "TIME");
  net.reply(0, "*2\r\n" + bulk("1700000000") + bulk("5"));
  reconnect("r1", "ha");
  EXPECT_EQ(requested_at(1), "") << "it is the same server";
  reconnect("r2", "hb", "ha");
  EXPECT_EQ(requested_at(2), "TIME");
}

TEST_F(redis_transport_servers, a_master_that_was_replaced_is_refused_until_it_has_a_new_term) {
  open(one);
  greet(0, "r1", "ha");
  reconnect("r2", "hb", "ha");
  reconnect("r1", "ha");
  EXPECT_FALSE(is_ready(lane::commands));
  net.time.advance(1s);
  greet(3, "r1", "ha2", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
}

TEST_F(redis_transport_servers, a_master_that_was_a_replica_meanwhile_confirms_what_is_held) {
  open(one);
  greet(0, "r1", "ha");
  const auto moves_at = [&](const char* history, const char* before = "") {
    reconnect("r1", history, before);
    return a.moves;
  };
  EXPECT_EQ(moves_at("ha"), 0);
  EXPECT_EQ(moves_at("hb", "ha"), 1);
  EXPECT_EQ(moves_at("hb", "ha"), 1);
  EXPECT_EQ(moves_at("hc"), 1) << "a new name for its data";
}

TEST_F(redis_transport_servers, a_connection_that_opens_after_a_move_is_no_second_move) {
  open(one);
  greet(0, "r1", "ha");
  reconnect("r1", "hb", "ha");
  EXPECT_EQ(a.moves, 1);
  open(one, lane::messages);
  greet(2, "r1", "hb", "ha");
  EXPECT_TRUE(is_ready(lane::messages));
  EXPECT_EQ(a.moves, 1);
}

TEST_F(redis_transport_servers, a_demoted_master_is_left) {
  have_three();
  a.to_send = 1;
  reactor.flush();
  net.reply(0, "-READONLY You can't write against a read only replica.\r\n");
  for (const lane l : {lane::commands, lane::messages, lane::renewals}) EXPECT_FALSE(is_ready(l));
}

TEST_F(redis_transport_servers, a_probe_finds_out_where_the_name_leads) {
  have_three();
  be_in_use();
  net.time.advance(1200ms);
  ASSERT_EQ(net.lines.size(), 4u);
  EXPECT_TRUE(is_ready(lane::commands));
  greet(3, "r2", "hb", "ha");
  for (const lane l : {lane::commands, lane::messages, lane::renewals}) EXPECT_FALSE(is_ready(l));
}

TEST_F(redis_transport_servers, a_probe_has_the_loop_driven_until_it_is_answered) {
  have_three();
  be_in_use();
  const base::loop_user& callers = *net.users.front();
  EXPECT_FALSE(callers.has_pending_replies());
  net.time.advance(1200ms);
  ASSERT_EQ(net.lines.size(), 4u);
  EXPECT_TRUE(callers.has_pending_replies());
  greet(3, "r1", "ha");
  EXPECT_FALSE(callers.has_pending_replies());
}

// Where the name leads to a replaced master again, the newer one may have become its replica.
TEST_F(redis_transport_servers, a_probe_at_a_replaced_master_shows_that_the_own_server_follows_it) {
  open(one);
  greet(0, "r1", "ha");
  reconnect("r2", "hb", "ha");
  a.in_use = true;
  a.to_send = 1;
  reactor.flush();
  net.reply(1, "+OK\r\n");
  net.received(1);
  net.time.advance(1200ms);
  ASSERT_EQ(net.lines.size(), 3u);
  greet(2, "r1", "ha");
  EXPECT_EQ(net.received(1), "INFO replication");
  net.reply(1, replication("ha", "0", "slave"));
  EXPECT_FALSE(is_ready(lane::commands));
}

class redis_transport_stranger : public redis_transport_servers {
 protected:
  // A probe is connected as the fourth.
  void begin_probe() {
    have_three();
    be_in_use();
    net.received(0);
    net.time.advance(1200ms);
  }
  // A probe meets a master that continues an unknown history. Returns what the commands request.
  std::string meet() {
    begin_probe();
    greet(3, "r2", "hc", "hb");
    reactor.flush();
    return net.received(0);
  }
};

TEST_F(redis_transport_stranger, is_followed_where_the_own_server_has_drawn_the_name_it_continues) {
  EXPECT_EQ(meet(), "INFO replication");
  EXPECT_TRUE(is_ready(lane::commands));
  net.reply(0, replication("hb"));
  for (const lane l : {lane::commands, lane::messages, lane::renewals}) EXPECT_FALSE(is_ready(l));
  net.time.advance(0ms);
  greet(4, "r2", "hc", "hb");
  EXPECT_TRUE(is_ready(lane::commands));
}

TEST_F(redis_transport_stranger, is_not_followed_where_the_own_server_is_what_it_was) {
  meet();
  net.reply(0, replication("ha"));
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_TRUE(agrees());
}

TEST_F(redis_transport_stranger, shows_that_the_own_server_has_become_a_replica) {
  meet();
  net.reply(0, replication("hc", "hb", "slave"));
  EXPECT_FALSE(is_ready(lane::commands));
}

TEST_F(redis_transport_stranger, without_a_run_id_makes_the_client_query_its_own_server) {
  begin_probe();
  greet_without_info(3);
  EXPECT_EQ(net.received(0), "INFO replication");
  net.reply(0, replication("hc", "hb", "slave"));
  EXPECT_FALSE(is_ready(lane::commands));
}

TEST_F(redis_transport_stranger, changes_nothing_where_the_own_server_does_not_tell) {
  meet();
  net.reply(0, "-NOPERM no\r\n");
  EXPECT_TRUE(is_ready(lane::commands));
}

TEST_F(redis_transport_servers, a_probe_at_the_same_server_changes_nothing) {
  have_three();
  be_in_use();
  net.time.advance(1200ms);
  greet(3, "r1", "ha");
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_TRUE(net.lines[3]->is_over());
}

TEST_F(redis_transport_servers, nobody_probes_while_nothing_is_held_or_awaited) {
  have_three();
  be_in_use();
  a.in_use = false;
  net.time.advance(10s);
  EXPECT_EQ(net.lines.size(), 3u);
}

TEST_F(redis_transport_servers, the_first_use_after_a_while_is_followed_by_a_probe_at_once) {
  have_three();
  net.time.advance(1h);
  be_in_use();
  net.time.advance(0ms);
  EXPECT_EQ(net.lines.size(), 4u);
}

TEST_F(redis_transport_servers, a_probe_confirms_the_commands_where_a_lane_cannot_come_back) {
  have_three();
  be_in_use();
  net.close(2);
  net.time.advance(0ms);
  net.close(3);
  EXPECT_FALSE(agrees());
  net.time.advance(1200ms);
  for (std::size_t n = 4; n < net.lines.size(); ++n)
    if (net.lines[n]->events) greet(n, "r1", "ha");
  EXPECT_TRUE(agrees());
}

TEST_F(redis_transport_servers, without_run_ids_renewals_follow_the_counted_messages) {
  open(one);
  EXPECT_EQ(greet_without_info(0), "HELLO 2");
  open(one, lane::renewals);
  ASSERT_EQ(net.lines.size(), 2u);
  const std::string channel = listen_without_info(1);
  EXPECT_TRUE(is_ready(lane::messages));
  EXPECT_EQ(net.received(0), "PUBLISH " + channel + " 0");
  EXPECT_EQ(net.lines.size(), 2u);
  net.reply(0, ":1\r\n");
  ASSERT_EQ(net.lines.size(), 3u);
  EXPECT_EQ(greet_without_info(2), "HELLO 2 | PUBLISH " + channel + " 0");
  net.reply(2, ":1\r\n");
  EXPECT_TRUE(is_ready(lane::renewals));
}

TEST_F(redis_transport_servers, without_run_ids_messages_that_are_not_counted_make_all_move) {
  open(one);
  greet_without_info(0);
  for (std::size_t n = 1; n <= 3; ++n) {
    EXPECT_TRUE(is_ready(lane::commands));
    net.time.advance(200ms);
    listen_without_info(n);
    if (net.received(0).starts_with("PING")) net.reply(0, "+PONG\r\n");
    net.reply(0, ":0\r\n");
    EXPECT_FALSE(is_ready(lane::messages));
  }
  EXPECT_FALSE(is_ready(lane::commands));
}

TEST_F(redis_transport_servers, without_run_ids_each_connection_for_messages_has_a_new_channel) {
  open(one);
  greet_without_info(0);
  const std::string before = listen_without_info(1);
  net.received(0);
  net.reply(0, ":1\r\n");
  EXPECT_TRUE(agrees());
  net.close(1);
  EXPECT_FALSE(agrees());
  EXPECT_EQ(net.received(0), "PING");
  net.reply(0, "+PONG\r\n");
  net.time.advance(0ms);
  const std::string after = listen_without_info(2);
  EXPECT_NE(before, after);
  EXPECT_EQ(net.received(0), "PUBLISH " + after + " 0");
  EXPECT_FALSE(agrees());
  a.take_log();
  net.reply(0, ":1\r\n");
  EXPECT_TRUE(agrees());
  EXPECT_EQ(a.take_log(), "agreed ");
}

TEST_F(redis_transport_servers, a_count_for_an_earlier_connection_for_messages_shows_nothing) {
  connect_without_info();
  net.close(1);
  net.time.advance(0ms);
  listen_without_info(2);
  net.received(0);
  net.reply(0, ":1\r\n+PONG\r\n");
  EXPECT_EQ(net.lines.size(), 3u);
  net.reply(0, ":1\r\n");
  EXPECT_EQ(net.lines.size(), 4u);
}

TEST_F(redis_transport_servers, a_count_for_an_earlier_channel_shows_nothing_where_there_is_none) {
  open(one);
  greet_without_info(0);
  listen_without_info(1);
  net.received(0);
  net.close(1);
  net.time.advance(0ms);
  greet_without_info(2);
  net.reply(2, "-NOPERM no channel\r\n");
  EXPECT_TRUE(is_ready(lane::messages));
  net.reply(0, ":0\r\n+PONG\r\n");
  EXPECT_TRUE(is_ready(lane::messages));
}

TEST_F(redis_transport_servers, a_count_without_a_connection_for_messages_shows_nothing) {
  connect_without_info();
  net.close(1);
  net.reply(0, ":1\r\n+PONG\r\n");
  EXPECT_EQ(net.lines.size(), 2u);
  EXPECT_FALSE(agrees());
}

// They have been counted as clients of the server of messages, which is not that of the commands.
TEST_F(redis_transport_servers, renewals_wait_until_the_messages_that_they_follow_are_counted) {
  connect_without_info();
  net.reply(0, ":1\r\n");
  net.close(1);
  net.time.advance(0ms);
  const std::string channel = listen_without_info(3);
  EXPECT_EQ(greet_without_info(2), "HELLO 2 | PUBLISH " + channel + " 0");
  net.reply(2, ":1\r\n");
  EXPECT_FALSE(is_ready(lane::renewals));
}

TEST_F(redis_transport_servers, without_run_ids_all_follow_new_commands) {
  connect_without_info();
  net.reply(0, ":1\r\n");
  greet_without_info(2);
  net.reply(2, ":1\r\n");
  net.close(0);
  net.time.advance(0ms);
  greet_without_info(3);
  EXPECT_TRUE(is_ready(lane::commands));
  EXPECT_FALSE(is_ready(lane::messages));
  EXPECT_FALSE(is_ready(lane::renewals));
}

TEST_F(redis_transport_servers, where_nothing_shows_the_server_connections_are_not_compared) {
  open(one);
  greet_without_info(0);
  open(one, lane::renewals);
  EXPECT_TRUE(greet_without_info(1).starts_with("HELLO 2 | SUBSCRIBE "));
  net.reply(1, "-NOPERM no channel\r\n");
  EXPECT_TRUE(is_ready(lane::messages));
  ASSERT_EQ(net.lines.size(), 3u);
  EXPECT_EQ(greet_without_info(2), "HELLO 2");
  EXPECT_TRUE(is_ready(lane::renewals));
}

TEST_F(redis_transport_servers, without_run_ids_a_probe_is_counted) {
  open(one);
  greet_without_info(0);
  const std::string channel = listen_without_info(1);
  net.received(0);
  net.reply(0, ":1\r\n");
  be_in_use();
  for (std::size_t n = 2; n < 7; ++n) {
    EXPECT_TRUE(is_ready(lane::commands));
    for (int i = 0; i < 24 && net.lines.size() == n; ++i) net.time.advance(50ms);
    ASSERT_EQ(net.lines.size(), n + 1);
    EXPECT_EQ(greet_without_info(n), "HELLO 2 | PUBLISH " + channel + " 0");
    net.reply(n, ":0\r\n");
  }
  EXPECT_FALSE(is_ready(lane::commands));
}

}  // namespace
}  // namespace holdfast::redis
