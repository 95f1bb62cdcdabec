// What a schedule consists of: everything but the dice that are thrown while it runs.
#pragma once
#include <cstdint>
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
  other_bounds,      // a server grants longer time-outs from then on
  followers_killed,  // all of them, and started again
};
inline constexpr int troubles = static_cast<int>(trouble::followers_killed) + 1;
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
  bool parts_wait = false;  // the second part of a message may come much later
  double cancel_share = 0, timed_share = 0, attempt_share = 0;
  moment hold_max{}, think_max{};
  moment troubled{};  // faults come until then
  int turns = 128;
  std::chrono::milliseconds linger{};
  std::chrono::milliseconds outage_timeout{};  // zero: none
  bool kill_forbidden = false;
  int servers = 1;                   // of an ensemble
  std::chrono::milliseconds tick{};  // of its servers
  bool attaches_to_leader = false;   // clients look for it
  bool knows_one_server = false;     // each client another one
  double parked_share = 0;           // of replies that are kept until something else happens
  bool serves_reads_alone = false;   // a server without a quorum, to those that accept that
  std::vector<fault> faults;

  bool has(trouble) const noexcept;
  // There is no trouble but delays.
  bool is_quiet() const noexcept { return faults.empty() && !parts_wait && !kill_forbidden; }
  // Whether there is a time without an end of trouble in it that is so long, and over by then.
  bool had_outage_of(moment least, moment by) const;
  // Data may be lost or time may leap: leases from before mean nothing.
  static bool unsafe(trouble) noexcept;
  std::string text() const;
};

// Calm: nothing but delays and users that give up waiting. Crashes: these besides.
enum class flavour : unsigned char { any, calm, crashes };
plan draw(std::uint64_t seed, flavour);
flavour flavour_of(std::uint64_t seed);  // eight of ten are of any
plan draw(std::uint64_t seed);

}  // namespace holdfast::sim
