// The answers of the sentinels of a deployment, and the master that they amount to. Pure.
//
// Source: Redis' documentation ("High availability with Redis Sentinel"): a failover needs the
// votes of a majority of the sentinels, and gives the deployment's configuration a higher epoch. So
// a minority that was cut off names an old master, with an old epoch, for as long as it is cut off.
//
//   a majority of the known sentinels .. | what follows
//   -------------------------------------+-----------------------------------------------------
//   names one master, and no answer has  | that is the master, once it says so itself
//   a higher epoch with another          |
//   monitors no master of that name      | the URL is wrong
//   answers, and agrees on nothing       | not known: a failover is under way, or the URL names
//                                        | sentinels of several deployments
//   does not answer                      | not known
#pragma once
#include <holdfast/finding.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/network.hpp"

namespace holdfast::redis {

struct sentinel_peer {  // another sentinel of the same master
  std::string id;
  base::address at;
};

struct known_replica {
  base::address at;
  int priority = 100;  // the lower ones are preferred; 0: it is never promoted
};

struct sentinel_answer {
  std::string id;                                    // of the sentinel; empty: it does not say
  std::optional<base::address> master;               // nothing: it monitors none of that name
  std::uint64_t epoch = 0;                           // of its configuration of that master
  std::optional<std::vector<sentinel_peer>> others;  // nothing: it does not say
  std::vector<known_replica> replicas;
  std::string monitored;  // the names of all the masters that it monitors: "a, b"
};

struct sentinel_state {
  std::string address;  // as the client connects to it
  bool is_in_url = false;
  std::optional<sentinel_answer> answer;  // the last one, while the connection stands
  base::failure fault;                    // why there is none; code {}: it is being asked
};

struct sentinel_verdict {
  std::optional<base::address> master;
  std::uint64_t epoch = 0;
  base::failure why;  // there is none
  std::size_t known = 0, answered = 0, needed = 0;
};

sentinel_verdict judge(std::span<const sentinel_state>, std::string_view name);

// Why one that lacks what `needed` others have may be promoted; empty: it may not. Sentinels prefer
// a replica of a lower priority, and only then the one that has most.
std::string priority_fault(std::span<const sentinel_state>, std::size_t needed);
// For an operator's diagnosis.
std::vector<finding> findings_of(std::span<const sentinel_state>, std::string_view name);

}  // namespace holdfast::redis
