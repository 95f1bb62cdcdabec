// The claims at a lock beside its one exclusive holder: those queued and those that hold it
// jointly.
#pragma once
#include <list>
#include <string>
#include <vector>

#include "backend/memory/protocol.hpp"

namespace holdfast::memory {

struct waiting {
  owner_id who;
  duration ttl, window;
  request_details what;
};

struct member {  // a reader, or a holder of permits
  owner_id who;
  std::int64_t number = 0;  // readers that hold it together share one
  std::uint32_t permits = 0;
  time_point since{}, lapses{};
  std::string note;
};

struct contenders {
  std::list<waiting> queue;
  owner_id pointed_out;  // the waiter that knows that it is first in the queue
  std::vector<member> members;
  std::uint32_t total_permits = 0;  // of the members' semaphore; 0: they are readers

  member* find(const owner_id& who) noexcept;
  bool remove(const owner_id& who) noexcept;  // from the members
  void remove_lapsed(time_point now);
  bool first_in_line(const owner_id& who) const noexcept {
    return !queue.empty() && queue.front().who == who;
  }
  // Whether there is room beside the members.
  bool fits(const request_details&) const noexcept;
  time_point earliest_lapse() const noexcept;  // of the members; there must be one
};

}  // namespace holdfast::memory
