// Faults of single Redis servers, and what clients leave in them.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "contention/fault.hpp"
#include "testkit/servers/redis_server.hpp"

namespace holdfast::torture {

using namespace contention;

// Chooses the server that a fault strikes.
using server_choice = std::function<testkit::redis_server&(dice&)>;

// A killed server keeps its data, and is started again.
fault redis_kill(server_choice);
fault redis_stop(server_choice);
// Scripts are flushed, connections are killed, clients are paused.
std::vector<fault> redis_commands(const server_choice&, std::chrono::milliseconds longest_pause);
// A server refuses requests for a while, with each of the errors that its administrator can cause:
// MISCONF, OOM, NOPERM, NOAUTH. Its connections to replicas, sentinels and other nodes stay.
std::vector<fault> redis_refusals(const server_choice&, std::chrono::milliseconds longest);
// A server accepts no new connection. No replica, sentinel or other node may need one.
fault redis_client_limit(server_choice, std::chrono::milliseconds longest);
// A script of another program does not end for a while: the server answers BUSY.
fault redis_long_script(server_choice, std::chrono::milliseconds longest);
// A master is a replica for a while, of a server that does not exist. It keeps its data.
fault redis_demotion(server_choice, std::chrono::milliseconds longest);
// Longer than a lease. While a counter is ahead of the clock, new connections are granted nothing.
inline constexpr std::chrono::milliseconds redis_clock_step{3000};
// Steps the clock of a server with a clock_shim, and back. `excuse` as of fault: a step forward
// ends leases that their holders still believe in.
fault redis_clock(server_choice, std::chrono::milliseconds excuse);

// Connections, channels and keys.
std::vector<std::string> left_in_redis(testkit::redis_server&);

}  // namespace holdfast::torture
