#include "tests/sim/redis/model/server.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tests/sim/redis/model/redis_cluster.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view oom = "OOM command not allowed when used memory > 'maxmemory'.";
constexpr std::string_view read_only = "READONLY You can't write against a read only replica.";
constexpr std::string_view no_disk =
    "MISCONF Errors writing to the AOF file: No space left on device";

constexpr std::string_view no_replicas = "NOREPLICAS Not enough good replicas to write.";
constexpr std::string_view is_busy =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
constexpr std::string_view no_cluster = "CLUSTERDOWN The cluster is down";
constexpr std::string_view no_master =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool in_group(const connection& c, command_traits t) {
  return std::any_of(c.queued.begin(), c.queued.end(),
                     [&](const queued_command& q) { return q.what->is(t); });
}

}  // namespace

thread_local bool server::transactions_come_apart = false;

server::server(model_redis::wall_clock clock, int number)
    : address(number == 0 ? server_address{} : server_address{"10.0.0." + std::to_string(number)}),
      clock_(std::move(clock)),
      name_(number == 0 ? std::string() : "of server " + std::to_string(number) + ' ') {
  replicates.id = new_replication_id();
  begin_life();
}

std::string server::new_replication_id() {
  return sha1_hex("reign " + name_ + std::to_string(++replication_ids_));
}

void server::begin_life() {
  look_at_clock();
  started = now_;
  run_id = sha1_hex("run " + name_ + std::to_string(++lives_));
  last_id_ = 2;
  scripts.clear();
  counted.clear();
}

// The answer to a command that is refused before it is run or queued, in Redis' order.
std::string_view server::refusal(const connection& c, const command& what) const {
  if (!c.trusted && !what.is(before_auth)) return "NOAUTH Authentication required.";
  if (!forbidden.empty() && forbidden.contains(what.name)) return "NOPERM";
  const bool exec = what.name == "exec";
  const bool write = what.is(writes) || (exec && in_group(c, writes));
  const bool grow = what.is(grows) || (exec && in_group(c, grows)) ||
                    (c.in_multi && (!what.is(never_queued) || what.name == "multi"));
  if (memory_full && !readonly && grow) return oom;  // a replica leaves it to its master
  if (disk_full && (write || what.name == "ping")) return no_disk;
  if (too_few_replicas && !readonly && write) return no_replicas;
  if (readonly && write) return read_only;
  if (!c.channels.empty() && !what.is(while_subscribed)) return "ERR Can't execute";
  return refusal_by_state(what);
}

// The requests that the server refuses now.
std::string_view server::refusal_by_state(const command& what) const {
  if (!cluster_down && !stale && !loading && !busy) return {};
  const bool is_script = is_one_of(what.name, {"eval", "evalsha"});
  const bool loads_script = what.name.starts_with("script|");
  const bool is_of_server =
      is_one_of(what.name, {"ping", "dbsize", "flushall", "replicaof", "wait"}) || loads_script;
  if (cluster_down && !what.is(while_loading) && !is_of_server) return no_cluster;
  const bool runs_stale = is_script || loads_script || is_one_of(what.name, {"replicaof"}) ||
                          (what.is(while_loading) && what.name != "select" && what.name != "echo");
  if (stale && readonly && !runs_stale) return no_master;
  if (loading && !what.is(while_loading)) return "LOADING Redis is loading the dataset in memory";
  if (busy && !is_one_of(what.name, {"multi", "discard", "auth", "hello", "quit"})) return is_busy;
  return {};
}

std::string_view server::refused_to_script(const command& what, bool wrote) const {
  if (wrote) return {};
  if (what.is(writes) && readonly) return read_only;
  if (what.is(writes) && disk_full) return no_disk;
  if (what.is(writes) && too_few_replicas) return no_replicas;
  if (what.is(grows) && memory_full && was_full_) return oom;
  return {};
}

std::string server::redirection(const connection& c, const command& what, arguments argv) const {
  const bool is_judged = cluster && (c.trusted || &c == &for_scripts);
  return is_judged ? cluster->redirection(*this, c, what, argv) : std::string();
}

void server::refuse(connection& c, const command* what, std::string_view error) {
  resp_writer out(c.out);
  if (what && what->name == "exec") {
    c.leave_multi();
    out.error("EXECABORT Transaction discarded because of: " + std::string(error));
    return;
  }
  c.must_abort = c.in_multi;
  out.error(error);
}

void server::process(connection& c, arguments argv) {
  if (argv.empty()) return;
  look_at_clock();
  if (!c.in_multi && c.asking > 0) --c.asking;
  if (memory_full) was_full_ = !readonly;
  std::string complaint;
  const command* const what = find_command(argv, complaint, knows());
  if (!what) return refuse(c, nullptr, "ERR " + complaint);
  if (!what->takes(argv.size()))
    return refuse(c, nullptr,
                  "ERR wrong number of arguments for '" + std::string(what->name) + "' command");
  if (const auto error = refusal(c, *what); error == "NOPERM") {
    refuse(c, what,
           "NOPERM this user has no permissions to run the '" + std::string(what->name) +
               "' command");
  } else if (const auto elsewhere = redirection(c, *what, argv); !elsewhere.empty()) {
    if (what->name == "exec") c.leave_multi();
    refuse(c, nullptr, elsewhere);
  } else if (error == "ERR Can't execute") {
    refuse(c, what,
           "ERR Can't execute '" + std::string(what->name) +
               "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
               "this context");
  } else if (!error.empty()) {
    refuse(c, what, error);
  } else if (c.in_multi && !what->is(never_queued)) {
    if (runs_commands_of_multi) {
      std::string before = std::exchange(c.out, {});
      run(c, *what, argv);
      c.queued.push_back({what, {std::exchange(c.out, std::move(before))}});
    } else {
      c.queued.push_back({what, {argv.begin(), argv.end()}});
    }
    resp_writer(c.out).status("QUEUED");
  } else {
    run(c, *what, argv);
    replicate_effects();
    c.sent = sent;
  }
}

bool server::must_wait(const connection& c, arguments argv) const {
  if (!holds_writes || argv.empty()) return false;
  std::string complaint;
  const command* const what = find_command(argv, complaint);
  const auto may_write = [](const command& one) {
    return one.is(writes) || is_one_of(one.name, {"publish", "eval", "evalsha"});
  };
  if (!what || !c.trusted) return false;
  if (what->name != "exec") return may_write(*what);
  return std::any_of(c.queued.begin(), c.queued.end(),
                     [&](const queued_command& q) { return may_write(*q.what); });
}

void server::replicate_effects() {
  const bool wrote = std::exchange(wrote_, false);
  if (std::exchange(has_published_, false) || wrote) ++sent;
  if (!wrote && published_.empty()) return;
  ++replicates.offset;
  effects out{std::exchange(published_, {}), nullptr, sent};
  if (!to_replica) return;
  if (wrote) out.data = std::make_shared<const all_databases>(databases);
  to_replica(std::move(out));
}

}  // namespace holdfast::sim
