// Commands about the server as a whole.
#include <array>
#include <chrono>
#include <string>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

void run_time(call& c) {
  c.out.array(2);
  c.out.bulk_number(c.on.now().count() / 1'000'000);
  c.out.bulk_number(c.on.now().count() % 1'000'000);
}

void run_dbsize(call& c) {
  database(c).drop_due(c.on.now_ms());
  c.out.integer(static_cast<long long>(database(c).size()));
}

void run_flushall(call& c) {
  if (c.argv.size() > 2 ||
      (c.argv.size() == 2 && !same_word(c.argv[1], "sync") && !same_word(c.argv[1], "async")))
    return c.out.error(syntax_error);
  for (keyspace& k : c.on.databases) k.clear();
  c.out.status("OK");
}

std::string stats_of(std::string_view command) {
  return "cmdstat_" + std::string(command) +
         ":calls=1,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=0\r\n";
}

std::string_view mode_of(const server& s) {
  return s.cluster ? "cluster" : s.sentinels ? "sentinel" : "standalone";
}

void run_info(call& c) {
  const auto wants = [&](std::string_view section) {
    if (c.argv.size() == 1) return true;
    for (const auto word : c.argv.subspan(1))
      if (same_word(word, section) || same_word(word, "all")) return true;
    return false;
  };
  std::string text;
  if (wants("server"))
    text += "# Server\r\nredis_version:7.0.15\r\nredis_mode:" + std::string(mode_of(c.on)) +
            "\r\nrun_id:" + c.on.run_id + "\r\nuptime_in_seconds:" +
            std::to_string((c.on.now() - c.on.started).count() / 1'000'000) + "\r\n";
  if (c.on.sentinels) return c.out.bulk(text);
  if (wants("memory")) {
    if (!text.empty()) text += "\r\n";
    text += "# Memory\r\nmaxmemory:" + std::string(c.on.memory_full ? "1" : "0") +
            "\r\nmaxmemory_policy:noeviction\r\n";
  }
  if (wants("persistence")) {
    if (!text.empty()) text += "\r\n";
    text += "# Persistence\r\naof_enabled:" + std::string(c.on.keeps_log ? "1" : "0") + "\r\n";
  }
  if (wants("replication")) {
    if (!text.empty()) text += "\r\n";
    text += c.on.replicates.text(c.on.readonly, c.on.now());
  }
  if (c.argv.size() > 1 && wants("commandstats")) {
    if (!text.empty()) text += "\r\n";
    text += "# Commandstats\r\n" + stats_of("info");
    for (const std::string_view name : c.on.counted) text += stats_of(name);
  }
  c.out.bulk(text);
}

void run_role(call& c) {
  c.out.array(c.on.readonly ? 5 : 3);
  if (!c.on.readonly) {
    c.out.bulk("master");
    c.out.integer(0);
    return c.out.array(0);
  }
  c.out.bulk("slave");
  c.out.bulk("127.0.0.1");
  c.out.integer(1);
  c.out.bulk("connect");
  c.out.integer(-1);
}

void run_replicaof(call& c) {
  const bool ends = same_word(c.argv[1], "no") && same_word(c.argv[2], "one");
  if (ends && c.on.readonly) c.on.replicates.begin_reign(c.on.new_replication_id());
  c.on.readonly = !ends;
  c.out.status("OK");
}

void run_config(call& c) { c.out.error("ERR wrong number of arguments for 'config' command"); }

void run_config_get(call& c) {
  const bool asked = matches_glob(c.argv[2], "maxmemory-policy");
  c.out.array(asked ? 2 : 0);
  if (!asked) return;
  c.out.bulk("maxmemory-policy");
  c.out.bulk("noeviction");
}

void run_config_set(call& c) {
  const auto bytes = whole_number(c.argv[3]);
  if (!same_word(c.argv[2], "maxmemory") || c.argv.size() > 4 || !bytes)
    return c.out.error("ERR the model takes CONFIG SET maxmemory BYTES only");
  c.on.memory_full = *bytes > 0;
  c.out.status("OK");
}

void run_wait(call& c) {
  const auto replicas = whole_number(c.argv[1]), timeout = whole_number(c.argv[2]);
  if (c.on.readonly)
    return c.out.error(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if "
        "a replica is configured to be writable (which is not the default) writes to replicas are "
        "just local and are not propagated.");
  if (!replicas) return c.out.error(not_an_integer);
  if (!timeout) return c.out.error("ERR timeout is not an integer or out of range");
  if (*timeout < 0) return c.out.error("ERR timeout is negative");
  const long long count = c.on.replicas_with(c.by.sent);
  const bool may_wait = c.on.on_wait && !c.by.in_multi && !c.by.runs_group;
  if (count >= *replicas || !may_wait) return c.out.integer(count);
  const std::chrono::milliseconds limit(*timeout);
  const auto end = *timeout > 0 ? c.on.now() + limit : std::chrono::microseconds::max();
  c.by.waits = wait_for_replicas{c.by.sent, *replicas, end};
  if (*timeout > 0) c.on.on_wait(limit);
}

constexpr std::array list_of_server{
    command{"time", 1, while_loading, run_time},
    command{"dbsize", 1, 0, run_dbsize},
    command{"flushall", -1, writes, run_flushall},
    command{"info", -1, while_loading | of_sentinels_too, run_info},
    command{"role", 1, not_in_scripts | while_loading, run_role},
    command{"replicaof", 3, not_in_scripts, run_replicaof},
    command{"config", -2, not_in_scripts | while_loading | has_subcommands, run_config},
    command{"config|get", -3, not_in_scripts | while_loading, run_config_get},
    command{"config|set", -4, not_in_scripts | while_loading, run_config_set},
    command{"wait", 3, not_in_scripts, run_wait},
};

}  // namespace

std::span<const command> server_commands() { return list_of_server; }

}  // namespace holdfast::sim
