// The inside of model_redis: what the commands work on.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/redis/model/command.hpp"
#include "tests/sim/redis/model/keyspace.hpp"
#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/model/replication.hpp"

namespace holdfast::sim {

struct script;
class redis_cluster;
class sentinel_group;

class server {
 public:
  server(model_redis::wall_clock clock, int number);

  // Checks one command as Redis does and runs it, queues it or refuses it.
  void process(connection&, arguments);
  void run(connection& c, const command& what, arguments argv) {
    if (what.is(writes)) {
      wrote_ = true;
      counted.insert(what.name);
    }
    call one{*this, c, argv, resp_writer(c.out)};
    what.run(one);
  }
  // Why a script may not run `what`; empty when it may. `wrote`: it has written already.
  std::string_view refused_to_script(const command& what, bool wrote) const;
  // In a cluster: why the node does not run it; empty when it does.
  std::string redirection(const connection&, const command&, arguments) const;

  std::int64_t now_ms() const { return now_.count() / 1000; }  // frozen while a command runs
  std::chrono::microseconds now() const { return now_; }
  void look_at_clock() { now_ = clock_(); }

  long long publish(std::string_view channel, std::string_view message);
  long long send_to_subscribers(std::string_view channel, std::string_view message);
  void subscribe(connection&, std::string_view channel);
  void unsubscribe(connection&, std::string_view channel);

  connection& open(peer&);
  connection* find(int handle);
  void close(int handle, bool tell);
  // During a failover: what may have effects waits, with all that its connection sends after it.
  bool must_wait(const connection&, arguments) const;
  known_to knows() const noexcept { return sentinels ? known_to::sentinels : known_to::servers; }
  void owes(connection&);  // `out` is to be delivered
  void deliver_all();
  void begin_life();  // a new run of the process
  void close_all();
  void close_subscribers();

  std::string new_replication_id();
  // Replicas that have confirmed so much of what was sent.
  long long replicas_with(std::int64_t number) const noexcept {
    return number <= confirmed ? static_cast<long long>(replicates.replicas.size()) : 0;
  }
  bool is_over(const wait_for_replicas& w) const noexcept {
    return replicas_with(w.sent) >= w.replicas || now_ >= w.until;
  }

  all_databases databases;
  all_databases saved;
  std::map<int, std::unique_ptr<connection>> connections;
  std::map<std::string, std::vector<connection*>, std::less<>> channels;
  std::vector<const script*> scripts;
  connection for_scripts;  // the client that redis.call speaks through
  std::map<std::string, std::string, std::less<>> passwords;  // of users
  std::set<std::string, std::less<>> forbidden;
  std::set<std::string_view> counted;  // commands that have written since the process started
  std::string run_id;
  const server_address address;
  replication replicates;
  std::function<void(effects)> to_replica;  // empty: it has none
  redis_cluster* cluster = nullptr;         // null: it is no node of one
  sentinel_group* sentinels = nullptr;      // null: it is no sentinel
  int node_number = 0;                      // in one of these
  // Requests whose effects go to replicas, whether there is one or not, and of those the ones that
  // the replica has confirmed.
  std::int64_t sent = 0, confirmed = 0;
  // A connection waits for replicas, for so long at most. Empty: WAIT counts them and waits for
  // none.
  std::function<void(std::chrono::milliseconds)> on_wait;
  bool holds_writes = false;
  std::vector<int> held;  // connections whose requests wait, in order
  std::chrono::microseconds started{};
  std::size_t max_clients = 10'000;
  bool memory_full = false;
  bool readonly = false;
  bool loading = false;
  bool disk_full = false;
  bool too_few_replicas = false;
  bool busy = false;          // a script has run for too long
  bool cluster_down = false;  // of which it is a node
  bool keeps_log = false;     // an append-only file
  bool stale = false;         // a replica without its master, which does not serve old data
  static thread_local bool transactions_come_apart;  // a planted fault, of those made from now on
  const bool runs_commands_of_multi = transactions_come_apart;

 private:
  std::string_view refusal(const connection&, const command&) const;
  std::string_view refusal_by_state(const command&) const;
  void refuse(connection&, const command*, std::string_view error);
  void replicate_effects();

  model_redis::wall_clock clock_;
  std::chrono::microseconds now_{};
  std::vector<connection*> pending_;
  int last_handle_ = 0;
  long long last_id_ = 0;
  bool was_full_ = false;   // when a command last began: what a script is told
  const std::string name_;  // distinguishes its ids from those of others
  int lives_ = 0, replication_ids_ = 0;
  bool wrote_ = false, has_published_ = false;  // in the request that runs
  std::vector<std::pair<std::string, std::string>> published_;
};

// The collection or string under a key. `wrong`: it holds something else, and that was answered.
template <class T>
struct found {
  T* it = nullptr;
  bool wrong = false;
};

inline constexpr std::string_view wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view syntax_error = "ERR syntax error";
inline constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";

inline keyspace& database(call& c) { return c.on.databases[c.by.database]; }
inline value* find(call& c, std::string_view key) { return database(c).find(key, c.on.now_ms()); }

template <class T>
found<T> find(call& c, std::string_view key) {
  value* const v = find(c, key);
  if (!v) return {};
  if (T* const it = std::get_if<T>(&v->data)) return {it, false};
  c.out.error(wrong_type);
  return {nullptr, true};
}

// After find<T>() found nothing.
template <class T>
T& make(call& c, std::string_view key) {
  return database(c).make(key).data.emplace<T>();
}

}  // namespace holdfast::sim
