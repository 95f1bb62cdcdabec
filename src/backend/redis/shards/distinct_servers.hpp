// Checks that each shard is a server of its own. One server under two addresses has one run_id.
//
// A server that is two shards takes no load off another one, and a lock that moves between the two
// excludes itself. Two databases of one server have locks of their own, and may be two shards.
#pragma once
#include <span>
#include <string>

namespace holdfast::redis {

struct server_of_shard {
  std::string shard;    // its name
  std::string address;  // at which the shard's server was reached
  std::string run_id;   // empty: not known, for example because the user has no right to INFO
  int database = 0;
};

// The error for a list in which one server is two shards. Empty: there is no such server.
std::string text_of_same_server(std::span<const server_of_shard>);

}  // namespace holdfast::redis
