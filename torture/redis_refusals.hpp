// Redis servers that refuse requests, or clients, for a while. They keep their data, unless they
// evict keys.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "torture/redis_faults.hpp"

namespace holdfast::torture {

// With each of the errors that its administrator can cause: MISCONF, OOM, NOREPLICAS, NOPERM,
// NOAUTH. Its connections to replicas, sentinels and other nodes stay.
std::vector<fault> redis_refusals(const server_choice&, std::chrono::milliseconds longest);
// The server closes connections that send nothing for a second.
fault redis_idle_limit(server_choice);
// A server accepts no new connection. No replica, sentinel or other node may need one.
fault redis_client_limit(server_choice, std::chrono::milliseconds longest);
// A script of another program does not end for a while: the server answers BUSY.
fault redis_long_script(server_choice, std::chrono::milliseconds longest);
// The server loads its data for a while: it answers LOADING, or nothing. It has no replica.
fault redis_loading(server_choice, std::chrono::milliseconds longest);
// A master is a replica for a while, of a server that does not exist: it answers READONLY, or, if
// it may serve no stale data, MASTERDOWN.
std::vector<fault> redis_demotions(const server_choice&, std::chrono::milliseconds longest);
// A server evicts all keys, or those with a ttl, and refuses new ones. `excuse` as of fault: it
// grants the locks again that holders believe in.
fault redis_eviction(server_choice, std::chrono::milliseconds longest,
                     std::chrono::milliseconds excuse);

// Repeats the command while the server closes the connection. Throws testkit::redis_silent.
testkit::redis_reply send_until_answered(testkit::redis_server&,
                                         const std::vector<std::string>& command);

}  // namespace holdfast::torture
