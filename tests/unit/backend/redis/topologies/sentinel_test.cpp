// Where a client goes by what the sentinels and the servers say.
#include "tests/unit/backend/redis/topologies/some_sentinels.hpp"

namespace holdfast::redis {
namespace {

class redis_sentinel : public some_sentinels {
 protected:
  void be_at(const std::string& master, const std::vector<std::string>& replicas = {}) {
    for (const std::string& s : all) answer(s, master, 0, replicas);
    greet(master, "master", "ha");
  }
  // For two seconds at most.
  void greet_until_open(const std::string& host, const std::string& history) {
    for (int i = 0; i < 20 && !is_open(); ++i) {
      pass(100ms);
      greet(host, "master", history);
    }
  }
  // From "a" to "b", of whose promotion no sentinel has heard.
  void follow_an_heir() {
    be_at("a", {"b", "c"});
    net.close(lines_to("a").back());
    pass(200ms);
    greet("b", "master", "hb", "ha");
    greet("b", "master", "hb", "ha");
    ASSERT_EQ(server(), "hb");
  }
};

TEST_F(redis_sentinel, no_server_is_asked_before_a_majority_names_it) {
  answer("s1", "a");
  EXPECT_TRUE(lines_to("a").empty());
  answer("s2", "a");
  greet("a", "master", "ha");
  EXPECT_TRUE(is_open());
  EXPECT_EQ(server(), "ha");
}

TEST_F(redis_sentinel, one_that_was_lost_during_a_question_is_asked_again) {
  greet_sentinel("s1");
  EXPECT_NE(net.received(lines_to("s1").back()).find("MYID"), std::string::npos);
  net.close(lines_to("s1").back());
  pass(100ms);
  greet_sentinel("s1");
  const std::size_t again = lines_to("s1").back();
  EXPECT_NE(net.received(again).find("CLIENT KILL"), std::string::npos);
  net.reply(again, ":1\r\n");
  EXPECT_NE(net.received(again).find("MYID"), std::string::npos);
}

TEST_F(redis_sentinel, a_named_server_that_is_still_a_replica_is_asked_again) {
  answer("s1", "b", 1);
  answer("s2", "b", 1);
  greet("b", "slave", "ha");
  EXPECT_FALSE(is_open());
  pass(200ms);
  greet("b", "master", "hb", "ha");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_sentinel, a_promoted_replica_is_followed_before_the_sentinels_name_it) {
  be_at("a", {"b"});
  net.close(lines_to("a").back());
  pass(200ms);
  greet("b", "master", "hb", "ha");
  pass();
  greet("b", "master", "hb", "ha");
  EXPECT_EQ(server(), "hb");
}

TEST_F(redis_sentinel, a_master_of_another_history_is_not_followed_unless_they_name_it) {
  be_at("a", {"b"});
  net.close(lines_to("a").back());
  pass(200ms);
  greet("b", "master", "hz");
  EXPECT_FALSE(is_open());
  for (const std::string& s : all) answer(s, "b", 1);
  greet_until_open("b", "hz");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_sentinel, an_older_configuration_does_not_lead_away_from_an_heir) {
  ASSERT_NO_FATAL_FAILURE(follow_an_heir());
  greet("c", "slave", "hb");
  for (const std::string& s : all) answer(s, "a", 0);
  greet("a", "master", "hz");
  greet("a", "master", "hz");
  EXPECT_EQ(server(), "hb");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_sentinel, an_heir_that_was_demoted_keeps_nobody_from_the_master_that_they_name) {
  ASSERT_NO_FATAL_FAILURE(follow_an_heir());
  net.close(lines_to("b").back());
  pass(200ms);
  greet("b", "slave", "hz");
  for (const std::string& s : all) answer(s, "a", 0);
  greet_until_open("a", "hz");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_sentinel, an_heir_is_looked_for_before_an_empty_master_is_joined) {
  be_at("a", {"b"});
  net.close(lines_to("a").back());
  pass();
  greet("a", "master", "hz");
  EXPECT_FALSE(is_open());
  greet_until_open("a", "hz");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_sentinel, an_empty_master_is_not_joined_before_a_second_has_passed) {
  be_at("a", {"b"});
  net.close(lines_to("a").back());
  for (int i = 0; i < 9; ++i) {
    pass(100ms);
    greet("a", "master", "hz");
    EXPECT_FALSE(is_open()) << i;
  }
}

TEST_F(redis_sentinel, an_announced_master_is_moved_to_although_it_answers_late) {
  be_at("a");
  for (const std::string& s : all) announce(s);
  for (int i = 0; i < 70; ++i) {
    pass(100ms);
    for (const std::string& s : all) answer(s, "b", 1);
  }
  ASSERT_EQ(server(), "ha");
  for (int i = 0; i < 20; ++i) {
    pass(100ms);
    for (const std::string& s : all) answer(s, "b", 1);
    greet("b", "master", "hb", "ha");
  }
  EXPECT_EQ(server(), "hb");
}

TEST_F(redis_sentinel, an_announced_master_is_moved_to_though_the_old_one_goes_on) {
  be_at("a");
  for (const std::string& s : all) announce(s);
  pass();
  for (const std::string& s : all) answer(s, "b", 1);
  ASSERT_EQ(server(), "ha");
  greet("b", "master", "hb", "ha");
  pass();
  greet("b", "master", "hb", "ha");
  EXPECT_EQ(server(), "hb");
}

TEST_F(redis_sentinel, sentinels_are_left_alone_while_the_master_works) {
  be_at("a");
  for (int i = 0; i < 3; ++i) {
    pass(200ms);
    for (const std::string& s : all) answer(s, "a");
  }
  pass(1s);
  for (const std::string& s : all)
    for (const std::size_t n : lines_to(s)) EXPECT_EQ(net.received(n), "");
}

TEST_F(redis_sentinel, a_sentinel_with_another_opinion_moves_nobody) {
  be_at("a");
  answer("s3", "b", 1);
  pass(200ms);
  EXPECT_TRUE(lines_to("b").empty());
  EXPECT_EQ(server(), "ha");
}

TEST_F(redis_sentinel, reported_sentinels_are_queried_while_there_are_fewer_than_32) {
  const std::vector<std::string> in_url = all;
  for (int i = 4; i <= 60; ++i) all.push_back("s" + std::to_string(i));
  for (const std::string& s : in_url) answer(s, "a");
  const auto is_queried = [&](const std::string& s) { return !lines_to(s).empty(); };
  EXPECT_EQ(std::ranges::count_if(all, is_queried), 32);
}

TEST_F(redis_sentinel, an_heir_is_looked_for_among_32_servers) {
  std::vector<std::string> replicas;
  for (int i = 0; i < 40; ++i) replicas.push_back("r" + std::to_string(i));
  be_at("a", replicas);
  net.close(lines_to("a").back());
  pass(200ms);
  const auto is_asked = [&](const std::string& host) { return !lines_to(host).empty(); };
  EXPECT_EQ(std::ranges::count_if(replicas, is_asked), 32);
}

TEST_F(redis_sentinel, an_unknown_address_of_a_replica_is_not_connected_to) {
  be_at("a", {"?", "b"});
  net.close(lines_to("a").back());
  pass(200ms);
  EXPECT_EQ(lines_to("b").size(), 1u);
  EXPECT_TRUE(lines_to("?").empty());
}

TEST_F(redis_sentinel, reported_sentinels_are_queried_once_those_of_the_url_have_been_tried) {
  const std::vector<std::string> in_url = all;
  all.push_back("s4");
  answer(in_url.front(), "a");
  EXPECT_TRUE(lines_to("s4").empty());
  for (const std::string& s : in_url) answer(s, "a");
  EXPECT_FALSE(lines_to("s4").empty());
}

TEST_F(redis_sentinel, an_address_is_translated_by_the_map) {
  where.map = {{{"a", 6379, {}}, {"reached", 6379, {}}}};
  answer("s1", "a");
  answer("s2", "a");
  EXPECT_TRUE(lines_to("a").empty());
  greet("reached", "master", "ha");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_sentinel, each_server_is_asked_over_one_connection) {
  for (int i = 0; i < 3; ++i) {
    be_at("a", {"b"});
    for (const std::string& s : all) announce(s);
    pass();
  }
  net.close(lines_to("a").back());
  pass(200ms);
  EXPECT_EQ(lines_to("b").size(), 1u);
}

TEST_F(redis_sentinel, one_that_answers_at_two_addresses_has_one_vote) {
  answer_as("s1", "s1", "a");
  answer_as("s1", "s2", "a");
  EXPECT_TRUE(lines_to("a").empty());
  answer("s3", "a");
  EXPECT_FALSE(lines_to("a").empty());
}

// No caller drives the other loop while a client only waits for messages.
TEST_F(redis_sentinel, sentinels_are_asked_by_the_thread_of_the_client) {
  pass();
  const std::size_t line = lines_to("s1").front();
  net.open(line);
  net.users.front()->flush();
  EXPECT_EQ(net.lines[line]->written, "");
  ASSERT_EQ(net.users.size(), 2u);
  net.users.back()->flush();
  EXPECT_NE(net.lines[line]->written, "");
}

// One of them counts although the connection to it was lost meanwhile.
TEST_F(redis_sentinel, sentinels_that_are_lost_keep_no_others_from_being_queried) {
  const std::vector<std::string> in_url = all;
  answer("s1", "a");
  for (const std::size_t n : lines_to("s1")) net.close(n);
  all.push_back("s4");
  answer("s2", "a");
  answer("s3", "a");
  EXPECT_FALSE(lines_to("s4").empty());
}

class redis_sentinel_majority : public some_sentinels {
 protected:
  redis_sentinel_majority() : some_sentinels(with_majority()) {}
  static settings with_majority() {
    settings s = at({"s1", "s2", "s3"});
    s.by_majority = true;
    return s;
  }
};

// The master may have lost some of its replicas, which are counted all the same.
TEST_F(redis_sentinel_majority, counts_the_replicas_that_the_sentinels_know) {
  for (const std::string& s : all) answer(s, "a", 0, {"b", "c", "d"});
  const std::lock_guard guard(reactor.mutex());
  EXPECT_EQ(over.node_of("").replicas_needed(), 2u);
}

TEST_F(redis_sentinel, a_named_server_that_is_still_a_replica_is_tried_at_growing_intervals) {
  answer("s1", "b", 1);
  answer("s2", "b", 1);
  for (int i = 0; i < 15; ++i) {
    greet("b", "slave", "ha");
    pass(100ms);
  }
  const auto is_to_b = [](const auto& l) { return l->host == "b"; };
  EXPECT_LE(std::ranges::count_if(net.lines, is_to_b), 28) << "with one look in 75 ms at most";
}

}  // namespace
}  // namespace holdfast::redis
