// The masters that a client of a cluster connects to, and its reasons for not being open; the test
// plays all nodes.
#include "backend/redis/topologies/cluster/cluster.hpp"

#include <set>

#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

const std::string one_master = "a m1:6379@1 master - 0 0 1 connected 0-16383\n";
// The slot of the key "x" is 16287.
const std::string two_masters = "a m1:6379@1 master - 0 0 1 connected 0-8191\n"
                                "b m2:6379@1 master - 0 0 2 connected 8192-16383\n";
const std::string three_masters = "a m1:6379@1 master - 0 0 1 connected 0-8191\n"
                                  "b m2:6379@1 master - 0 0 2 connected 8192-12000\n"
                                  "c m3:6379@1 master - 0 0 3 connected 12001-16383\n";
const std::string x_at_the_first = "a m1:6379@1 master - 0 0 1 connected 0-8191 16287\n"
                                   "b m2:6379@1 master - 0 0 2 connected 8192-16286 16288-16383\n";

class redis_cluster_topology : public testing::Test {
 protected:
  redis_cluster_topology() {
    const std::lock_guard guard(reactor.mutex());
    over.open(net.now());
  }
  ~redis_cluster_topology() override { reactor.stop(); }

  static settings four_seeds() {
    settings s;
    s.retry_base = 50ms;
    s.connect_timeout = 1s;
    s.op_timeout = 4s;
    s.probe = 1s;
    s.text = "redis+cluster://n1,n2,n3,n4";
    for (const char* host : {"n1", "n2", "n3", "n4"}) {
      endpoint e = s;
      e.where = {host, 6379, {}};
      s.seeds.push_back(e);
    }
    return s;
  }
  void pass(base::duration d = 0ms) { net.time.advance(d); }
  std::vector<std::size_t> lines_to(const std::string& host) const { return net.lines_to(host); }
  std::string hosts() const {
    std::string out;
    for (const auto& l : net.lines) out += l->host + ' ';
    return out;
  }
  // Answers the handshakes of the new connections to a host.
  void greet(const std::string& host) {
    for (const std::size_t n : lines_to(host)) {
      if (!greeted.insert(n).second) continue;
      net.open(n);
      net.received(n);
      net.reply(n, "+OK\r\n:" + std::to_string(n + 1) + "\r\n" + introduction(host));
      net.flush();
      const std::string asked = commands_in(net.lines[n]->written);
      if (!asked.starts_with("CLIENT KILL")) continue;
      net.received(n);
      for (std::size_t at = 0; (at = asked.find("KILL", at)) != asked.npos; ++at)
        net.reply(n, ":1\r\n");
    }
  }
  // A node answers all that it is asked. Returns the number of its answers.
  std::size_t answer(const std::string& host, const std::string& bytes) {
    std::size_t out = 0;
    greet(host);
    for (const std::size_t n : lines_to(host)) {
      if (net.received(n).find("CLUSTER NODES") == std::string::npos) continue;
      net.reply(n, bytes);
      ++out;
    }
    return out;
  }
  std::size_t tell(const std::string& host, const std::string& nodes) {
    return answer(host, bulk(nodes));
  }
  void report_to_all(const std::string& nodes) {
    for (const char* host : {"n1", "n2", "n3", "n4", "m1", "m2"}) tell(host, nodes);
  }
  // The masters are connected, and no node is asked any more.
  void settle(const std::string& nodes) {
    pass();
    tell("n1", nodes);
    for (const char* host : {"m1", "m2"}) greet(host);
    pass(130ms);
    report_to_all(nodes);
    ASSERT_TRUE(is_open());
    for (const char* host : {"n1", "n2", "n3", "n4"}) ASSERT_TRUE(lines_to(host).empty()) << host;
  }
  bool is_open() {
    const std::lock_guard guard(reactor.mutex());
    return over.is_open();
  }
  base::failure why_not_open(bool is_overdue = false) {
    const std::lock_guard guard(reactor.mutex());
    return over.why_not_open(is_overdue);
  }
  std::string host_of(std::string_view key) {
    const std::lock_guard guard(reactor.mutex());
    return over.node_of(key).where().where.host;
  }
  bool is_ready(std::string_view key) {
    const std::lock_guard guard(reactor.mutex());
    return over.node_of(key).is_ready(lane::commands);
  }
  std::string hosts_with_keys() {
    const std::lock_guard guard(reactor.mutex());
    std::string out;
    for (const transport* t : over.with_keys()) out += t->where().where.host + ' ';
    return out;
  }
  // The requests of the topology that its nodes have received since the last call.
  std::size_t questions() {
    std::size_t out = 0;
    for (const char* host : {"n1", "n2", "n3", "n4", "m1", "m2"}) {
      greet(host);
      for (const std::size_t n : lines_to(host))
        out += net.received(n).find("CLUSTER NODES") != std::string::npos;
    }
    return out;
  }
  // The server of one key answers to a request for the key "x".
  void redirect(std::string_view by_that_of, not_executed why, const std::string& error) {
    const std::lock_guard guard(reactor.mutex());
    over.on_redirected("x", over.node_of(by_that_of), {why, error}, net.now());
  }

  scripted_network net;
  io::client_reactor reactor{net, {"alarm", "loop", "own"}, "redis+cluster://n1,n2,n3,n4"};
  settings where = four_seeds();
  cluster over{reactor, where, two_scripts};
  std::set<std::size_t> greeted;
};

TEST_F(redis_cluster_topology, three_nodes_are_asked_at_once_and_then_the_next_ones) {
  pass();
  EXPECT_EQ(hosts(), "n1 n2 n3 ");
  pass(74ms);
  EXPECT_EQ(hosts(), "n1 n2 n3 ");
  pass(52ms);
  EXPECT_EQ(hosts(), "n1 n2 n3 n4 ");
}

TEST_F(redis_cluster_topology, is_open_once_each_master_is_connected) {
  pass();
  tell("n1", two_masters);
  EXPECT_FALSE(is_open());
  greet("m1");
  EXPECT_FALSE(is_open());
  greet("m2");
  EXPECT_TRUE(is_open());
  EXPECT_EQ(host_of("x"), "m2");
  EXPECT_EQ(host_of("holdfast:n"), "m1");
}

TEST_F(redis_cluster_topology, nodes_are_left_once_all_masters_are_connected) {
  settle(two_masters);
  pass(10s);
  for (const char* host : {"n1", "n2", "n3", "n4"}) EXPECT_TRUE(lines_to(host).empty()) << host;
}

TEST_F(redis_cluster_topology, one_node_is_asked_now_and_then_while_a_lock_is_in_use) {
  counting_source of_locks;
  of_locks.in_use = true;
  of_locks.over = &over.node_of("x");
  settle(two_masters);
  {
    const std::lock_guard guard(reactor.mutex());
    of_locks.over->serve(of_locks);
    reactor.wake_by(net.now());
  }
  std::set<std::string> asked;
  for (int i = 0; i < 40; ++i) {
    pass(250ms);
    std::size_t at_once = 0;
    for (const char* host : {"n1", "n2", "n3", "n4", "m1", "m2"}) {
      const std::size_t answers = tell(host, two_masters);
      if (answers > 0) asked.insert(host);
      at_once += answers;
    }
    EXPECT_LE(at_once, 1u);
  }
  EXPECT_GT(asked.size(), 1u);
}

TEST_F(redis_cluster_topology, a_refused_request_makes_other_nodes_be_asked) {
  settle(two_masters);
  std::set<std::string> asked;
  for (int i = 0; i < 4; ++i) {
    pass(2s);
    {
      const std::lock_guard guard(reactor.mutex());
      over.node_of("x").note_refusal("CLUSTERDOWN", net.now());
    }
    pass();
    for (const char* host : {"n1", "n2", "n3", "n4"})
      if (!lines_to(host).empty()) asked.insert(host);
    report_to_all(two_masters);
  }
  EXPECT_EQ(asked.size(), 4u);
}

TEST_F(redis_cluster_topology, an_announced_address_is_translated_by_the_map) {
  where.map = {{{"m1", 6379, {}}, {"reached", 6379, {}}}};
  pass();
  tell("n1", one_master);
  EXPECT_TRUE(lines_to("m1").empty());
  greet("reached");
  EXPECT_TRUE(is_open());
}

TEST_F(redis_cluster_topology, a_server_that_is_no_node_is_a_wrong_url) {
  pass();
  answer("n1", "-ERR This instance has cluster support disabled\r\n");
  EXPECT_EQ(why_not_open().code, errc::bad_url);
  EXPECT_NE(why_not_open().text.find("open it as redis://"), std::string::npos);
}

TEST_F(redis_cluster_topology, is_waited_for_while_its_nodes_load_their_data) {
  for (int i = 0; i < 4; ++i) {
    pass(100ms);
    for (const char* host : {"n1", "n2", "n3", "n4"})
      answer(host, "-LOADING Redis is loading the dataset in memory\r\n");
  }
  EXPECT_FALSE(why_not_open().code) << why_not_open().text;
  EXPECT_NE(why_not_open(true).text.find("loading its data"), std::string::npos);
  pass(1s);
  report_to_all(two_masters);
  for (const char* host : {"m1", "m2"}) greet(host);
  EXPECT_TRUE(is_open());
}

TEST_F(redis_cluster_topology, a_user_without_the_right_to_ask_is_refused) {
  pass();
  answer("n1", "-NOPERM this user has no permissions to run the 'cluster|nodes' command\r\n");
  EXPECT_EQ(why_not_open().code, errc::refused);
}

TEST_F(redis_cluster_topology, nodes_that_do_not_answer_are_named_when_the_time_is_over) {
  pass();
  EXPECT_FALSE(why_not_open().code);
  EXPECT_EQ(why_not_open(true).text, "no node of the cluster answers");
  net.close(lines_to("n1").front());
  EXPECT_FALSE(why_not_open().code);
  EXPECT_EQ(why_not_open(true).code, errc::unavailable);
  EXPECT_EQ(why_not_open(true).text, "no node of the cluster can be queried: n1:6379 (closed)");
}

TEST_F(redis_cluster_topology, an_answer_that_cannot_be_read_is_none) {
  pass();
  tell("n1", "it works");
  EXPECT_FALSE(is_open());
  EXPECT_NE(why_not_open(true).text.find("n1:6379 (its answer to CLUSTER NODES cannot be read)"),
            std::string::npos);
}

TEST_F(redis_cluster_topology, a_slot_without_a_master_is_named_when_the_time_is_over) {
  pass();
  tell("n1", "a m1:6379@1 master - 0 0 1 connected 0-7 9-16383\n");
  greet("m1");
  EXPECT_FALSE(is_open());
  EXPECT_FALSE(why_not_open().code);
  EXPECT_NE(why_not_open(true).text.find("serves the slot 8;"), std::string::npos)
      << why_not_open(true).text;
}

TEST_F(redis_cluster_topology, a_master_that_cannot_be_reached_is_named_with_the_option) {
  pass();
  tell("n1", one_master);
  EXPECT_EQ(why_not_open(true).code, errc::unavailable);
  net.close(lines_to("m1").front(), {errc::unavailable, "connection refused"});
  EXPECT_FALSE(why_not_open().code) << "it may be replaced";
  EXPECT_EQ(why_not_open(true).text,
            "the master at m1:6379, as the cluster announces it: connection refused; where this "
            "client reaches it elsewhere, give ?map=m1:6379=host:port");
}

TEST_F(redis_cluster_topology, a_master_that_rejects_the_client_is_named_at_once) {
  pass();
  tell("n1", one_master);
  const std::size_t line = lines_to("m1").front();
  net.open(line);
  net.received(line);
  net.reply(line, "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(why_not_open().code, errc::refused);
  EXPECT_TRUE(why_not_open().text.starts_with("the master at m1:6379, as the cluster"));
  EXPECT_EQ(why_not_open().text.find("?map="), std::string::npos);
}

TEST_F(redis_cluster_topology,
       a_slot_follows_its_own_master_though_the_new_one_has_no_newer_epoch) {
  settle(two_masters);
  redirect("x", not_executed::moved, "MOVED 16287 m1:6379");
  pass(10ms);
  report_to_all(x_at_the_first);
  EXPECT_EQ(host_of("x"), "m1");
}

TEST_F(redis_cluster_topology, a_late_answer_of_another_master_moves_no_slot) {
  settle(two_masters);
  redirect("holdfast:n", not_executed::moved, "MOVED 16287 m1:6379");
  pass(10ms);
  report_to_all(x_at_the_first);
  EXPECT_EQ(host_of("x"), "m2");
}

TEST_F(redis_cluster_topology, a_slot_that_is_only_on_its_way_makes_no_node_be_asked) {
  settle(two_masters);
  const std::string before = hosts();
  redirect("x", not_executed::ask, "ASK 16287 m1:6379");
  pass(1s);
  EXPECT_EQ(hosts(), before);
  redirect("x", not_executed::moved, "MOVED 16287 m1:6379");
  pass(10ms);
  EXPECT_NE(hosts(), before);
}

TEST_F(redis_cluster_topology, is_unavailable_while_a_master_with_slots_is) {
  settle(two_masters);
  EXPECT_FALSE(over.is_unavailable());
  EXPECT_TRUE(over.status().connected);
  EXPECT_EQ(over.status().trouble.text, "");
  net.close(lines_to("m2").front());
  EXPECT_TRUE(over.is_unavailable());
  const seam::connection_status s = over.status();
  EXPECT_FALSE(s.connected);
  EXPECT_EQ(s.trouble.text, "m2:6379: no connection: closed");
  EXPECT_EQ(s.last_failure, "m2:6379 0 ms ago: closed");
}

TEST_F(redis_cluster_topology, nodes_are_asked_until_each_master_is_connected) {
  pass();
  tell("n1", two_masters);
  greet("m1");
  tell("n2", two_masters);
  EXPECT_FALSE(lines_to("n1").empty()) << "it has been left";
  for (int i = 0; i < 5; ++i) {
    pass(126ms);
    std::size_t answers = 0;
    for (const char* host : {"n1", "n2", "n3", "n4", "m1"}) answers += tell(host, two_masters);
    EXPECT_GT(answers, 1u) << "one would be asked if all worked";
  }
}

// No caller drives the other loop while a client only waits for messages.
TEST_F(redis_cluster_topology, nodes_are_asked_by_the_thread_of_the_client) {
  pass();
  net.open(0);
  net.users.front()->flush();
  EXPECT_EQ(net.lines[0]->written, "");
  ASSERT_EQ(net.users.size(), 2u);
  net.users.back()->flush();
  EXPECT_NE(net.lines[0]->written, "");
}

TEST_F(redis_cluster_topology, each_node_is_asked_over_one_connection) {
  pass();
  for (int i = 0; i < 20; ++i) {
    tell("n1", two_masters);
    greet("m1");
    pass(126ms);
    for (const char* host : {"n1", "n2", "n3", "n4"}) EXPECT_LE(lines_to(host).size(), 1u) << host;
    for (const char* host : {"m1", "m2"})
      EXPECT_LE(lines_to(host).size(), 2u) << "one to ask it, and one for commands";
  }
}

TEST_F(redis_cluster_topology, nodes_are_asked_again_for_a_master_that_only_the_last_answer_names) {
  pass();
  tell("n1", two_masters);
  for (const char* host : {"m1", "m2"}) greet(host);
  pass(130ms);
  report_to_all(three_masters);
  EXPECT_FALSE(is_open());
  questions();
  pass(130ms);
  EXPECT_GE(questions(), 1u);
}

TEST_F(redis_cluster_topology, masters_without_slots_have_no_keys) {
  settle(two_masters);
  EXPECT_EQ(hosts_with_keys(), "m1 m2 ");
  redirect("x", not_executed::moved, "MOVED 16287 m1:6379");
  pass(10ms);
  report_to_all("a m1:6379@1 master - 0 0 3 connected 0-16383\n"
                "b m2:6379@1 master - 0 0 2 connected\n");
  EXPECT_EQ(hosts_with_keys(), "m1 ");
}

TEST_F(redis_cluster_topology, a_master_without_slots_is_not_needed) {
  settle(two_masters);
  redirect("holdfast:n", not_executed::moved, "MOVED 1 m2:6379");
  pass(10ms);
  report_to_all("a m1:6379@1 master - 0 0 1 connected\n"
                "b m2:6379@1 master - 0 0 3 connected 0-16383\n");
  const auto lose = [&](const char* host) {
    for (const std::size_t n : lines_to(host)) net.close(n);
  };
  lose("m1");
  EXPECT_TRUE(is_open());
  lose("m2");
  EXPECT_FALSE(is_open());
  EXPECT_TRUE(why_not_open(true).text.starts_with("the master at m2:6379"))
      << why_not_open(true).text;
}

TEST_F(redis_cluster_topology, nodes_are_kept_where_a_refusal_follows_the_question) {
  settle(two_masters);
  const auto refuse = [&] {
    const std::lock_guard guard(reactor.mutex());
    over.node_of("x").note_refusal("CLUSTERDOWN", net.now());
  };
  refuse();
  pass(2s);
  std::vector<std::string> asked;
  for (const std::string host : {"n1", "n2", "n3", "n4"})
    if (!lines_to(host).empty()) asked.push_back(host);
  ASSERT_FALSE(asked.empty());
  greet(asked.front());
  refuse();
  EXPECT_EQ(tell(asked.front(), two_masters), 1u);
  EXPECT_FALSE(lines_to(asked.front()).empty()) << "it answers a question from before the refusal";
}

TEST_F(redis_cluster_topology, a_master_that_is_silent_makes_other_nodes_be_asked) {
  counting_source of_locks;
  settle(two_masters);
  {
    const std::lock_guard guard(reactor.mutex());
    of_locks.over = &over.node_of("x");
    of_locks.over->serve(of_locks);
  }
  of_locks.to_send = 1;
  reactor.flush();
  pass(999ms);
  EXPECT_EQ(questions(), 0u);
  pass(1ms);
  EXPECT_EQ(of_locks.take_log(), "silent ");
  pass();
  EXPECT_GE(questions(), 1u);
}

TEST_F(redis_cluster_topology, a_master_that_rejects_the_client_is_named_while_another_connects) {
  pass();
  tell("n1", two_masters);
  const std::size_t line = lines_to("m2").front();
  net.open(line);
  net.received(line);
  net.reply(line, "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(why_not_open().code, errc::refused);
}

TEST_F(redis_cluster_topology, the_trouble_of_the_first_master_that_has_any_is_shown) {
  settle(two_masters);
  for (const char* host : {"m2", "m1"}) net.close(lines_to(host).front());
  EXPECT_EQ(over.status().trouble.text, "m1:6379: no connection: closed");
}

// The pauses between the questions stay long, however many of the other masters come back.
TEST_F(redis_cluster_topology, nodes_are_asked_once_a_second_in_a_long_outage) {
  settle(two_masters);
  const auto ask_for = [&](base::duration time, base::duration step) {
    std::size_t out = 0;
    for (base::duration past{}; past < time; past += step) {
      pass(step);
      for (const char* host : {"n1", "n2", "n3", "n4"}) out += tell(host, two_masters);
    }
    return out;
  };
  for (const char* host : {"m1", "m2"}) net.close(lines_to(host).front());
  ask_for(40s, 500ms);
  for (int i = 0; i < 40 && !is_ready("holdfast:n"); ++i) {
    pass(100ms);
    greet("m1");
  }
  ASSERT_TRUE(is_ready("holdfast:n"));
  EXPECT_LE(ask_for(5s, 50ms), 21u) << "three at once, and the shortest pause has 750 ms";
}

TEST_F(redis_cluster_topology, asks_a_limited_number_of_nodes) {
  std::string nodes = "a m1:6379@1 master - 0 0 1 connected 0-8191\n";
  std::set<std::string> asked;
  for (int i = 0; i < 100; ++i) {
    const std::string id = 'r' + std::to_string(i);
    nodes += id + ' ' + id + ":6379@1 slave a 0 0 1 connected\n";
  }
  for (int i = 0; i < 100; ++i) {
    pass(1s);
    for (const auto& l : net.lines) asked.insert(l->host);
    for (const std::string& host : asked) tell(host, nodes);
  }
  EXPECT_EQ(asked.size(), 64u);
}

}  // namespace
}  // namespace holdfast::redis
