// Which master sentinels name, and what replicas have.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "tests/unit/backend/redis/topologies/some_sentinels.hpp"
#include "tests/unit/backend/redis/transport/replicated_transport.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using redis::sentinel_answer;
using redis::sentinel_state;
using namespace std::chrono_literals;

// One of the sentinels a, b and c.
sentinel_state says(const std::string& id, const std::string& master, std::uint64_t epoch) {
  sentinel_answer out;
  out.id = id;
  out.master = {master, 6379, {}};
  out.epoch = epoch;
  out.others.emplace();
  for (const std::string other : {"a", "b", "c"})
    if (other != id) out.others->push_back({other, {other, 26379, {}}});
  return {id, true, out, {}};
}

std::string named_by(const std::vector<sentinel_state>& all) {
  const auto v = redis::judge(all, "m");
  return v.master ? v.master->host : "";
}

std::string one_sentinel_of_three_names_nobody() {
  return named_by({says("a", "old", 0)}).empty() ? "" : "a sentinel that was cut off is believed";
}

std::string one_sentinel_twice_is_no_majority() {
  return named_by({says("a", "old", 0), says("a", "old", 0)}).empty() ? "" : "one makes a majority";
}

std::string an_older_epoch_is_not_believed() {
  const auto named = named_by({says("a", "new", 1), says("b", "old", 0), says("c", "old", 0)});
  return named.empty() ? "" : "a master that was replaced is named";
}

class one_deployment final : public redis::some_sentinels {
 public:
  void TestBody() override {}
  std::string follows_a_stranger() {
    for (const std::string& s : all) answer(s, "a", 0, {"b"});
    greet("a", "master", "ha");
    net.close(lines_to("a").back());
    pass(200ms);
    greet("b", "master", "hz");
    return lines_to("b").empty() ? "" : "a server that nobody names is taken for the master";
  }
  std::string goes_back() {
    for (const std::string& s : all) answer(s, "a", 0, {"b"});
    greet("a", "master", "ha");
    net.close(lines_to("a").back());
    pass(200ms);
    for (int i = 0; i < 2; ++i) greet("b", "master", "hb", "ha");
    if (server() != "hb") return "the heir is not followed";
    for (const std::string& s : all) answer(s, "a", 0);
    for (int i = 0; i < 3; ++i) greet("a", "master", "hz");
    return is_open() && server() == "hb" ? "" : "an older configuration leads away from the heir";
  }
  std::string joins_an_empty_master() {
    for (const std::string& s : all) answer(s, "a", 0, {"b"});
    greet("a", "master", "ha");
    net.close(lines_to("a").back());
    pass();
    greet("a", "master", "hz");
    return is_open() ? "a master without the data is joined while an heir may appear" : "";
  }
};

std::string an_heir_is_kept() { return one_deployment().goes_back(); }
std::string an_heir_is_looked_for() { return one_deployment().joins_an_empty_master(); }

std::string an_unnamed_master_of_other_data_is_left_alone() {
  return one_deployment().follows_a_stranger();
}

std::string no_lagging_replica_is_preferred() {
  sentinel_state s = says("a", "x", 0);
  s.answer->replicas = {{{"x", 6379, {}}, 10}, {{"y", 6379, {}}, 100}};
  return redis::priority_fault(std::vector{s}, 1).empty() ? "one that lags may be promoted" : "";
}

class one_replica final : public redis::replicated_transport {
 public:
  void TestBody() override {}
  std::string asks_behind_another_command() {
    have_both();
    send();
    net.reply(0, "+OK\r\n");
    return net.received(1).starts_with("PUBLISH hf:wait 0 | WAIT")
               ? ""
               : "WAIT covers nothing that was answered";
  }
  std::string believes_without() {
    have_both();
    get_answer();
    confirm(0);
    return a.take_log().empty() ? "" : "an answer counts that no replica has";
  }
  std::string believes_another_server() {
    have_both();
    get_answer_of_another_server();
    confirm(1);
    return a.take_log().empty() ? "" : "the replica of another server confirms an answer";
  }
  std::string believes_an_older_reign() {
    have_both();
    get_answer();
    confirm(1, "h2", "h1");
    return a.take_log().find("=OK") == std::string::npos
               ? ""
               : "the replica of a later reign confirms an answer";
  }
  std::string believes_what_follows_an_answer() {
    connect_both();
    send();
    net.received(0);
    send();
    net.reply(0, "+asked\r\n" + confirmed_by(1) + "+follows\r\n");
    return a.take_log().find("=follows") == std::string::npos
               ? ""
               : "an answer counts that came after that of the replicas";
  }
  std::string believes_a_push() {
    have_both();
    redis::early_or_late heard;
    {
      const std::lock_guard guard(reactor.mutex());
      over_ = one.subscribe("ch", heard, net.now());
    }
    open(redis::lane::messages);
    greet(2);
    net.reply(2, "*3\r\n" + redis::bulk("message") + redis::bulk("ch") + redis::bulk("yours"));
    const std::lock_guard guard(reactor.mutex());
    over_.reset();
    return heard.heard.find("yours") == std::string::npos ? ""
                                                          : "a push counts that no replica has";
  }

 private:
  std::unique_ptr<redis::subscription> over_;
};

std::string wait_follows_a_command() { return one_replica().asks_behind_another_command(); }
std::string an_answer_needs_replicas() { return one_replica().believes_without(); }
std::string an_answer_needs_its_own_replicas() { return one_replica().believes_another_server(); }
std::string an_answer_needs_one_reign() { return one_replica().believes_an_older_reign(); }
std::string an_answer_needs_a_later_one_of_replicas() {
  return one_replica().believes_what_follows_an_answer();
}
std::string a_push_needs_replicas() { return one_replica().believes_a_push(); }

constexpr scenario of_sentinels[] = {
    {mutant::preferred_replica_ignored, "redis", no_lagging_replica_is_preferred},
    {mutant::idle_wait_believed, "redis", wait_follows_a_command},
    {mutant::lacking_replicas_ignored, "redis", an_answer_needs_replicas},
    {mutant::replica_of_another_server, "redis", an_answer_needs_its_own_replicas},
    {mutant::replies_of_old_reign_believed, "redis", an_answer_needs_one_reign},
    {mutant::answer_covers_what_follows, "redis", an_answer_needs_a_later_one_of_replicas},
    {mutant::push_before_replicas, "redis", a_push_needs_replicas},
    {mutant::one_sentinel_suffices, "redis", one_sentinel_of_three_names_nobody},
    {mutant::heir_forgotten, "redis", an_heir_is_kept},
    {mutant::stranger_joined_at_once, "redis", an_heir_is_looked_for},
    {mutant::sentinel_votes_twice, "redis", one_sentinel_twice_is_no_majority},
    {mutant::older_epoch_believed, "redis", an_older_epoch_is_not_believed},
    {mutant::scouted_stranger_followed, "redis", an_unnamed_master_of_other_data_is_left_alone},
};

}  // namespace

std::span<const scenario> sentinel_scenarios() { return of_sentinels; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {

std::span<const scenario> sentinel_scenarios() { return {}; }

}  // namespace holdfast::mutants
#endif
