// The parts of a schedule: everything but the random numbers that are drawn while it runs.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

enum class trouble : unsigned char {
  pause,            // a client is stopped, its clock runs on
  crash,            // a client is gone
  cut,              // a connection is lost, with what was under way or part of it
  stall,            // one direction of a connection is stopped
  black_hole,       // a connection swallows what it is given, until it is given up
  refuse,           // no connection is accepted
  server_pause,     // the server is stopped
  restart,          // with all data
  restart_saved,    // with what was saved some time before
  restart_empty,    // with none
  flush_all,        // FLUSHALL by an operator
  script_flush,     //
  clock_forward,    //
  clock_back,       //
  memory_full,      //
  readonly,         //
  loading,          //
  foreign,          // another program takes the lock when it is free, and deletes it later
  foreign_forever,  // without a ttl
  broken,           // an operator breaks the lock
  set_revoked,      // the clients' right to SET is taken from them for a while
  down,             // the server is killed, and started again later with all data
  resynced,         // a replica for a while, with older data; every connection stays
  // Of an ensemble.
  server_killed,     // one server, and started again
  server_stopped,    // likewise; what comes meanwhile is done then
  leader_killed,     //
  leader_stopped,    //
  leader_isolated,   // what it and the others tell each other comes late
  link_frozen,       // likewise of one that follows
  link_cut,          // they part at once
  slow_buckets,      // sessions that expire together are closed late, one after the other
  other_bounds,      // a server grants longer timeouts from then on
  followers_killed,  // all of them, and started again
  sequence_high,     // the nodes of the locks have almost reached the limit of their sequence
  holder_removed,    // the node of one that has a lock, by another program
  // Of Redis: what it refuses for a while, with the answer that it gives.
  disk_full,            // MISCONF, to writes
  too_few_replicas,     // NOREPLICAS, to writes
  long_script,          // BUSY, to nearly all commands
  cluster_down,         // CLUSTERDOWN, to commands with keys
  master_down,          // MASTERDOWN, to most commands
  publish_revoked,      // NOPERM
  subscribe_revoked,    // NOPERM
  scripts_revoked,      // NOPERM
  password_set,         // NOAUTH, to new connections
  too_many_clients,     // new connections are refused and closed
  subscribers_dropped,  // the server closes connections that read their messages too slowly
  key_lost,             // one key is evicted, or deleted by an operator
  // Of machines and processes.
  process_replaced,  // a client is gone, and another one begins later
  process_added,     // another client begins
  machine_stopped,   // a client is stopped, and its clock too
  slow_connects,     // connections take long, or longer than a client waits for them
  half_greetings,    // the server's first answer to a new connection ends in the middle
  clock_set,         // the server's clock is set forward by hours, and stays so
  writes_lost,       // the server's machine is killed, and starts later without its last writes
  // Of two servers behind one name. Two servers of MariaDB, in one URL, have `promoted` alone.
  promoted,                // the replica is promoted, and the old master goes on as one
  failed_over,             // FAILOVER: the servers change their roles, and nothing is lost
  name_led_back,           // new connections reach the other server for a while
  replication_id_changed,  // of a master, as where no replica is attached for long
  taken_back,              // the old master is the right one again, and the new one its replica
  // Of a cluster.
  slot_moved,  // of a lock, to another master, key by key
  // Only where sentinels watch two servers.
  sentinel_stopped,  // what comes meanwhile is done then
  sentinel_killed,   // and started again, with what it knew
  sentinel_cut_off,  // from the other sentinels: it hears of no failover
  replica_emptied,   // it starts as a master without data, and is a replica again later
  client_cut_off,    // reaches the former master and the sentinels that are cut off, no others
};
inline constexpr int troubles = static_cast<int>(trouble::client_cut_off) + 1;
inline constexpr int troubles_of_one_server = static_cast<int>(trouble::resynced) + 1;
inline constexpr int swarm_troubles = static_cast<int>(trouble::broken) + 1;
const char* name_of(trouble) noexcept;

enum class kind : unsigned char { mutex, shared, semaphore };  // of all locks of a schedule

struct fault {
  trouble what{};
  moment at{};
  moment lasts{};
  std::uint32_t whom = 0;  // of clients
  enum class role : unsigned char { any, commands, messages, renewals } of = role::any;
  // Where two servers change their roles; mysql/plan_of_two.cpp has the meanings for MariaDB.
  enum class share : unsigned char { none, some, all } cuts = share::none;  // old connections
  moment lost{};          // how long the replica had got nothing when it was promoted
  moment stops{};         // the old master, before the change and after it
  moment name_follows{};  // how long after the change the name leads to the new master; may be < 0
};

struct plan {
  std::uint64_t seed = 0;
  std::string layout;  // of the store; empty: its usual one
  kind locks_are = kind::mutex;
  int permits = 0;       // of each semaphore
  bool several = false;  // some users want several locks at once
  int clients = 2, users = 1, locks = 1, rounds = 2;
  std::chrono::milliseconds ttl{}, op_timeout{};
  moment delay_min{}, delay_max{};
  double slow_share = 0;  // of messages that take up to ten times as long
  double split_share = 0;
  bool parts_wait = false;        // the second part of a message may come much later
  double fragment_share = 0;      // of replies that come in two parts
  int writes = 0;                 // of each exclusive holder, to a resource with a guard
  int inspections = 0;            // of locks, at some time until the end of the trouble
  int prunings = 0;               // of what expired locks have left, likewise
  double deadlock_share = 0;      // of statements that lock a row: errors as in a deadlock
  bool has_small_limits = false;  // the server's scripts repeat a step twice at most, not 64 times
  double cancel_share = 0, timed_share = 0, attempt_share = 0;
  moment hold_max{}, think_max{};
  moment troubled{};  // faults come until then
  int turns = 128;
  std::chrono::milliseconds linger{};
  std::chrono::milliseconds outage_timeout{};  // zero: none
  bool kill_forbidden = false;
  int servers = 1;                   // of an ensemble, behind one name, or of a Redlock
  int replicas = 0;                  // of two servers of Redis: have to confirm what counts
  int masters = 0;                   // of a cluster; 0: there is none
  int sentinels = 0;                 // that name the master of two servers; 0: a name does
  int observers = 0;                 // of an ensemble, the last ones of its servers
  std::chrono::milliseconds tick{};  // of its servers
  bool attaches_to_leader = false;   // clients look for it
  bool knows_one_server = false;     // each client another one
  double parked_share = 0;           // of replies that are kept until something else happens
  bool serves_reads_alone = false;   // a server without a quorum, to those that accept that
  std::vector<fault> faults;

  bool has(trouble) const noexcept;
  int count(trouble) const noexcept;
  // They are servers of Redis or MariaDB, each with its own data: those of an ensemble have ticks.
  bool has_two_servers_of_one_name() const noexcept { return servers == 2 && tick == moment{}; }
  // There is no trouble but delays.
  bool is_quiet() const noexcept {
    return faults.empty() && !parts_wait && !kill_forbidden && deadlock_share == 0;
  }
  // Whether there was a trouble without an end of that length between the two moments.
  bool had_outage_of(moment least, moment since, moment by) const;
  std::string text() const;
};

// Calm: nothing but delays and users that give up waiting. Crashes: these besides.
enum class flavour : unsigned char { any, calm, crashes };
// The troubles that only a Redis server knows are drawn with dice of their own.
enum class server_kind : unsigned char { redis, ensemble };
plan draw(std::uint64_t seed, flavour, server_kind = server_kind::redis);
flavour flavour_of(std::uint64_t seed);  // eight of ten are of any
plan draw(std::uint64_t seed);

class dice;
// For servers that change their roles or places.
// A ttl that is long beside the time in which a client changes servers or repeats requests, and
// delays that are short.
void draw_long_ttl(plan&, dice&);
// Users that hold locks for several ttl, in a time of trouble that lasts for some more.
void draw_long_use(plan&, dice&);
// In four of ten plans, one to three troubles of these kinds beside the changes.
void draw_others(plan&, dice&, std::span<const trouble> kinds);

}  // namespace holdfast::sim
