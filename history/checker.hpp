// Reports the parts of a history (history.hpp) that a correct lock cannot produce. Every report is
// an error in every case; the checker reports nothing where the history leaves room.
//
//   overlap               two claims on one lock at a time. A claim is what the holder may
//                         believe: from the return of its ok acquire to the earliest of the call of
//                         its release, its first check that was not ok, its deadline as its last
//                         ok renew or check has it and, when it was killed, its last record of all:
//                         it may have died in the release after that. A check or renew that came
//                         back ok all inside another's claim is an overlap too. Shares may
//                         overlap, and permits of one count: then this is
//   too_many_permits      more of them were held at a time than there are
//   group_split           two shares that overlap have two tokens
//   check_after_deadline  a check came back ok though it was called after the deadline; a check
//                         that names no deadline is held against the last one recorded
//   revived               a check or renew came back ok after the lease was reported lost
//   token_not_grown       a grant whose token is not above that of every grant before it: of those
//                         that returned before it was called or whose claim began before its own.
//                         Shares may have one token, and those after a downgrade the writer's.
//                         Of permits no two have one token: their order is that of the grants at
//                         the store, and a grant may be older than the call that it was given to
//   stale_write           the guarded resource took a write with a token below that of a write it
//                         had taken before
//   lost_wake_up          a waiter waited longer than check_options::wake_bound while nobody held
//                         the lock
//
// Records of one lease carry the process that acquired it, and its token where it has one. Grants
// and writes with token 0 are left out of the checks of tokens.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "history/history.hpp"

namespace holdfast::history {

enum class fault : unsigned char {
  overlap,
  check_after_deadline,
  revived,
  token_not_grown,
  stale_write,
  lost_wake_up,
  too_many_permits,
  group_split,
};

struct violation {
  fault what;
  record first, second;  // the two that cannot both be true; `first` is the earlier
};

struct check_options {
  // The time for which a lock may stay free while a participant waits for it. max(): any time.
  std::chrono::nanoseconds wake_bound = std::chrono::nanoseconds::max();
  // The time for which a store may keep a lock after its holder died, lost it, or does not know
  // whether its request took effect: the ttl, or 0 if the store detects that at once.
  std::chrono::nanoseconds lapse{};
  // False where each reader has the token of its own grant (features::reader_tokens). Then shares
  // are only compared with the claims that exclude them.
  bool readers_share_a_token = true;
};

// In the order of time, per lock.
std::vector<violation> check(std::span<const record>, const check_options& = {});

std::string to_text(fault);
std::string to_text(const violation&);               // three lines
std::string to_text(const std::vector<violation>&);  // "" when there is none

}  // namespace holdfast::history
