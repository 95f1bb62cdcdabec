// Whether all clients have the same list of shards.
//
// Each shard keeps, under one key, the list that its clients have. A change takes two steps, so the
// key has one list or two: "a=1,b=1", or "a=1,b=1,c=1 was a=1,b=1".
//
//   the key has  | a client with X | a client with X was Y   | another client
//   -------------+-----------------+-------------------------+--------------------------------
//   nothing      | writes X        | writes X was Y          |
//   X            | opens           | opens                   | refused
//   X was Y      | writes X        | opens                   | with Y: opens; else refused
//   Y            | refused         | writes X was Y          | with Y: opens; else refused
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/shards/rendezvous.hpp"
#include "base/failure.hpp"

namespace holdfast::redis {

class backend;

// Checks that each shard is a server of its own. One server under two addresses has one run_id.
//
// A server that is two shards takes no load off another one, and a lock that moves between the two
// excludes itself. Two databases of one server have locks of their own, and may be two shards.
struct server_of_shard {
  std::string shard;    // its name
  std::string address;  // at which the shard's server was reached
  std::string run_id;   // empty: not known, for example because the user has no right to INFO
  int database = 0;
};

// The error for a list in which one server is two shards. Empty: there is no such server.
std::string text_of_same_server(std::span<const server_of_shard>);

struct client_lists {
  std::string present, former;  // former: empty while the list does not change
  std::string text() const { return former.empty() ? present : present + " was " + former; }
};

// Sorted by name: the order of the shards is of no importance. A shard of the weight 0 is not in
// the list.
std::string text_of_list(std::vector<weighted_name>);

enum class list_verdict : unsigned char { opens, writes, refused };
// `known`: what the key has; empty: nothing.
list_verdict judge_list(std::string_view known, const client_lists& mine);

struct list_answer {
  bool is_same = false;
  std::string other;  // what the shard has, where that differs
  base::failure why;  // the shard gave no answer
};

// Blocks, for the time of two commands. `prefix`: that of the locks. Each has a list of its own.
list_answer ask_for_list(backend& shard, const std::string& prefix, const client_lists& mine);

// The error for a client that has another list than the shard.
std::string text_of_other_list(const std::string& other, const std::string& prefix,
                               const client_lists& mine);

}  // namespace holdfast::redis
