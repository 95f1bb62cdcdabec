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
// Longer than a lease. While a counter is ahead of the clock, new connections are granted nothing.
inline constexpr std::chrono::milliseconds redis_clock_step{3000};
// The clock of a server with a clock_shim is stepped either way and back, or an hour forward for
// good: an hour back would keep the locks of killed clients for an hour. `excuse` as of fault: a
// step forward ends leases that their holders still believe in.
std::vector<fault> redis_clocks(const server_choice&, std::chrono::milliseconds excuse);

// Connections, channels and keys.
std::vector<std::string> left_in_redis(testkit::redis_server&);

}  // namespace holdfast::torture
