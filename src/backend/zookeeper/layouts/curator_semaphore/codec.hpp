// Layout `curator-semaphore`: what Curator's InterProcessSemaphoreV2 and InterProcessSemaphoreMutex
// write, of Apache Curator 5.
//
//   path                               | content
//   -----------------------------------+-------------------------------------------------------
//   LOCK, LOCK/locks, LOCK/leases      | containers
//   LOCK/locks/_c_GUID-lock-SEQUENCE   | ephemeral, sequential: the queue of those who ask for
//                                      | permits; the first may make leases
//   LOCK/leases/_c_GUID-lease-SEQUENCE | ephemeral, sequential: one permit; data: who has it
//
// A lease holds a permit once the nodes up to its sequence are not more than the total. Every node
// among the leases counts, as with Curator. The permits of one claim have one GUID, which also says
// what total this client goes by (UUID version 8 of RFC 9562): Curator compares no totals, and
// takes any GUID.
// Source: InterProcessSemaphoreV2 of Apache Curator.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"

namespace holdfast::zookeeper::curator_semaphore {

using node_names = std::span<const std::string_view>;

inline constexpr std::string_view queue_folder = "locks", lease_folder = "leases";

base::uuid with_total(base::uuid, std::uint32_t total) noexcept;  // of a random one
std::string owner_text(const base::uuid&);  // "_c_GUID", before what a node is for
// The beginnings of names; the server appends ten digits.
std::string lease_name(const base::uuid&);
std::string queue_name(const base::uuid&);

struct own_leases {                // of one claim, among all
  std::vector<std::string> names;  // in order
  bool hold = false;               // they are among the first `total`
  std::uint32_t other_total = 0;   // that another client goes by; 0: none is known
};
own_leases read_leases(node_names all, const base::uuid&, std::uint32_t total);

struct lease_holder {
  std::string_view owner;               // as owner_text(); of foreign names all of it
  std::vector<std::string_view> names;  // one a permit
  std::uint32_t total = 0;              // 0: unknown
};
// In the order of the first lease. Leases that certainly wait for a permit are left out.
std::vector<lease_holder> holders_of(node_names all);

struct place_in_queue {
  bool is_there = false;
  std::string_view own, blocker;  // blocker empty: it is the first
  bool others_behind = false;
  bool has_wrapped = false;  // see node_place
};
place_in_queue read_queue(node_names all, const base::uuid&);

}  // namespace holdfast::zookeeper::curator_semaphore
