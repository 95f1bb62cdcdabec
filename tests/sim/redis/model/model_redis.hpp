// A model of one Redis 7.0.15 server: the commands and the scripts that a lock needs, in memory.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/peer.hpp"

namespace holdfast::sim {

struct string_seen {
  std::string_view text;
  std::int64_t expires_ms;  // since 1970
};

enum class kept { everything, what_was_saved, nothing };

class server;
struct server_address;

// Speaks RESP2; ../compared/model_test.cpp compares it with the real one. What it does not know it
// answers with "-ERR the model ...", never with a guess. Time stands still while a command, a
// script or a MULTI group runs; keys expire when they are looked at. Of what one receive() or
// execute() causes, each connection gets all its bytes in one deliver(), in the order in which the
// first byte was written: a message that a script publishes leaves before the script's answer.
// One thread at a time; scripts are compiled once a thread and shared by its servers.
class model_redis {
 public:
  using wall_clock = std::function<std::chrono::microseconds()>;  // since 1970; may jump

  // `number`: of several that replicate from each other or share a cluster; 0: it is alone.
  explicit model_redis(wall_clock, int number = 0);
  ~model_redis();
  model_redis(const model_redis&) = delete;
  model_redis& operator=(const model_redis&) = delete;

  int connect(peer&);  // a handle, never used twice
  // Bytes of the client, cut anywhere. Whole commands run in order; of a connection that was
  // closed, by either side, nothing runs.
  void receive(int connection, std::string_view bytes);
  void disconnect(int connection);  // the server sees that the client has gone; no kicked()
  std::string address(int connection) const;  // as CLIENT INFO has it

  // Runs one command on the connection and returns its answer instead of delivering it.
  std::string execute(int connection, std::span<const std::string_view> argv);

  // Kicks all; a new run id, client ids from the start, no scripts. Times of expiry stay.
  void restart(kept);
  void resync();  // has what was saved, as from a master; connections stay
  void save();    // what a restart with kept::what_was_saved finds
  void script_flush();
  void flushall();
  void expire_due();                // as the server does now and then without being asked
  void set_maxmemory_full(bool);    // policy noeviction
  void set_readonly(bool);          // a replica of a server that is not there
  void set_loading(bool);           // -LOADING to nearly all
  void set_disk_full(bool);         // -MISCONF to what writes
  void set_too_few_replicas(bool);  // -NOREPLICAS to what writes
  void set_busy(bool);              // -BUSY to nearly all
  void set_cluster_down(bool);      // -CLUSTERDOWN to commands with keys
  void set_stale(bool);             // -MASTERDOWN to most, of a replica
  void set_keeps_log(bool);         // appendonly; shown by INFO only, restart() says what is kept
  void close_subscribers();
  void close_all();  // CLIENT KILL of all clients
  std::size_t connections() const;
  std::vector<std::string> key_names();  // of database 0, without lapsed ones, sorted
  void set_maxclients(std::size_t);      // further ones are told and kicked; at first 10,000
  void require_password(std::string user, std::string password);  // of "default": of everybody
  void require_no_password();
  // Planted faults, of all that are made on this thread from now on; while none lives. Every script
  // runs as `edit` has it, under the hash of its own text; MULTI's commands run as they come.
  using editing = std::function<std::string(std::string_view text)>;
  static void edit_scripts(editing);
  // Of all scripts of this thread: what is repeated at most 64 times is so at most twice.
  static void shorten_loops(bool);
  static void let_transactions_come_apart(bool) noexcept;
  void forbid(std::string command);  // by ACL, for all: "publish", "client|kill"
  void allow(const std::string& command);

  // Known to the server by name, without lapsed ones.
  std::size_t keys();
  // For who watches: what is there, lapsed or not, in database 0. Good until the server is used.
  std::optional<string_seen> string_at(std::string_view key);
  std::vector<std::string_view> members_at(std::string_view key);  // of a sorted set, in order
  std::vector<std::pair<std::string_view, double>> scored_at(std::string_view key);
  std::string_view field_at(std::string_view key, std::string_view field);  // of a hash; or ""
  std::vector<std::string_view> fields_at(std::string_view key);            // of a hash
  std::vector<std::string_view> items_at(std::string_view key);             // of a list
  // Since 1970, in ms; of a key without an end the greatest number there is.
  std::optional<std::int64_t> end_of(std::string_view key);
  bool has_listener(std::string_view channel) const;
  bool is_connected(int connection) const;
  const std::string& run_id() const;
  const server_address& address() const;
  std::int64_t replication_offset() const;

 private:
  friend class redis_pair;
  friend class redis_cluster;
  friend class sentinel_group;
  void run_held();      // what waited for the end of a failover
  void answer_waits();  // of WAITs those that are over
  void abort_waits();   // the server has become a replica
  std::unique_ptr<server> server_;
};

}  // namespace holdfast::sim
