// One name that leads to several servers of Redis.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/layouts/string/grant_rules.hpp"
#include "backend/redis/transport/older_connections.hpp"
#include "tests/unit/backend/redis/layouts/two_nodes.hpp"
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using redis::lane;
using redis::lineage;
using redis::server_identity;
using namespace std::chrono_literals;

server_identity master(const char* run_id, const char* history, const char* before) {
  server_identity s;
  s.run_id = run_id;
  s.role = redis::server_role::master;
  s.history = history;
  s.history_before = before;
  return s;
}

std::string a_master_that_was_replaced_is_refused() {
  lineage l;
  l.judge_commands(master("a", "ha", ""));
  l.judge_commands(master("b", "hb", "ha"));
  const auto next = l.judge_commands(master("a", "ha", ""));
  return next == lineage::action::refuse ? "" : "it is led back to the older master";
}

std::string a_master_with_a_new_reign_is_joined_anew() {
  lineage l;
  l.judge_commands(master("a", "ha", ""));
  const auto next = l.judge_probe(master("a", "hc", "hb"));
  return next == lineage::action::move ? "" : "leases from before its demotion are not confirmed";
}

std::string a_master_that_does_not_hear_from_the_newer_one_is_refused() {
  lineage l;
  l.judge_commands(master("a", "ha", ""));
  server_identity newer = master("b", "hb", "ha"), older = master("a", "ha", "");
  newer.address = "10.0.0.2:6379";
  newer.told_at += 1s;
  l.judge_commands(newer);
  older.replicas = {{newer.address, 3s}};
  older.asked_at += 3s;
  return l.judge_commands(older) == lineage::action::refuse ? ""
                                                            : "it is led back to the older master";
}

std::string a_lane_joins_the_server_of_the_commands_alone() {
  lineage l;
  l.judge_commands(master("a", "ha", ""));
  const auto next = l.judge_lane(master("b", "hb", ""));
  return next == lineage::action::retry ? "" : "renewals go to another server than commands";
}

std::string what_was_left_at_a_server_is_known_on_the_return() {
  redis::older_connections older;
  older.add("a", 7, {});
  older.add("b", 3, {});
  return older.of("a", {}).size() == 1 ? "" : "the abandoned connection lives on";
}

std::string a_push_of_another_server_proves_nothing() {
  return redis::grant_rules::is_of_server("0123", "4567") ? "it is taken for a grant" : "";
}

std::string a_push_of_another_node_proves_nothing() {
  redis::two_nodes w;
  w.held("first-job");
  w.held("second-job");
  const redis::recorded_claim& waiter = w.held("second-job");
  w.publish_grant_at_first(waiter, "second-job");
  return waiter.log.empty() ? "" : "it is taken for a grant of the server that has the lock";
}

// A transport with all three connections to one server.
class three_lanes final : public redis::two_transports {
 public:
  three_lanes() {
    have_three();
    a.in_use = true;
  }
  void send() {
    a.to_send = 1;
    reactor.flush();
  }
  using two_transports::a;
  using two_transports::greet;
  using two_transports::is_ready;
  using two_transports::net;
  using two_transports::one;
  using two_transports::reactor;

 private:
  void TestBody() override {}
};

std::string a_reply_after_the_end_of_another_connection_is_doubted() {
  three_lanes s;
  s.send();
  s.net.close(2);
  s.net.reply(0, "+x\r\n");
  return s.a.take_log() == "down =x? " ? "" : "the reply counts";
}

std::string a_refused_transaction_puts_the_data_in_doubt() {
  three_lanes s;
  {
    const std::lock_guard guard(s.reactor.mutex());
    s.one.write_commands([&](redis::request_writer& w) {
      w.plain("EXEC");
      w.expect(s.a, 2, s.net.now());
    });
  }
  s.net.reply(0, "-READONLY You can't write against a read only replica.\r\n-EXECABORT x\r\n");
  return s.a.take_log().starts_with("doubt ") ? "" : "numbers go on as if nothing had been said";
}

std::string a_replica_is_left() {
  three_lanes s;
  s.send();
  s.net.reply(0, "-READONLY You can't write against a read only replica.\r\n");
  return s.is_ready(lane::commands) ? "the client stays at the replica" : "";
}

std::string a_promotion_is_noticed_though_nothing_ends() {
  three_lanes s;
  s.send();
  s.net.reply(0, "+x\r\n");
  s.net.time.advance(1200ms);
  if (s.net.lines.size() > 3) s.greet(3, "r2", "hb", "ha");
  return s.is_ready(lane::commands) ? "the client stays at the older master" : "";
}

std::string a_master_that_follows_by_a_new_name_is_noticed() {
  three_lanes s;
  s.send();
  s.net.reply(0, "+x\r\n");
  s.net.time.advance(1200ms);
  if (s.net.lines.size() > 3) s.greet(3, "r2", "hc", "hb");
  if (!s.net.received(0).ends_with("INFO replication")) return "its own server is not asked again";
  s.net.reply(0, redis::replication("hb"));
  return s.is_ready(lane::commands) ? "the client stays at the older master" : "";
}

std::string a_master_that_follows_an_older_one_again_is_left() {
  three_lanes s;
  s.net.close(0);
  s.net.time.advance(0ms);
  s.greet(3, "r2", "hb", "ha");
  s.net.time.advance(0ms);
  for (std::size_t n = 4; n < s.net.lines.size(); ++n) s.greet(n, "r2", "hb", "ha");
  s.send();
  s.net.reply(3, "+PONG\r\n+x\r\n");
  const std::size_t before = s.net.lines.size();
  s.net.time.advance(1200ms);
  if (s.net.lines.size() > before) s.greet(before, "r1", "ha");
  if (!s.net.received(3).ends_with("INFO replication")) return "its own server is not asked again";
  s.net.reply(3, redis::replication("ha", "0", "slave"));
  return s.is_ready(lane::commands) ? "the client stays at the replica" : "";
}

std::string a_lane_without_a_run_id_is_where_the_messages_are() {
  lineage l;
  server_identity elsewhere;
  elsewhere.has_listener = false;
  l.judge_commands({});
  const auto next = l.judge_lane(elsewhere);
  return next == lineage::action::retry ? "" : "renewals go to another server than commands";
}

std::string an_older_connection_for_messages_is_not_counted() {
  redis::subscriptions s;
  s.renew_own(1);
  const std::string before = s.own();
  s.on_lost();
  s.renew_own(2);
  return s.own() == before ? "it is counted though it may be at another server" : "";
}

std::string a_lease_is_confirmed_at_another_server() {
  redis::on_model w;
  const client c = w.open("ttl=60s");
  const lease held = c.mutex("job").acquire();
  w.model.restart(sim::kept::nothing);
  w.pass(20ms);
  return held.held() ? "it is held though the server has forgotten it" : "";
}

std::string a_lease_is_confirmed_where_the_master_was_a_replica_meanwhile() {
  three_lanes s;
  s.net.close(0);
  s.net.time.advance(0ms);
  s.greet(3, "r1", "hb", "ha");
  return s.a.moves == 1 ? "" : "it is believed though another master may have granted the lock";
}

std::string a_lease_is_doubtful_until_another_server_confirms_it() {
  redis::on_model w;
  for (const std::string layout : {"string", "lua"}) {
    const client c = w.open("ttl=60s&metrics=1&layout=" + layout);
    const lease held = c.mutex(layout).acquire();
    w.model.restart(sim::kept::everything);
    w.pass(20ms);
    if (!held.held()) return "it is lost though the server knows it";
    if (c.metrics().doubts == 0) return "the holder does not learn that the server is another one";
  }
  return "";
}

constexpr scenario of_lineage[] = {
    {mutant::replaced_master_joined, "redis", a_master_that_was_replaced_is_refused},
    {mutant::new_reign_unnoticed, "redis", a_master_with_a_new_reign_is_joined_anew},
    {mutant::silent_replica_believed, "redis",
     a_master_that_does_not_hear_from_the_newer_one_is_refused},
    {mutant::lanes_at_two_servers, "redis", a_lane_joins_the_server_of_the_commands_alone},
    {mutant::listener_not_counted, "redis", a_lane_without_a_run_id_is_where_the_messages_are},
    {mutant::own_channel_kept, "redis", an_older_connection_for_messages_is_not_counted},
    {mutant::connections_left_behind, "redis", what_was_left_at_a_server_is_known_on_the_return},
    {mutant::push_of_another_server, "redis", a_push_of_another_server_proves_nothing},
    {mutant::push_of_another_server, "redis", a_push_of_another_node_proves_nothing},
    {mutant::reply_of_replaced_server, "redis",
     a_reply_after_the_end_of_another_connection_is_doubted},
    {mutant::doubt_in_transaction_missed, "redis", a_refused_transaction_puts_the_data_in_doubt},
    {mutant::demoted_master_kept, "redis", a_replica_is_left},
    {mutant::name_not_probed, "redis", a_promotion_is_noticed_though_nothing_ends},
    {mutant::own_history_not_asked, "redis", a_master_that_follows_by_a_new_name_is_noticed},
    {mutant::follower_of_returned_master_kept, "redis",
     a_master_that_follows_an_older_one_again_is_left},
    {mutant::leases_unconfirmed, "redis", a_lease_is_confirmed_at_another_server},
    {mutant::leases_of_old_reign_kept, "redis",
     a_lease_is_confirmed_where_the_master_was_a_replica_meanwhile},
    {mutant::moved_lease_undoubted, "redis", a_lease_is_doubtful_until_another_server_confirms_it},
};

}  // namespace

std::span<const scenario> lineage_scenarios() { return of_lineage; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {

std::span<const scenario> lineage_scenarios() { return {}; }

}  // namespace holdfast::mutants
#endif
