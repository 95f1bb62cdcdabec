// What happens in a schedule, as numbers and texts that no change of wording touches: what the
// digest is made of.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::sim {

// Part of every digest: a new one gets a new number, and none is used again.
enum class event : std::uint8_t {
  connect = 1,             // connection, client
  write = 2,               // connection, its write, the requests
  abort = 3,               // connection
  finish = 4,              // connection
  arrival = 5,             // connection, its write, which part
  end_seen = 6,            // connection
  owner_changed = 7,       // lock, owner before, owner, whether the lease before had lapsed
  member_left = 8,         // lock, member
  member_came = 9,         // lock, member
  fault = 10,              // kind
  fault_hits = 11,         // connection
  user_asks = 12,          // user, mode, permits
  user_asks_for_all = 13,  // user, locks
  user_withdraws = 14,     // user
  user_refused = 15,       // user, errc
  user_holds = 16,         // user, token
  user_has_all = 17,       // user
  user_downgrades = 18,    // user
  user_leaves = 19,        // user
  warning = 20,            //
  violation = 21,          // rule
  closed = 22,             // client, whether it leaves nothing
  holders_shown = 23,      // client, lock, how many there are
  write_lands = 24,        // lock, token, whether the resource's guard admitted it
  locks_pruned = 25,       // client, how many
  sentinel_hears = 26,     // sentinel, epoch, address of the master
};

struct fact {
  fact(std::integral auto n) noexcept : number(static_cast<std::uint64_t>(n)) {}
  fact(std::string_view t) noexcept : text(t), is_text(true) {}
  fact(const std::string& t) noexcept : fact(std::string_view(t)) {}

  std::uint64_t number = 0;
  std::string_view text;
  bool is_text = false;
};

}  // namespace holdfast::sim
