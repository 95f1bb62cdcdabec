// Rounds of faults, with clients of several layouts that contend all the time, and what a witness
// has found.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "contender.hpp"
#include "faults.hpp"
#include "oversleeping.hpp"

namespace holdfast::redis_test {

struct tally {
  int rounds = 0, overlaps = 0, beyond = 0;  // `beyond`: overlaps longer than allowed
  std::uint64_t grants = 0;
  std::size_t tokens_back = 0;
  int broken_tokens = 0;  // of these: where they must grow, as no two clients held the lock
  std::chrono::milliseconds longest{}, allowed{};  // of the overlaps; the largest of all rounds
};

class campaign {
 public:
  campaign(std::uint64_t seed, int servers);

  // One round, after which every client must get its lock again.
  void play(const fault_kind&);
  tally total() const;
  void print() const;  // by fault and by lock

 private:
  struct round {
    const fault_kind* kind;
    instant begin, end;
    std::chrono::milliseconds allowed;
  };
  std::string not_granted_again();
  const round* round_of(const overlap&) const;
  template <class Matches>
  tally tally_of(Matches) const;

  balanced_servers servers_;
  witness witness_;
  std::vector<round> rounds_;
  std::vector<stay> stays_;
  oversleeping oversleeping_;
  std::deque<guarded_counter> counters_;
  std::deque<contender> contenders_;  // end first
};

}  // namespace holdfast::redis_test
