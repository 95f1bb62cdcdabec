#include "backend/redis/transport/lineage.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using action = lineage::action;

// A master with a history; `before`: the one that it continues.
server_identity a_master(const std::string& run_id, const std::string& history,
                         const std::string& before = {}) {
  server_identity s;
  s.run_id = run_id;
  s.role = server_role::master;
  s.history = history;
  s.history_before = before;
  s.address = "10.0.0." + run_id.substr(1) + ":6379";
  return s;
}

server_identity replica_at(const std::string& run_id, const std::string& history) {
  server_identity s = a_master(run_id, history);
  s.role = server_role::replica;
  return s;
}

// As it describes itself so long after server_b was known as a master.
server_identity a_with_b_as_replica(base::duration later) {
  server_identity s = a_master("r1", "ha");
  s.replicas = {{"10.0.0.2:6379", 2s}};
  s.asked_at = s.told_at = base::time_point{} + later;
  return s;
}

const server_identity server_a = a_master("r1", "ha"), server_b = a_master("r2", "hb", "ha"),
                      server_c = a_master("r3", "hc", "hb");

TEST(redis_lineage, the_first_master_is_joined) {
  lineage l;
  EXPECT_EQ(l.judge_commands(server_a), action::join);
  EXPECT_EQ(l.leader().run_id, "r1");
}

TEST(redis_lineage, a_replica_is_never_joined) {
  lineage l;
  EXPECT_EQ(l.judge_commands(replica_at("r1", "ha")), action::retry);
  EXPECT_FALSE(l.leader().is_known());
}

TEST(redis_lineage, the_same_server_is_joined_again) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_commands(server_a), action::join);
  EXPECT_EQ(l.judge_lane(server_a), action::join);
  EXPECT_EQ(l.judge_probe(server_a), action::join);
}

TEST(redis_lineage, a_promoted_replica_is_followed) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_lane(server_b), action::move);
  EXPECT_EQ(l.judge_probe(server_b), action::move);
  EXPECT_EQ(l.judge_commands(server_b), action::join);
  EXPECT_EQ(l.leader().run_id, "r2");
}

TEST(redis_lineage, a_master_that_was_replaced_is_refused) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(server_a), action::refuse);
  EXPECT_EQ(l.judge_lane(server_a), action::retry);
  EXPECT_EQ(l.judge_probe(server_a), action::retry);
  EXPECT_EQ(l.leader().run_id, "r2");
  const std::string why = l.refusal_of(server_a);
  EXPECT_NE(why.find("10.0.0.1:6379"), std::string::npos) << why;
  EXPECT_NE(why.find("10.0.0.2:6379"), std::string::npos) << why;
  EXPECT_NE(why.find("REPLICAOF NO ONE"), std::string::npos) << why;
}

TEST(redis_lineage, the_newer_master_is_named_with_the_last_address_that_it_had) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  server_identity elsewhere = server_b;
  elsewhere.address = "10.0.0.9:6379";
  l.judge_commands(elsewhere);
  EXPECT_NE(l.refusal_of(server_a).find("followed by 10.0.0.9:6379"), std::string::npos);
}

TEST(redis_lineage, a_master_is_refused_once_a_probe_has_seen_the_newer_one) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_probe(server_b);
  EXPECT_EQ(l.judge_commands(server_a), action::refuse);
  EXPECT_EQ(l.judge_commands(server_b), action::join);
}

TEST(redis_lineage, every_master_of_a_chain_is_refused_but_the_last) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  l.judge_commands(server_c);
  EXPECT_EQ(l.judge_commands(server_a), action::refuse);
  EXPECT_EQ(l.judge_commands(server_b), action::refuse);
  EXPECT_EQ(l.judge_commands(server_c), action::join);
}

TEST(redis_lineage, a_demoted_master_that_is_promoted_again_is_followed) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(replica_at("r1", "hb")), action::retry);
  EXPECT_EQ(l.judge_commands(a_master("r1", "ha2", "hb")), action::join);
  EXPECT_EQ(l.judge_commands(server_b), action::refuse);
}

TEST(redis_lineage, an_older_master_is_joined_when_the_newer_one_is_its_replica) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(a_with_b_as_replica(3s)), action::join);
  EXPECT_EQ(l.judge_commands(server_a), action::join);  // what followed it is forgotten
}

// As when the network between the two is cut.
TEST(redis_lineage, an_older_master_that_does_not_hear_from_the_newer_one_is_refused) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(a_with_b_as_replica(2s)), action::refuse);
  EXPECT_EQ(l.judge_probe(a_with_b_as_replica(2s)), action::retry);
  server_identity again = server_b;
  again.told_at += 2s;
  l.judge_probe(again);
  EXPECT_EQ(l.judge_commands(a_with_b_as_replica(3s)), action::refuse);
  EXPECT_EQ(l.judge_commands(a_with_b_as_replica(5s)), action::join);
}

TEST(redis_lineage, an_older_master_with_a_new_term_is_joined_as_a_stranger) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(a_master("r1", "ha2", "ha")), action::join_stranger);
  EXPECT_EQ(l.judge_commands(a_master("r1", "ha2", "ha")), action::join);
}

TEST(redis_lineage, a_master_that_only_draws_a_new_name_stays_what_it_was) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(a_master("r1", "ha9")), action::refuse);
  EXPECT_EQ(l.judge_commands(a_master("r2", "hb9")), action::join);
  EXPECT_EQ(l.judge_commands(a_master("r3", "hc", "hb9")), action::join);
  EXPECT_EQ(l.judge_commands(a_master("r2", "hb9")), action::refuse);
}

// It has been demoted and promoted, and the client was there all the time.
TEST(redis_lineage, the_same_server_with_a_new_reign_is_joined_anew) {
  lineage l;
  l.judge_commands(server_a);
  const server_identity again = a_master("r1", "hc", "hb");
  EXPECT_EQ(l.judge_probe(again), action::move);
  EXPECT_EQ(l.judge_lane(again), action::move);
  l.judge_commands(again);
  EXPECT_EQ(l.judge_probe(again), action::join);
  EXPECT_EQ(l.judge_probe(a_master("r2", "hd", "hc")), action::move) << "and is followed";
}

TEST(redis_lineage, a_master_whose_new_name_is_learned_after_its_successor_is_refused) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_commands(a_master("r2", "hb", "ha9")), action::join_stranger);
  EXPECT_EQ(l.judge_commands(a_master("r1", "ha9")), action::refuse);
}

TEST(redis_lineage, the_same_server_with_a_new_name_stays_joined) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_probe(a_master("r1", "ha9")), action::join);
}

TEST(redis_lineage, a_server_that_was_started_anew_without_its_data_is_a_stranger) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_commands(a_master("r7", "hx")), action::join_stranger);
}

TEST(redis_lineage, one_that_was_started_anew_with_its_data_is_followed) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_commands(a_master("r7", "ha7", "ha")), action::join);
}

TEST(redis_lineage, a_history_that_a_server_reports_later_is_known_from_then_on) {
  lineage l;
  l.judge_commands(a_master("r1", ""));
  EXPECT_EQ(l.judge_commands(server_a), action::join);
  EXPECT_EQ(l.judge_commands(server_b), action::join);
  EXPECT_EQ(l.judge_commands(server_a), action::refuse);
}

TEST(redis_lineage, a_server_that_no_longer_reports_its_history_stays_joined) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_commands(a_master("r1", "")), action::join);
}

TEST(redis_lineage, what_a_history_continues_is_remembered) {
  const server_identity without_origin = a_master("r2", "hb");
  for (const bool comes_first : {false, true}) {
    lineage l;
    l.judge_commands(comes_first ? server_b : without_origin);
    l.judge_commands(comes_first ? without_origin : server_b);
    EXPECT_EQ(l.judge_commands(server_a), action::refuse);
  }
}

TEST(redis_lineage, histories_of_servers_without_a_run_id_are_not_one) {
  lineage l;
  for (const char* const history : {"ha", "hz"}) {
    server_identity s = a_master("r1", history);
    s.run_id.clear();
    l.judge_commands(s);
  }
  EXPECT_FALSE(l.is_one_history("ha", "hz"));
}

TEST(redis_lineage, siblings_are_strangers_to_each_other) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_EQ(l.judge_commands(a_master("r4", "hd", "ha")), action::join_stranger);
}

TEST(redis_lineage, a_lane_at_a_stranger_makes_all_move_the_third_time) {
  lineage l;
  const server_identity stranger = a_master("r9", "hz");
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_lane(stranger), action::retry);
  EXPECT_EQ(l.judge_lane(stranger), action::retry);
  EXPECT_EQ(l.judge_lane(stranger), action::move);
}

TEST(redis_lineage, a_lane_that_finds_the_commands_server_begins_to_count_anew) {
  lineage l;
  const server_identity stranger = a_master("r9", "hz");
  l.judge_commands(server_a);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(l.judge_lane(stranger), action::retry);
    EXPECT_EQ(l.judge_lane(stranger), action::retry);
    EXPECT_EQ(l.judge_lane(server_a), action::join);
  }
}

TEST(redis_lineage, a_probe_at_a_stranger_makes_all_move_the_fifth_time_in_a_row) {
  lineage l;
  const server_identity stranger = a_master("r9", "hz");
  l.judge_commands(server_a);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(l.judge_probe(stranger), action::retry);
  EXPECT_EQ(l.judge_probe(server_a), action::join);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(l.judge_probe(stranger), action::retry);
  EXPECT_EQ(l.judge_probe(stranger), action::move);
}

TEST(redis_lineage, a_stranger_that_continues_a_new_name_of_the_leader_is_followed) {
  lineage l;
  const server_identity stranger = a_master("r2", "hb", "ha9");
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_probe(stranger), action::retry);
  EXPECT_EQ(l.judge_again(server_a, stranger), action::retry);
  EXPECT_EQ(l.judge_again(a_master("r1", "ha9"), stranger), action::move);
  EXPECT_EQ(l.judge_commands(stranger), action::join);
}

TEST(redis_lineage, what_the_leader_says_again_does_not_end_the_row_of_strangers) {
  lineage l;
  const server_identity stranger = a_master("r9", "hz");
  l.judge_commands(server_a);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(l.judge_probe(stranger), action::retry);
    EXPECT_EQ(l.judge_again(server_a, stranger), action::retry);
  }
  EXPECT_EQ(l.judge_probe(stranger), action::move);
}

TEST(redis_lineage, a_lane_or_probe_that_sees_the_leader_demoted_makes_all_move) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_lane(replica_at("r1", "hb")), action::move);
  EXPECT_EQ(l.judge_probe(replica_at("r1", "hb")), action::move);
  EXPECT_EQ(l.judge_lane(replica_at("r5", "ha")), action::retry);
  EXPECT_EQ(l.judge_probe(replica_at("r5", "ha")), action::retry);
}

TEST(redis_lineage, what_a_refused_replica_says_is_remembered) {
  lineage l;
  l.judge_commands(server_a);
  server_identity follower = replica_at("r5", "hb");
  follower.history_before = "ha";
  l.judge_commands(follower);
  EXPECT_EQ(l.judge_commands(server_a), action::refuse);
}

TEST(redis_lineage, servers_that_say_nothing_are_never_refused) {
  lineage l;
  const server_identity silent;
  EXPECT_EQ(l.judge_commands(silent), action::join);
  EXPECT_EQ(l.judge_lane(silent), action::join);
  EXPECT_EQ(l.judge_commands(silent), action::join);
  EXPECT_EQ(l.judge_commands(server_a), action::join);
  EXPECT_EQ(l.judge_commands(silent), action::join_stranger);
  EXPECT_EQ(lineage().judge_lane(server_a), action::retry);
}

TEST(redis_lineage, a_server_without_a_run_id_is_that_of_the_messages_or_another_one) {
  lineage l;
  server_identity here, elsewhere;
  here.has_listener = true;
  elsewhere.has_listener = false;
  l.judge_commands({});
  EXPECT_EQ(l.judge_listener(true), action::join);
  EXPECT_EQ(l.judge_lane(here), action::join);
  EXPECT_EQ(l.judge_probe(here), action::join);
  EXPECT_EQ(l.judge_probe(elsewhere), action::retry);
  EXPECT_EQ(l.judge_lane(elsewhere), action::retry);
  EXPECT_EQ(l.judge_listener(false), action::retry);
  EXPECT_EQ(l.judge_lane(elsewhere), action::move);
}

TEST(redis_lineage, a_probe_that_shows_nothing_confirms_nothing) {
  lineage l;
  l.judge_commands({});
  for (int i = 0; i < 9; ++i) EXPECT_EQ(l.judge_probe({}), action::retry);
}

TEST(redis_lineage, a_lane_without_a_run_id_is_not_at_a_server_that_reports_one) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_lane({}), action::retry);
}

TEST(redis_lineage, histories_that_name_each_other_end) {
  lineage l;
  l.judge_commands(a_master("r1", "x", "y"));
  l.judge_commands(a_master("r2", "y", "x"));
  l.judge_commands(a_master("r3", "z", "z"));
  SUCCEED();
}

// The last 16 of these are remembered: h24 to h39.
lineage after_forty_masters() {
  lineage l;
  l.judge_commands(server_a);
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    l.judge_commands(a_master("s" + n, "h" + n, i == 0 ? "ha" : "h" + before));
  }
  return l;
}

TEST(redis_lineage, sixteen_histories_are_remembered) {
  lineage first = after_forty_masters(), second = after_forty_masters();
  EXPECT_EQ(first.judge_commands(a_master("s38", "h38", "h37")), action::refuse);
  EXPECT_EQ(first.leader().history, "h39");
  EXPECT_EQ(first.judge_commands(a_master("s24", "h24", "h23")), action::refuse);
  EXPECT_EQ(second.judge_commands(a_master("s23", "h23", "h22")), action::join_stranger);
}

TEST(redis_lineage, a_stranger_is_a_master_of_another_history_that_was_not_replaced) {
  lineage l;
  EXPECT_FALSE(l.is_stranger(server_a)) << "it is the first one";
  l.judge_commands(server_a);
  l.judge_commands(server_b);
  EXPECT_TRUE(l.is_stranger(a_master("r9", "hz")));
  EXPECT_FALSE(l.is_stranger(replica_at("r9", "hz")));
  EXPECT_FALSE(l.is_stranger(server_a));
}

TEST(redis_lineage, a_stranger_that_sentinels_name_makes_all_move_at_once) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_probe(a_master("r9", "hz"), true), action::move);
}

TEST(redis_lineage, strangers_are_counted_anew_once_the_commands_have_joined) {
  lineage l;
  const server_identity stranger = a_master("r9", "hz");
  l.judge_commands(server_a);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(l.judge_lane(stranger), action::retry);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(l.judge_probe(stranger), action::retry);
  l.judge_commands(server_a);
  EXPECT_EQ(l.judge_lane(stranger), action::retry);
  EXPECT_EQ(l.judge_probe(stranger), action::retry);
}

TEST(redis_lineage, an_heir_is_a_master_that_follows_the_leader_and_was_not_replaced) {
  lineage l;
  l.judge_commands(server_a);
  server_identity follower = server_b;
  follower.role = server_role::replica;
  EXPECT_FALSE(l.is_heir(follower));
  EXPECT_FALSE(l.is_heir(server_a));
  EXPECT_FALSE(l.is_heir(a_master("r9", "hz")));
  EXPECT_FALSE(l.is_heir(a_master("r8", "")));
  EXPECT_TRUE(l.is_heir(server_b));
  EXPECT_TRUE(l.is_heir(server_c));
  EXPECT_FALSE(l.is_heir(server_b)) << "the third one has replaced it";
}

TEST(redis_lineage, two_names_of_one_history_are_one_and_an_unknown_one_may_be_any) {
  lineage l;
  l.judge_commands(server_a);
  EXPECT_FALSE(l.is_one_history("ha", "ha9"));
  l.judge_commands(a_master("r1", "ha9"));
  EXPECT_TRUE(l.is_one_history("ha", "ha9"));
  EXPECT_TRUE(l.is_one_history("", "hb"));
  EXPECT_TRUE(l.is_one_history("ha", ""));
  EXPECT_FALSE(l.is_one_history("ha", "hb"));
}

TEST(redis_lineage, a_demoted_master_has_the_history_of_another_one) {
  lineage l;
  l.judge_commands(server_a);
  l.judge_commands(replica_at("r1", "hb"));
  EXPECT_FALSE(l.is_one_history("ha", "hb"));
}

}  // namespace
}  // namespace holdfast::redis
