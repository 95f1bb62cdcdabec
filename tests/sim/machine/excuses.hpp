// The times in which rules about free and idle locks are not judged: of clients, locks, and all.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

class world;
class machine;

// The excuse of a client ends when it has recovered: a reply has reached it over sound connections
// to servers in service. While one of those is missing again, the excuse goes on until its limit,
// which follows from the trouble.
class excuses {
 public:
  excuses(const world& w, int locks)
      : world_(w), of_locks_(static_cast<std::size_t>(locks)), of_waiters_(of_locks_) {}

  void add(moment until);
  void add(int lock, moment until);
  // The excuse ends when the waiters of that lock have requested it anew, and at `until` at the
  // latest.
  void add_for_waiters(int lock, moment until);
  void end_for_waiters(int lock);
  // Not before `ends` is a reply a sign of its recovery. One that is not `hit` has recovered until
  // it has no sound connection.
  void add(const machine&, moment ends, moment until, bool hit);
  void answered(const machine&);
  void stood(const machine&, moment since);  // its clock, until now: its pauses are as much longer
  void advance();                            // after each event
  void end_all();  // none counts from now on, but those of requests that wait in the server

  bool covers(int lock) const;
  bool covers(const machine&) const;
  moment troubled_since(const machine&) const;  // now, where it has recovered
  moment last_end(int lock) const;              // of those that are over
  moment limit() const;                         // of all
  double share() const { return lived_ > 0 ? excused_ / lived_ : 0; }

 private:
  struct of_client {
    moment since{}, ends{}, limit{};
    moment recovered = moment::max();  // when that is certain
    moment end() const { return std::min(limit, recovered); }
  };
  void count();
  void add_for_held_up();
  moment of_lock(int lock) const {
    const auto i = static_cast<std::size_t>(lock);
    return std::max(of_locks_[i], of_waiters_[i]);
  }

  const world& world_;
  moment of_all_{};
  std::vector<moment> of_locks_, of_waiters_;
  std::unordered_map<const machine*, of_client> of_clients_;
  moment counted_until_{};
  double lived_ = 0, excused_ = 0;  // of all clients and locks, in ns
};

}  // namespace holdfast::sim
