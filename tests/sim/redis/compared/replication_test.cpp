// Two real servers report a change of roles as the pair of models does.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testkit/servers/redis_server.hpp"
#include "tests/sim/redis/compared/answers_of_model.hpp"
#include "tests/sim/redis/compared/random_claims.hpp"
#include "tests/sim/redis/compared/two_servers.hpp"
#include "tests/sim/redis/model/redis_pair.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using testkit::redis_server;

// The lines of INFO that a client goes by. Ids are shown by a number, which counts them by their
// first use, and the other server's address by a word: they differ from run to run.
class shown_info {
 public:
  std::string show(const std::string& info) {
    constexpr std::string_view shown[] =
        {"role",          "master_link_status", "connected_slaves",
         "master_replid", "master_replid2",     "second_repl_offset",
         "run_id",        "aof_enabled",        "master_failover_state"};
    std::string out;
    for (std::size_t at = 0, end = 0; at < info.size(); at = end + 2) {
      end = std::min(info.find("\r\n", at), info.size());
      const std::string field = info.substr(at, end - at);
      const std::string name = field.substr(0, field.find(':'));
      if (std::ranges::find(shown, name) != std::end(shown))
        out += name + ':' + value_of(name, field.substr(name.size() + 1)) + '\n';
      if (name == "slave0")
        out += field.find("state=online") != field.npos ? "online\n" : "joins\n";
    }
    return out;
  }

 private:
  std::string value_of(const std::string& name, const std::string& text) {
    if (name == "second_repl_offset") return text == "-1" ? text : "known";
    if (!name.ends_with("_id") && name.find("replid") == name.npos) return text;
    if (text.find_first_not_of('0') == text.npos) return "none";
    return "id" + std::to_string(known_.emplace(text, known_.size()).first->second);
  }
  std::map<std::string, std::size_t> known_;
};

struct sim_replication : testing::Test {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    for (auto& one : real) one = std::make_unique<redis_server>();
    follow(1);
  }

  std::string real_info(int server) {
    redis_server& s = *real[static_cast<std::size_t>(server)];
    return s.command({"INFO", "server"}).text + s.command({"INFO", "persistence"}).text +
           s.command({"INFO", "replication"}).text;
  }
  std::string model_info(int server) {
    return answers_of_model(model.at(server), encoded({"INFO", "server"}) +
                                                  encoded({"INFO", "persistence"}) +
                                                  encoded({"INFO", "replication"}));
  }
  // The real ones need some time for it.
  void expect_same_reports(const std::string& after) {
    const std::string wanted =
        model_text.show(model_info(0)) + "---\n" + model_text.show(model_info(1));
    std::string seen;
    for (int i = 0; i < 2'000; ++i) {
      shown_info tried = real_text;
      seen = tried.show(real_info(0)) + "---\n" + tried.show(real_info(1));
      if (seen == wanted) {
        real_text = tried;
        return;
      }
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(wanted, seen) << "after " << after;
  }

  void command(int server, const std::vector<std::string>& words) {
    const auto reply = real[static_cast<std::size_t>(server)]->command(words);
    ASSERT_FALSE(reply.is_error()) << reply.text;
  }
  void follow(int server) {
    const int port = real[static_cast<std::size_t>(1 - server)]->port();
    command(server, {"REPLICAOF", "127.0.0.1", std::to_string(port)});
    model.follow(server);
  }
  // The last write of the test has reached it.
  void await_replica_of(int server) { command(server, {"WAIT", "1", "10000"}); }
  void promote(int server) {
    await_replica_of(1 - server);
    command(server, {"REPLICAOF", "NO", "ONE"});
    model.promote(server);
  }
  void fail_over(int master) {
    command(master, {"FAILOVER"});
    model.begin_failover();
    model.end_failover();
  }
  void write(int server, const std::string& key) {
    command(server, {"SET", key, "v"});
    answers_of_model(model.at(server), encoded({"SET", key, "v"}));
    model.deliver_all();
  }

  std::unique_ptr<redis_server> real[2];
  redis_pair model{[] {
                     return std::chrono::floor<std::chrono::microseconds>(
                         std::chrono::system_clock::now().time_since_epoch());
                   },
                   [] {}, [](int, std::chrono::milliseconds) {}};
  shown_info real_text, model_text;
};

TEST_F(sim_replication, is_reported_as_by_real_servers_when_roles_change) {
  expect_same_reports("the first replica's attachment");
  write(0, "a");
  promote(1);
  expect_same_reports("a promotion");
  follow(0);
  expect_same_reports("the demotion of a server that wrote nothing since");
  fail_over(1);
  expect_same_reports("a failover");
  write(0, "b");
  fail_over(0);
  expect_same_reports("a failover back");
  promote(0);
  write(1, "stray");
  follow(1);
  expect_same_reports("the demotion of a server that wrote more");
  EXPECT_EQ(real[1]->command({"EXISTS", "stray"}).number, 0);
  EXPECT_EQ(model.at(1).key_names(), model.at(0).key_names());
  promote(1);
  follow(0);
  expect_same_reports("a second promotion and a demotion");
  promote(0);
  expect_same_reports("two promotions");
}

TEST_F(sim_replication, an_append_only_file_is_reported_as_by_a_real_server) {
  expect_same_reports("the first replica's attachment");
  command(0, {"CONFIG", "SET", "appendonly", "yes"});
  model.at(0).set_keeps_log(true);
  expect_same_reports("the begin of an append-only file");
}

// Redis 6.2 forgets its history there.
TEST_F(sim_replication, of_a_master_that_restarts_is_reported_as_by_a_real_one) {
  if (real_info(0).find("redis_version:6.") != std::string::npos) GTEST_SKIP() << "Redis 6";
  expect_same_reports("the first replica's attachment");
  write(0, "a");
  await_replica_of(0);
  real[0]->restart(true);
  model.restart(0);
  expect_same_reports("a restart");
  promote(1);
  expect_same_reports("a promotion");
}

// A connection to a real server and one to its model, which get the same requests.
struct both_ends {
  both_ends(redis_server& r, model_redis& m)
      : real(r.socket_path()), model(m), handle(m.connect(end)) {}
  void send(const std::vector<command_words>& all) {
    for (const command_words& one : all) {
      real.write(encoded(one));
      model.receive(handle, encoded(one));
    }
  }
  void expect_same(std::string_view last) {
    const std::string answered = real.read_until(last);
    EXPECT_EQ(std::exchange(end.got, {}), answered);
  }
  raw_socket real;
  model_redis& model;
  collected_answers end;
  int handle;
};

TEST_F(sim_replication, a_published_message_reaches_the_replica_and_is_counted_at_its_own_server) {
  expect_same_reports("the first replica's attachment");
  both_ends at_master(*real[0], model.at(0)), at_replica(*real[1], model.at(1)),
      caller(*real[0], model.at(0)), caller_of_replica(*real[1], model.at(1));
  at_replica.send({{"SUBSCRIBE", "c"}});
  at_replica.expect_same(":1\r\n");
  const std::string script = "return redis.call('PUBLISH', 'c', ARGV[1])";
  caller.send({{"PUBLISH", "c", "1"}, {"EVAL", script, "0", "2"}});
  caller.expect_same(":0\r\n:0\r\n");
  model.deliver_all();
  at_replica.expect_same("\r\n2\r\n");
  at_master.send({{"SUBSCRIBE", "c"}});
  at_master.expect_same(":1\r\n");
  caller.send({{"MULTI"}, {"SET", "k", "v"}, {"PUBLISH", "c", "3"}, {"EXEC"}});
  caller.expect_same("+OK\r\n:1\r\n");
  model.deliver_all();
  at_master.expect_same("\r\n3\r\n");
  at_replica.expect_same("\r\n3\r\n");
  // One that is published at the replica stays there.
  caller_of_replica.send({{"PUBLISH", "c", "4"}, {"GET", "k"}, {"SET", "k", "w"}});
  caller_of_replica.expect_same("replica.\r\n");
  at_replica.expect_same("\r\n4\r\n");
  caller.send({{"PUBLISH", "c", "5"}});
  caller.expect_same(":1\r\n");
  at_master.expect_same("\r\n5\r\n");
}

// A last message ends what a subscriber at the replica is to be compared with.
TEST_F(sim_replication, messages_of_holdfasts_own_scripts_reach_the_replica_in_their_order) {
  expect_same_reports("the first replica's attachment");
  both_ends caller(*real[0], model.at(0)), listener(*real[1], model.at(1));
  listener.send({{"SUBSCRIBE", "hf:0000000000000001", "hf:0000000000000002", "end"}});
  listener.expect_same("\r\nend\r\n:3\r\n");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string last = "list " + std::to_string(seed);
    caller.send(random_claims(seed).list());
    caller.send({{"PUBLISH", "end", last}, {"ECHO", last}});
    const std::string answered = caller.real.read_until(last + "\r\n");
    ASSERT_TRUE(same_but_for_times(answered, std::exchange(caller.end.got, {}))) << seed;
    model.deliver_all();
    const std::string heard = listener.real.read_until(last + "\r\n");
    const std::string modelled = std::exchange(listener.end.got, {});
    ASSERT_TRUE(same_but_for_times(heard, modelled)) << seed << '\n' << heard << '\n' << modelled;
  }
}

TEST_F(sim_replication, wait_counts_replicas_that_have_what_its_own_connection_has_sent) {
  expect_same_reports("the first replica's attachment");
  both_ends writer(*real[0], model.at(0)), idle(*real[0], model.at(0));
  const auto confirm = [&] {
    model.deliver_all();
    model.confirm(0, model.delivered());
  };
  writer.send({{"SET", "a", "v"}, {"WAIT", "1", "10000"}, {"ECHO", "behind it"}});
  confirm();
  writer.expect_same("behind it\r\n");
  real[1]->stop();
  writer.send({{"SET", "a", "w"}, {"WAIT", "1", "100"}});
  const std::string answered = writer.real.read_until(":0\r\n");
  EXPECT_EQ(writer.end.got, "+OK\r\n");
  for (int i = 0; i < 100 && writer.end.got == "+OK\r\n"; ++i) {
    std::this_thread::sleep_for(10ms);
    model.answer_waits(0);
  }
  EXPECT_EQ(std::exchange(writer.end.got, {}), answered);
  idle.send({{"WAIT", "1", "100"}});
  idle.expect_same(":1\r\n");
  real[1]->go_on();
  writer.send({{"PUBLISH", "c", "1"}, {"WAIT", "1", "10000"}});
  confirm();
  writer.expect_same(":1\r\n");
}

TEST_F(sim_replication, writes_wait_for_the_end_of_a_failover_and_no_connection_is_closed) {
  expect_same_reports("the first replica's attachment");
  both_ends writer(*real[0], model.at(0)), reader(*real[0], model.at(0)),
      publisher(*real[0], model.at(0)), group(*real[0], model.at(0));
  real[1]->stop();
  write(0, "a");
  command(0, {"FAILOVER"});
  model.begin_failover();
  EXPECT_NE(real_info(0).find("master_failover_state:waiting-for-sync"), std::string::npos);
  EXPECT_NE(model_info(0).find("master_failover_state:waiting-for-sync"), std::string::npos);
  writer.send({{"GET", "a"}, {"SET", "b", "v"}, {"GET", "a"}});
  writer.expect_same("v\r\n");
  publisher.send({{"PUBLISH", "c", "1"}, {"PING"}});
  group.send({{"MULTI"}, {"GET", "a"}, {"EXEC"}, {"MULTI"}, {"SET", "b", "v"}, {"EXEC"}});
  group.expect_same("v\r\n+OK\r\n");
  reader.send({{"EXISTS", "b"}});
  reader.expect_same(":0\r\n");
  EXPECT_EQ(writer.end.got + publisher.end.got + group.end.got, "");
  real[1]->go_on();
  model.end_failover();
  writer.expect_same("v\r\n");
  publisher.expect_same("PONG\r\n");
  group.expect_same("errors.\r\n");
  expect_same_reports("a failover that waited");
}

}  // namespace
}  // namespace holdfast::sim
